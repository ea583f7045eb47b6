import { expect } from 'vitest';
import type { Api, Session, Sql } from './test.ts';

export type Page = { data: { id: string; created_at: string }[]; next_cursor: string | null };

/** All ids in the order in which the pages bring them; between pages, `meanwhile` may do as it likes. */
export async function walk(
  api: Api,
  user: Session,
  query: string,
  { limit = 10, rewrite = (cursor: string) => cursor, meanwhile = async (_page: Page) => {} } = {},
) {
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const after: string = cursor === null ? '' : `&cursor=${encodeURIComponent(rewrite(cursor))}`;
    const { status, body } = await api.get<Page>(`/sounds?${query}&limit=${limit}${after}`, {
      token: user.access_token,
    });
    expect(status).toBe(200);
    expect(body.data.length).toBeLessThanOrEqual(limit);
    if (body.next_cursor !== null) expect(body.next_cursor).toBe(body.data.at(-1)?.created_at);
    ids.push(...body.data.map(({ id }) => id));
    cursor = body.next_cursor;
    await meanwhile(body);
  } while (cursor !== null);
  return ids;
}

/** What a walk through a category should bring. */
export async function activeInOrder(sql: Sql, category: string): Promise<string[]> {
  const rows = await sql`
    select id from public.sounds where category = ${category} and is_active order by sort_order, created_at desc`;
  return rows.map((row) => row['id']);
}

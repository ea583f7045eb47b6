import { expect } from 'vitest';
import { type Api, bearer } from './api.ts';
import type { Session, Sql } from './test.ts';

export type Page = { data: { id: string; created_at: string }[]; next_cursor: string | null };

/**
 * Reads GET /sounds page by page to the end.
 * @param filters the query parameters of every page
 * @param options the page size; how the client writes a cursor; what happens after each page
 * @returns the ids of all pages, in order
 */
export async function readAllPages(
  api: Api,
  user: Session,
  filters: Record<string, unknown>,
  { limit = 10, rewrite = (cursor: string) => cursor, meanwhile = async (_page: Page) => {} } = {},
) {
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const { body }: { body: Page } = await api
      .get('/sounds')
      .query({ ...filters, limit, ...(cursor !== null && { cursor: rewrite(cursor) }) })
      .auth(user.access_token, bearer)
      .expect(200);
    expect(body.data.length).toBeLessThanOrEqual(limit);
    if (body.next_cursor !== null) expect(body.next_cursor).toBe(body.data.at(-1)?.created_at);
    ids.push(...body.data.map(({ id }) => id));
    cursor = body.next_cursor;
    await meanwhile(body);
  } while (cursor !== null);
  return ids;
}

/** The ids that reading all pages of a category must return. */
export async function activeInOrder(sql: Sql, category: string): Promise<string[]> {
  const rows = await sql`
    select id from public.sounds where category = ${category} and is_active order by sort_order, created_at desc`;
  return rows.map((row) => row['id']);
}

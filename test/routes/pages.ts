import { expect } from 'vitest';
import type { Api } from '../support/api.ts';

type Item = { id: string; title: string; created_at: string; [field: string]: unknown };
export type Page = { data: Item[]; next_cursor: string | null };

/** Reads one page of GET /sounds. */
export async function readPage(app: Api, query: object): Promise<Page> {
  return (await app.get('/sounds').query(query).expect(200)).body;
}

export const idsOf = ({ data }: Page) => data.map(({ id }) => id);

type Options = {
  rewrite?: (cursor: string) => string;
  meanwhile?: ((page: Page) => PromiseLike<unknown>) | undefined;
};

/**
 * Reads GET /sounds page by page to the end.
 * @param options how the client writes a cursor; what happens after each page
 * @returns the ids of all pages, in order
 */
export async function readAllPages(
  app: Api,
  query: { limit?: number; [filter: string]: unknown },
  { rewrite = (cursor: string) => cursor, meanwhile }: Options = {},
) {
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await readPage(app, { ...query, cursor });
    expect(page.data.length).toBeLessThanOrEqual(query.limit ?? 50);
    ids.push(...idsOf(page));
    cursor = page.next_cursor === null ? undefined : rewrite(page.next_cursor);
    await meanwhile?.(page);
  } while (cursor !== undefined);
  return ids;
}

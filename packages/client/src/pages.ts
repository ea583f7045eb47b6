/**
 * Lists the entries of all pages. Requests each page when it is needed.
 * @param page returns the page at a cursor, by default the first one
 */
export async function* entriesOfPages<Entry>(
  page: (cursor?: string | null) => Promise<{ data: Entry[]; next_cursor: string | null }>,
  first?: string,
): AsyncGenerator<Entry, void> {
  let cursor: string | null | undefined = first;
  do {
    const { data, next_cursor } = await page(cursor);
    yield* data;
    cursor = next_cursor;
  } while (cursor);
}

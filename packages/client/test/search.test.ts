import { expect, test } from 'vitest';
import { searches, startSearchedDatabase } from '../../../test/support/searches.ts';
import { searchSounds } from '../src/search.ts';

test('a search of the copy returns the sounds first that the service returns first', async ({ onTestFinished }) => {
  const { sql, end } = await startSearchedDatabase();
  onTestFinished(end);
  const [copy] = await sql`
    select
      array(
        select to_json(sound) from private.copied_sound as sound join public.sounds as stored using (id)
        order by stored.sort_order, stored.created_at desc
      ) as sounds,
      array(select to_json(category) from private.copied_category as category) as categories`;
  for (const [text, titles] of Object.entries(searches)) {
    const found = searchSounds(copy?.['sounds'], copy?.['categories'], text).map(({ title }) => title);
    expect([text, ...found.slice(0, titles.length)]).toEqual([text, ...titles]);
  }
  expect(searchSounds(copy?.['sounds'], copy?.['categories'], '!!')).toEqual([]);
});

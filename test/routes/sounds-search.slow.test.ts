import { expect, onTestFinished, test } from 'vitest';
import { startSearchedDatabase } from '../support/searches.ts';

test('a search of six misspelt words among 50,000 similar ones costs at most 60 pages', async () => {
  const { sql, end } = await startSearchedDatabase();
  onTestFinished(end);
  // Each sound has 50 tags of 8 words. All words have eight letters, of only four different ones.
  await sql`
    with words as (
      select n, (select string_agg(substr('aers', (n >> (2 * place)) % 4 + 1, 1), '') from generate_series(0, 7) as place) as word
      from generate_series(1, 50000) as n
    ),
    tags as (select n / 400 as sound, string_agg(word, ' ') as tag from words group by n / 400, n / 8)
    insert into public.sounds (title, tags) select 'Dense ' || sound, array_agg(tag) from tags group by sound`;
  await sql`select private.upkeep()`;
  await sql`vacuum analyze`;

  async function millisecondsOf(query: Record<string, string>): Promise<number> {
    const [row] = await sql`
      explain (analyze, timing off, format json) select public.list_sounds(${sql.json(query)})`;
    return row?.['QUERY PLAN'][0]['Execution Time'];
  }
  const q = 'aexxrsae ersxxrsa rsaxxaer saexxers aersxxrs rsaexxsa';
  const ratios = [];
  for (let round = 0; round < 15; round++) ratios.push((await millisecondsOf({ q })) / (await millisecondsOf({})));
  expect(ratios.toSorted((a, b) => a - b)[7]).toBeLessThan(60);
});

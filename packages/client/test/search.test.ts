import { randomInt } from 'node:crypto';
import { expect, test } from 'vitest';
import { searches, startSearchedDatabase } from '../../../test/support/searches.ts';
import type { Schema } from '../src/schema.ts';
import { createSearch } from '../src/search.ts';

/** Returns a word with one random edit after its first two letters. */
function misspell(word: string, random: () => number): string {
  const place = 2 + Math.floor(random() * (word.length - 2));
  const letter = 'abcdefghijklmnopqrstuvwxyz'[Math.floor(random() * 26)] ?? '';
  const [before, after] = [word.slice(0, place), word.slice(place + 1)];
  const swapped = word.slice(0, place - 1) + (word[place] ?? '') + (word[place - 1] ?? '') + after;
  const edits = [before + letter + after, before + after, before + letter + word.slice(place), swapped];
  return edits[Math.floor(random() * edits.length)] ?? word;
}

/** Returns numbers from 0 to 1 that depend on the seed only. */
function randomFrom(seed: number) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

test('a search of the copy finds, orders and corrects as the service does', async ({ onTestFinished }) => {
  const { sql, end } = await startSearchedDatabase();
  onTestFinished(end);
  const [copy] = await sql`
    select
      array(
        select to_json(sound) from private.copied_sound as sound join public.sounds as stored using (id)
        order by stored.sort_order, stored.created_at desc
      ) as sounds,
      array(select to_json(category) from private.copied_category as category) as categories`;
  const search = createSearch<Schema<'CopiedSound'>>(copy?.['sounds'], copy?.['categories']);
  const compare = async (texts: string[], message?: string) => {
    const rows = await sql`
      select q, public.list_sounds(jsonb_build_object('q', q, 'limit', 100)) as page
      from unnest(${texts}::text[]) with ordinality as given (q, place) order by place`;
    const pages = rows.map(({ q, page }) => [
      q,
      page.corrected_q,
      page.data.map(({ title }: { title: string }) => title),
    ]);
    const found = texts.map((q) => [q, search(q).corrected_q, search(q).data.map(({ title }) => title)]);
    expect(found, message).toEqual(pages);
    return pages;
  };
  // Folding makes a space of the first sign of "´raim", so that the corrected text begins with one.
  const others = ['!!', 'a', 'ocean wav', 'deep sleep sounds for the night', 'Bowl  RINGING', '´raim'];
  await compare([...Object.keys(searches), ...others]);

  const seed = randomInt(2 ** 32);
  const random = randomFrom(seed);
  const [{ words = [] } = {}] = await sql`
    select array_agg(word order by word) as words from private.vocabulary
    where not in_descriptions_only and word ~ '^[a-z]{5,}$'`;
  const typed = Array.from({ length: 60 }, () => misspell(words[Math.floor(random() * words.length)], random));
  const pages = await compare(typed, `seed ${seed}`);
  const corrected = pages.filter(([, correctedQ]) => correctedQ !== undefined);
  expect(corrected.length, `seed ${seed}`).toBeGreaterThan(typed.length / 4);
});

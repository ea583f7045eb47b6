import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { expect } from 'vitest';
import { test } from '../../../test/support/test.ts';
import { readableTitle, storagePath } from '../shared/paths.ts';

test('a file of any name gets a path that the table and Storage accept', async ({ sql }) => {
  const names = fc.array(fc.string({ unit: 'grapheme', minLength: 1 }), { minLength: 1, maxLength: 4 });
  const seed = randomInt(2 ** 31);
  const long = Array(7).fill('x'.repeat(250));
  const files = [long, ...fc.sample(names, { numRuns: 2000, seed })].map((parts) => `${parts.join('/')}.wav`);
  const paths = files.map((file) => storagePath(file, '4be2a1c9d07f'.padEnd(64, '0'), '.wav'));
  const wrong = await sql`
    select path from unnest(${paths}::text[]) as path where not private.is_file_path(path)`;
  expect(wrong, `seed ${seed}`).toEqual([]);
});

test('a recording without a title gets a readable title from its file name', () => {
  const names = '01 - deep_bowl|007 Rain-on--roof|12. Wind|432 Hz|Bowl - deep|bowls/A#4|01|étude'.split('|');
  const titles = 'Deep bowl|Rain on roof|Wind|432 Hz|Bowl - deep|A#4|01|Étude'.split('|');
  expect(names.map((name) => readableTitle(`${name}.mp3`))).toEqual(titles);
});

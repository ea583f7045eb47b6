import { expect, test } from 'vitest';
import { type Content, fits } from '../src/list-content.ts';
import { merge } from '../src/list-merge.ts';

/** Returns a list from a text such as "Night: rain 0.4, wind", whose kind is a mix if the name ends with "+". */
function listOf(text: string): Content {
  const [name = '', sounds = ''] = text.split(':');
  const items = sounds
    .split(',')
    .filter((part) => part.trim())
    .map((part) => {
      const [sound_id = '', volume] = part.trim().split(' ');
      return { sound_id, volume: volume === undefined ? null : Number(volume) };
    });
  return { name, is_mix: name.endsWith('+'), items };
}

const textOf = ({ name, items }: Content) =>
  `${name}: ${items.map(({ sound_id, volume }) => [sound_id, volume ?? []].flat().join(' ')).join(', ')}`;

test.each([
  ['additions of both stay', 'N: a', 'N: a, x', 'N: a, y', 'N: a, y, x'],
  ['an addition of both stays once', 'N: a', 'N: a, x', 'N: a, x', 'N: a, x'],
  ['a sound that I removed is gone', 'N: a, b', 'N: b', 'N: a, b', 'N: b'],
  ['a sound that they removed is gone', 'N: a, b', 'N: a, b', 'N: b', 'N: b'],
  ['a removed sound whose volume changed is gone', 'N: a, b', 'N: b', 'N: a 0.5, b', 'N: b'],
  [
    'a removed sound that was moved is gone, and the rest has the new order',
    'N: a, b, c',
    'N: b, c',
    'N: c, b, a',
    'N: c, b',
  ],
  ['their order stays if I only added', 'N: a, b', 'N: a, b, x', 'N: b, a', 'N: b, a, x'],
  ['my order stays if both have moved sounds', 'N: a, b, c', 'N: c, a, b', 'N: b, a, c', 'N: c, a, b'],
  ['a sound that I inserted keeps its place', 'N: a, b', 'N: a, x, b', 'N: a, b, y', 'N: a, x, b, y'],
  ['each volume is of the side that changed it', 'N: a 1, b 1', 'N: a 0.2, b 1', 'N: a 1, b 0.3', 'N: a 0.2, b 0.3'],
  ['my volume stays if both have changed it', 'N: a 1', 'N: a 0.2', 'N: a 0.3', 'N: a 0.2'],
  ['their name stays if I kept it', 'N: a', 'N: a, x', 'Late: a', 'Late: a, x'],
  ['my name stays if both have changed it', 'N:', 'Mine:', 'Theirs:', 'Mine: '],
  ['nothing counts as removed without a known base', null, 'N: b', 'N: a', 'N: a, b'],
])('%s', (_, base, mine, theirs, merged) => {
  expect(textOf(merge(base === null ? null : listOf(base), listOf(mine), listOf(theirs)))).toBe(merged);
});

test('the kind is that of the side that changed it, and bounds the number of sounds', () => {
  expect(merge(listOf('N: a'), listOf('N: a'), listOf('N+: a')).is_mix).toBe(true);
  expect(merge(listOf('N: a'), listOf('N+: a'), listOf('N: a')).is_mix).toBe(true);
  const withSounds = (count: number, name: string) =>
    listOf(`${name}: ${Array.from({ length: count }, (_, n) => `s${n}`)}`);
  expect([20, 21].map((count) => fits(withSounds(count, 'N+')))).toEqual([true, false]);
  expect([200, 201].map((count) => fits(withSounds(count, 'N')))).toEqual([true, false]);
});

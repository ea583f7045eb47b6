import { expect, test } from 'vitest';
import { type DecimalMark, moment, numberIn, tags, truth } from '../read/cells.ts';

test('a number has a point or the decimal mark of its sheet, and an ambiguous one is rejected', () => {
  const read = (mark: DecimalMark, cells: string) =>
    cells.split(' ').map((cell) => numberIn(mark).safeParse(cell).data);
  expect(read('.', '174.61 1e3 1.000 -5 .5')).toEqual([174.61, 1000, 1, -5, 0.5]);
  expect(read(',', '174,61 174.61 -1,5')).toEqual([174.61, 174.61, -1.5]);
  const noNumbers = '174,61 1,000 0x10 Infinity 1e999 -1e400'.split(' ').concat('9'.repeat(400));
  expect(read('.', noNumbers.join(' '))).toEqual(noNumbers.map(() => undefined));
  expect(read(',', '1.000 12.345.678 1,000 1,000,000')).toEqual(Array(4).fill(undefined));
});

test('booleans are read in English, and as marks of checkboxes', () => {
  const pairs = 'TRUE FALSE True false 1 0 yes No Y n t f on Off checked Unchecked ✓ ✗ ✔\ufe0f ☐ ☑ ✘ x ❌'.split(' ');
  const read = (cell: string) => truth.safeParse(cell).data;
  expect(pairs.map(read)).toEqual(pairs.map((_, index) => index % 2 === 0));
  const others = ['WAHR', 'vrai', 'ИСТИНА', '2', 'maybe'];
  expect(others.map(read)).toEqual(others.map(() => undefined));
});

test('a creation time is read in ISO 8601 and in the form of Postgres', () => {
  const read = (cell: string) => moment.safeParse(cell).data;
  const times = ' 09:00:00+00|T09:00:00Z| 14:30:00.000+0530| 09:00:00Z| 09:00:00.000123+00:00|T05:00:00-04'.split('|');
  expect(times.map((time) => read(`2026-06-23${time}`))).toEqual(times.map(() => '2026-06-23T09:00:00.000Z'));
  const wrong = ['2026-06-23', '2026-06-23 09:00', '2026-06-23 09:00:00', 'infinity'];
  expect(wrong.map(read)).toEqual(wrong.map(() => undefined));
});

test('tags are read in all common notations, and as JSON', () => {
  const typed = ['a; b', '#a #b', '#a#b', "'a', 'b'", '„a“, “b”', '«a», b', 'a, A, b', '{a, b}'];
  const cells = [...typed, 'a、b，', 'a، b؛', 'a | b\n', '["a","b"]'];
  expect(cells.map((cell) => tags.parse(cell))).toEqual(cells.map(() => ['a', 'b']));
  expect(tags.parse('"a, b", #1 hits, #deep, 雨')).toEqual(['a, b', '#1 hits', 'deep', '雨']);
  expect(tags.parse('J\u030c, \u01f0, e\u0301, É')).toEqual(['J\u030c', 'é']);
  expect(tags.parse('["a, b","[c]"]')).toEqual(['a, b', '[c]']);
});

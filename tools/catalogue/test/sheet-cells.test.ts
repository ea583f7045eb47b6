import { describe, expect } from 'vitest';
import { tone } from '../../../test/support/audio.ts';
import { type Sql, test } from '../../../test/support/test.ts';
import { cellOf, numberIn, tags, text, truth } from '../read/cells.ts';
import { imported, importFolder, makeFolder, rejectedLines } from './folder.ts';

/** Imports two recordings, a.wav and b.wav, with a sheet. */
async function importSheet(sql: Sql, sheet: string) {
  const files = { '@/a.wav': tone(), '@/b.wav': tone(), 'sounds.csv': sheet };
  const { category, code, stdout, stderr, sounds } = await imported(sql, files);
  const rejected = rejectedLines(stdout).map((line) => line.slice(12).replaceAll(category, '@'));
  return { code, stderr, rejected, sounds: await sounds() };
}

const QUOTE = 'Put the whole cell in quotes';
const STORED = 'tags contains a character that cannot be stored';

describe('a line of the sheet', () => {
  test.for<[string, string, string]>([
    ['an unquoted comma', 'Unquoted, comma, in, title', 'If a cell contains a comma, put it in quotes'],
    ['a quote inside a cell', 'Bowl of 5" width', QUOTE],
    ['a quote that is not closed', '"Open', QUOTE],
    ['text behind a quote', '"Bowl" deep', QUOTE],
    ['a NUL byte in a title', 'Ra\0in', 'title contains a NUL character'],
    ['a NUL byte in a key', 'Rain,\0x', 'key contains a NUL character'],
    ['a NUL in JSON', 'Rain,,"[""a\\u0000b""]"', STORED],
    ['half of a character in JSON', 'Rain,,"[""\\ud800""]"', STORED],
    ['a line break in a title', '"Ra\nin"', 'title has a line break'],
    ['an invisible title', '\u200b', 'title has no visible character'],
  ])('with %s is rejected, and the next one is imported', async ([, cells, reason], { sql }) => {
    const sheet = `file,title,key,tags\n@/a.wav,${cells}\n@/b.wav,Good\n`;
    const { code, stderr, rejected, sounds } = await importSheet(sql, sheet);
    expect([code, stderr, rejected]).toEqual([1, '', [expect.stringContaining(reason)]]);
    expect(rejected[0]).toMatch(/^sounds\.csv line [23] .*; until then "@\/a\.wav" is rejected\.$/);
    expect(sounds).toMatchObject([{ title: 'Good' }]);
  });

  test('a line is rejected with everything that is wrong in it', async ({ sql }) => {
    const sheet =
      'file,frequency_hz,is_featured,category\n@/a.wav,deep,maybe,nowhere\n@/b.wav,440,,\n@/c.wav,low,,';
    const { rejected, sounds } = await importSheet(sql, sheet);
    expect(rejected).toEqual([
      expect.stringMatching(
        /line 2 .*frequency_hz is not a number: "deep"; is_featured is neither true nor false; write TRUE or FALSE: "maybe".*No category .*"nowhere"/,
      ),
      expect.stringMatching(
        /line 4 .*frequency_hz is not a number: "low".*There is no recording "@\/c\.wav"/,
      ),
    ]);
    expect(sounds).toMatchObject([{ title: 'B', frequency_hz: '440' }]);
  });

  test.for([
    ['sep=;', '@/a.wav;Rain'],
    ['"sep=;"', '@/a.wav;Rain'],
    ['SEP=|', '@/a.wav|Rain'],
    ['sep=\t', '@/a.wav\tRain'],
  ] as const)('a first line %j names the delimiter', async ([first, line], { sql }) => {
    const delimiter = line.charAt(7);
    const { code, sounds } = await importSheet(sql, `${first}\r\nfile${delimiter}title\r\n${line}\r\n`);
    expect([code, sounds[0]?.['title']]).toEqual([0, 'Rain']);
  });
});

test('categories and home sections are validated before anything is made', async ({ sql }) => {
  const folder = await makeFolder({
    'a.wav': tone(),
    'categories.csv': `slug,name,description,sort_order\nx-nul,Ra\0in,,\nx-long,Long,${'x'.repeat(5001)},\nx-order,Order,,3000000000\nx-two,,,1.5\n`,
    'home_sections.csv':
      'slug,title,mode,rule_type,rule_value\ns-rule,Rule,rule,,\ns-value,Value,rule,newest,calm\ns-quote,"Open,,,\n',
  });
  const { code, stdout } = await importFolder(folder, '--dry-run');
  expect(code).toBe(1);
  for (const line of [
    /categories\.csv line 2 +name contains a NUL character/,
    /categories\.csv line 3 +description has more than 5000 characters/,
    /categories\.csv line 4 +sort_order is not a whole number/,
    /categories\.csv line 5 +name is missing; sort_order is not a whole number: "1\.5"\. Correct them\./,
    /home_sections\.csv line 2 +rule_type/,
    /home_sections\.csv line 3 +rule_value belongs to/,
    /home_sections\.csv line 4 +A quote/,
  ])
    expect(stdout).toMatch(line);
  expect(await sql`select from public.categories where slug like 'x-%'`).toEqual([]);
});

describe('cells', () => {
  test.for<[string, boolean, number | undefined]>([
    ['174.61', false, 174.61],
    ['174,61', false, 174.61],
    ['-1,5', true, -1.5],
    ['1e3', false, 1000],
    ['1.000', false, 1],
    ['1.000', true, undefined],
    ['12.345.678', true, undefined],
    ['174,610', false, undefined],
    ['1,000,000', false, undefined],
    ['0x10', false, undefined],
    ['1 000', false, undefined],
    ['Infinity', false, undefined],
  ])('"%s" in a sheet with decimal commas (%s) is the number %s', ([cell, hasCommas, value]) => {
    expect(numberIn(hasCommas).safeParse(cell).data).toBe(value);
  });

  test('booleans are read in the languages of Excel', () => {
    const pairs =
      'WAHR FALSCH VRAI FAUX VERDADERO FALSO VERO FALSO VERDADEIRO FALSO WAAR ONWAAR SANT FALSKT SAND FALSK SANN USANN TOSI EPÄTOSI ' +
      'PRAWDA FAŁSZ PRAVDA NEPRAVDA IGAZ HAMIS ИСТИНА ЛОЖЬ ІСТИНА ХИБНІСТЬ DOĞRU YANLIŞ ADEVĂRAT FALS ISTINA LAŽ True false 1 0 yes No';
    const read = pairs.split(' ').map((cell) => [cell, truth.safeParse(cell.normalize('NFD')).data]);
    expect(read).toEqual(read.map(([cell], index) => [cell, index % 2 === 0]));
    expect(truth.safeParse('vielleicht').error?.issues[0]?.message).toContain('write TRUE or FALSE');
  });

  test.for<[string, string[]]>([
    ['sleep; deep', ['sleep', 'deep']],
    ['#sleep #deep', ['sleep', 'deep']],
    ['#sleep, #deep', ['sleep', 'deep']],
    ['#sleep#deep', ['sleep', 'deep']],
    ['"a","b"', ['a', 'b']],
    ["'a', 'b'", ['a', 'b']],
    ['„a“, “b”, «c»', ['a', 'b', 'c']],
    ['"a, b", c', ['a, b', 'c']],
    ['a, A, a', ['a']],
    ['睡眠、冥想，雨', ['睡眠', '冥想', '雨']],
    ['نوم، مطر؛ ريح', ['نوم', 'مطر', 'ريح']],
    ['a | b\nc', ['a', 'b', 'c']],
    ['{slow}', ['slow']],
    ['#1 hits', ['#1 hits']],
    ['["a, b","[c]"]', ['a, b', '[c]']],
  ])('tags typed as %j are %j', ([cell, expected]) => {
    expect(tags.parse(cell)).toEqual(expected);
  });

  test('every value comes back from an export as it was', () => {
    for (const value of ['-', '\\-', '\\\\-', '- ', 'a-b', ' x\n'])
      expect(text.parse(cellOf(value))).toBe(value);
    const lists = [
      ['-'],
      ['a', 'A'],
      ['a', 'a'],
      ['#x'],
      ['a;b'],
      ['"q"'],
      ["'q'"],
      ['a, b'],
      ['[c]', '{d}'],
      ['睡、眠'],
      [' a'],
      ['a', 'b c'],
      [],
    ];
    for (const value of lists) {
      const cell = cellOf(value);
      expect([cell === '-', tags.parse(cell)], cell).toEqual([false, value]);
    }
  });
});

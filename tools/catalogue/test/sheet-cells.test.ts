import { describe, expect, test } from 'vitest';
import { planCategories, planSections } from '../plan/structure.ts';
import { cellOf, numberIn, tags, text, truth } from '../read/cells.ts';
import { readCsv } from '../read/csv.ts';
import { readSheet } from '../read/sheet.ts';
import { usableRows } from '../read/usable-rows.ts';
import type { Problem } from '../shared/problems.ts';
import { makeFolder } from './folder.ts';

const csvOf = async (sheet: string | Buffer) => await readCsv(await makeFolder({ a: sheet }), 'a');

/** Reads the sheet of a folder with the recordings a.wav and b.wav, in a project with the category `calm`. */
async function rowsIn(sheet: string | Buffer) {
  const { usable, rejected } = usableRows(
    readSheet(await csvOf(sheet)),
    (file) => ['a.wav', 'b.wav'].includes(file),
    (category) => (category === 'calm' ? category : undefined),
  );
  return { usable, rejected: rejected.map(({ where, reason }) => `${where}: ${reason}`) };
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
    ['a cleared title', '-', 'A sound needs a title. Replace the "-" by one'],
  ])('with %s is rejected, and the next one is imported', async ([, cells, reason]) => {
    const { usable, rejected } = await rowsIn(`file,title,key,tags\na.wav,${cells}\nb.wav,Good\n`);
    expect(rejected).toEqual([expect.stringContaining(reason)]);
    expect(rejected[0]).toMatch(/^sounds\.csv line [23]: .*; until then "a\.wav" is rejected\.$/s);
    expect(usable).toMatchObject([{ file: 'b.wav', fields: { title: 'Good' } }]);
  });

  test('a line is rejected with everything that is wrong in it', async () => {
    const { usable, rejected } = await rowsIn(
      'file,frequency_hz,is_featured,category\na.wav,deep,maybe,nowhere\nb.wav,440,,calm\nc.wav,low,,',
    );
    expect(rejected).toEqual([
      expect.stringMatching(
        /line 2: frequency_hz is not a number: "deep"; is_featured is neither true nor false; write TRUE or FALSE: "maybe".*No category .*"nowhere"/,
      ),
      expect.stringMatching(
        /line 4: frequency_hz is not a number: "low".*There is no recording "c\.wav" in the folder/,
      ),
    ]);
    expect(usable).toMatchObject([{ file: 'b.wav', fields: { frequency_hz: 440, category: 'calm' } }]);
  });

  test.for([
    ['sep=;', 'a.wav;Rain'],
    ['"sep=;"', 'a.wav;Rain'],
    ['SEP=|', 'a.wav|Rain'],
    ['sep=\t', 'a.wav\tRain'],
  ] as const)('a first line %j names the delimiter', async ([first, line]) => {
    const { usable } = await rowsIn(`${first}\r\nfile${line.charAt(5)}title\r\n${line}\r\n`);
    expect(usable).toMatchObject([{ file: 'a.wav', fields: { title: 'Rain' } }]);
  });
});

test('a sheet may come from a spreadsheet: semicolons, decimal commas, byte-order mark', async () => {
  const header = '\ufeffFile;Title;Frequency_Hz;Is_Featured;Tags';
  const lines = [header, 'x\\é.wav;Étude, softly;174,61;TRUE;a,b'.normalize('NFD'), ';;;;', ''];
  const { rows } = readSheet(await csvOf(lines.join('\r\n')));
  const fields = { title: 'Étude, softly', frequency_hz: 174.61, is_featured: true, tags: ['a', 'b'] };
  expect(rows).toEqual([{ line: 2, file: 'x/é.wav', key: '', fields, faults: [] }]);
});

test.for([
  ['has no column for the names', 'name,title\na.wav,A', /^a has no column "file", [^\n]+$/],
  ['is empty', '', /^a has no column "file", [^\n]+$/],
  ['has a damaged header', 'file,"title\na.wav,A', /^The header of a is damaged\. [^\n]+$/],
  ['is not in UTF-8', Buffer.from('file\nB\u00e4r', 'latin1'), /^a is not in UTF-8\. Save it as/],
] as const)('a sheet stops the import if it %s', async ([, sheet, message]) => {
  await expect(rowsIn(sheet)).rejects.toThrow(message);
});

test('categories and home sections are validated', async () => {
  const rejected: Problem[] = [];
  const categories = await csvOf(
    `slug,name,description,parent,sort_order\na,Ra\0in,,,\nb,Long,${'x'.repeat(5001)},,\nc,Order,,,3000000000\nd,,,,1.5\ntop,Top,,,\nsub,Sub,,top,\ne,E,,sub,\nf,F,,none,\n`,
  );
  const { parts } = planCategories(categories, [], false, rejected);
  const sections = await csvOf(
    'slug,title,mode,rule_type,rule_value\na,Rule,rule,,\nb,Value,rule,newest,calm\nc,"Open,,,\nnew,New,rule,newest,\n',
  );
  parts.push(...planSections(sections, [], false, rejected));
  expect(parts.map(({ where }) => where)).toEqual([
    'categories.csv line 6',
    'categories.csv line 7',
    'home_sections.csv line 5',
  ]);
  const problems = rejected.map(({ where, reason }) => `${where}: ${reason}`);
  expect(problems).toEqual(
    [
      /line 2: name contains a NUL character/,
      /line 3: description has more than 5000 characters/,
      /line 4: sort_order is not a whole number/,
      /line 5: name is missing; sort_order is not a whole number: "1\.5"\. Correct them\./,
      /categories\.csv line 8: "sub" is a sub-intention itself\. Correct the parent\./,
      /categories\.csv line 9: No category has the slug "none"\. Correct the parent\./,
      /line 2: rule_type/,
      /line 3: rule_value belongs to/,
      /line 4: A quote/,
    ].map((problem) => expect.stringMatching(problem)),
  );
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
    ];
    for (const value of [...lists, ['睡、眠'], [' a'], ['a', 'b c'], []]) {
      const cell = cellOf(value);
      expect([cell === '-', tags.parse(cell)], cell).toEqual([false, value]);
    }
  });
});

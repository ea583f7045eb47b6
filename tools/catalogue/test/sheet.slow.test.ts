import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect } from 'vitest';
import { tone } from '../../../test/support/audio.ts';
import { newSlug } from '../../../test/support/catalogue.ts';
import { test } from '../../../test/support/test.ts';
import { soundSheet } from '../export/sheets.ts';
import { notesAboutRules, withoutTrash } from '../export/trash.ts';
import { planCategories, planSections } from '../plan/structure.ts';
import type { Catalogue } from '../project/catalogue.ts';
import { cellOf } from '../read/cells.ts';
import { readCsv } from '../read/csv.ts';
import { readSheet, usableRows } from '../read/sheet.ts';
import type { Row, Section } from '../shared/fields.ts';
import type { Problem } from '../shared/problems.ts';
import { mp3With, picture, utf8 } from './files.ts';
import { hideFfmpeg, imported, makeFolder, readFiles, startImport, titlesOf } from './folder.ts';

hideFfmpeg();

test('sounds.csv overrides tags, keeps and clears values, and must not be removed later', async ({ sql }) => {
  const elsewhere = newSlug('elsewhere'); // unique, because an earlier run may have imported this folder
  const texts = { title: 'Bowl in F3', description: 'Struck once', bowl_note: 'F3', frequency_hz: '174.61' };
  const flags = { is_featured: true, is_premium: true, is_active: false };
  const fields = { ...texts, duration_sec: '12.5', ...flags, sort_order: 7 };
  const { folder, next, sounds } = await imported(sql, {
    [`${elsewhere}/F3 bowl.mp3`]: mp3With([['COMM', utf8('eng\0Of the tags')]]),
    [`${elsewhere}/plain.wav`]: tone(),
    '@/other.wav': tone(),
    [`${elsewhere}/F3 bowl.jpg`]: await picture(),
    'pictures/mine.png': await picture('png'),
    'Sounds.CSV': `file,category,tags,cover_image_path,${Object.keys(fields)}
${elsewhere}/F3 bowl.mp3,@,"bowl, deep",pictures/mine.png,${Object.values(fields)}
${elsewhere}\\plain.wav,CATEGORY @,{slow}`,
  });
  const cover_image_path = expect.stringMatching(/^pictures\/cover-\w+\.png$/);
  const bowl = { ...fields, tags: ['bowl', 'deep'], cover_image_path };
  const plain = { title: 'Plain', tags: ['slow'], is_featured: false, is_premium: false, is_active: true };
  expect(await sounds()).toMatchObject([bowl, plain, { title: 'Other', tags: null }]);
  expect((await next()).stdout).toContain('0 new, 0 to update, 3 unchanged');

  await rm(join(folder, 'Sounds.CSV'));
  const gone = await next();
  expect([gone.code, gone.stdout]).toEqual([1, '']);
  expect(gone.stderr).toMatch(/^\S+ has no sounds\.csv, and the last import of "[^"]+" had one\. [^\n]+\n$/);
  const sheet = `file,title,is_featured\n${elsewhere}/plain.wav,New name,yes\n`;
  expect((await next({ 'sounds.csv': sheet })).stdout).toMatch(
    /updated +\S+plain\.wav +"Plain" becomes "New name", is_featured\n/,
  );
  expect(await sounds()).toMatchObject([bowl, { ...plain, title: 'New name', is_featured: true }, {}]);
  const cleared = `file,description,cover_image_path\n${elsewhere}/F3 bowl.mp3,-,-\n`;
  const { stdout } = await next({ 'sounds.csv': cleared });
  expect(stdout).toMatch(/updated .*\.mp3 +(description, picture|picture, description)\n/);
  expect((await sounds())[0]).toMatchObject({ ...bowl, description: null, cover_image_path: null });
});

test('sounds.csv can be made from the template, which names every column', async () => {
  const { exited, output } = startImport(['--template']);
  expect(await exited).toBe(0);
  // Without -s, npm prints two lines before the template.
  const sheet = `\n> sounds-service@1.0.0 import\n> node main.ts\n\n${output.stdout}`;
  const files = { 'bowls/F3 bowl.wav': tone(), 'sounds.csv': sheet.replace('singing-bowls', 'calm') };
  const { sounds } = await readFiles(files);
  const sheetFields = { title: 'Singing Bowl in F3', category: 'calm', sort_order: 10 };
  const note = 'No picture: The folder has no image "bowls/F3 bowl.jpg". Correct the name or add the file.';
  expect(sounds).toMatchObject([{ sheetFields, notes: [note] }]);
});

test('lines of sounds.csv that the database rejects are reported, and the others imported', async ({ sql }) => {
  const { next, sounds } = await imported(sql, { '@/a.wav': tone(), '@/b.wav': tone(), '@/c.wav': tone() });
  const lines = ['file,title,sort_order', 'a.wav,First,', `b.wav,${'x'.repeat(300)},`, 'c.wav,,1.5'];
  const { code, stdout } = await next({ 'sounds.csv': lines.join('\n@/') });
  expect([code, titlesOf(await sounds())]).toEqual([1, ['First', 'B', 'C']]);
  for (const line of [
    /0 new, 1 to update, 0 unchanged, 0 left alone, 2 rejected; 0 files to upload/,
    /rejected +\S+b\.wav +The database requires: title is trimmed visible and has 1 to 200 .*\. Correct/,
    /rejected +\S+c\.wav +The database rejects it: .*1\.5.*\. Correct/,
  ])
    expect(stdout).toMatch(line);
});

const csvOf = async (sheet: string | Buffer) => await readCsv(await makeFolder({ a: sheet }), 'a');
const textOf = ({ where, reason }: Problem) => `${where}: ${reason}`;

/** Reads the sheet of a folder with the recordings a.wav and b.wav and the category `calm`. */
async function rowsIn(sheet: string | Buffer) {
  const recordings = new Set(['a.wav', 'b.wav']);
  const { usable, rejected } = usableRows(readSheet(await csvOf(sheet)), recordings, [{ slug: 'calm', name: 'Calm' }]);
  return { usable, rejected: rejected.map(textOf) };
}

/** Lines of a sheet, each with its problem if it is rejected. */
type Lines = [line: string, problem?: string][];
const sheetOf = (header: string, lines: Lines) => [header, ...lines.map(([line]) => line)].join('\n');
const problemsOf = (lines: Lines) =>
  lines.flatMap(([, text], index) => (text ? [expect.stringMatching(`line ${index + 2}: ${text}`)] : []));

test.for<[string, string, string]>([
  ['an unquoted comma', 'Unquoted, comma, in, title', 'Put each cell that contains the delimiter in quotes'],
  ['a quote inside a cell', 'Bowl of 5" width', 'Put the whole cell in quotes'],
  ['a quote that is not closed', '"Open', 'Put the whole cell in quotes'],
  ['a NUL byte', 'Ra\0in', 'title contains a NUL character'],
  ['a NUL in JSON', 'Rain,,"[""a\\u0000b""]"', 'tags contains a character that cannot be stored'],
  ['half of a character', 'Rain,,"[""\\ud800""]"', 'tags contains a character that cannot be stored'],
  ['an error value in a title', '#NAME?', 'title is "#NAME?", an error of the spreadsheet. Correct it, or write "\\#N'],
  ['an error value in tags', 'Rain,,#N/A', 'tags is "#N/A", an error'],
  ['an error value in another language', 'Rain,#BEZUG!', 'key is "#BEZUG!", an error'],
  ['an error value of LibreOffice', 'Err:502', 'title is "Err:502", an error'],
  ['a column that is too narrow', 'Rain,,###', 'tags is "###", an error'],
  ['a NUL in a title in JSON', '"""a\\u0000\\nb"""', 'title contains a character that cannot be stored'],
  ['a line break in a title', '"Ra\nin"', 'title has a line break'],
  ['an invisible title', '\u200b', 'title has no visible character'],
  ['a cleared title', '-', 'A sound needs a title. Replace the "-" by one'],
])('a line of the sheet with %s is rejected, and the next one is imported', async ([, cells, reason]) => {
  const { usable, rejected } = await rowsIn(`file,title,key,tags\na.wav,${cells}\nb.wav,Good\n`);
  expect(rejected).toEqual([expect.stringContaining(reason)]);
  expect(rejected[0]).toMatch(/^sounds\.csv line [23]: .*; until then "a\.wav" is rejected\.$/s);
  expect(usable).toMatchObject([{ file: 'b.wav', fields: { title: 'Good' } }]);
});

test('a rejected line is reported with all of its problems and what to do', async () => {
  const lines: Lines = [
    ['a.wav,deep,maybe,nowhere,', 'frequency_hz is not a number: "deep"; is_featured is neither true'],
    ['b.wav,440,,calm,'],
    ['c.wav,low,,,', 'frequency_hz .* "low".*There is no recording "c.wav" in the folder. Correct'],
    ['b.wav,,,calm,', '"b.wav" is already on line 3, which is used. Delete'],
    [',,,calm,', 'A sound without a recording needs a title. Fill in "file" or "title"'],
  ];
  const { usable, rejected } = await rowsIn(sheetOf('file,frequency_hz,is_featured,category,titel', lines));
  const unknown = expect.stringMatching(/The column "titel" is unknown: .* Correct its name or delete it/);
  expect(rejected).toEqual([unknown, ...problemsOf(lines)]);
  expect(rejected[1]).toMatch(/TRUE or FALSE: "maybe".* No category has .* "nowhere".* Correct it, or/);
  expect(usable).toMatchObject([{ file: 'b.wav', fields: { frequency_hz: 440, category: 'calm' } }]);
});

test('a sheet may have semicolons, decimal commas and a byte-order mark, as from a spreadsheet', async () => {
  const header = '\ufeffFile;Title;Frequency_Hz;Is_Featured;Tags\r';
  const lines = [header, 'x\\é.wav;Étude, softly;174,61;TRUE;a,b\r'.normalize('NFD'), ';;;;\r'];
  const { rows } = readSheet(await csvOf(lines.join('\n')));
  const fields = { title: 'Étude, softly', frequency_hz: 174.61, is_featured: true, tags: ['a', 'b'] };
  expect(rows).toEqual([{ line: 2, file: 'x/é.wav', key: '', fields, faults: [] }]);
  const { usable } = await rowsIn('"SEP=|"\r\nfile|title\r\na.wav|Rain\r\n');
  expect(usable).toMatchObject([{ file: 'a.wav', fields: { title: 'Rain' } }]);
});

test.for([
  ['a zero-width space', '\u200bfile,title'],
  ['two byte-order marks before a quote', '\ufeff\ufeff"file","title"'],
  ['invisible characters around names of columns', 'file\u00ad,\u2060title\u200b'],
])('a sheet may have %s in its header', async ([, header]) => {
  expect((await rowsIn(`${header}\na.wav,Rain`)).usable).toMatchObject([{ file: 'a.wav', fields: { title: 'Rain' } }]);
});

const oddTexts = [
  ...'Ra\nin|Rain \r\n Wind|two  spaces|e\u0301|tab\tbed|a\u2028b|a\u202eb|"Rain"|"Ra\\nin"|"|""|-|\\-|\\\\-|"-"'.split(
    '|',
  ),
  ..."#N/A|\\#N/A|###|#1 hits|Err:502|[1]|'=1+1|a, b; c".split('|'),
  ...'=HYPERLINK("http://a";"b")|+1|@SUM(A1)|-5|-5, +5|\\=x|\\\\+y|= '.split('|'),
];

test('odd titles, descriptions and tags of an export are read unchanged', async () => {
  const rows = oddTexts.map((title, index) => {
    const created_at = new Date(Date.UTC(2026, 0, 1) - index).toISOString();
    const fields = { title, description: ` ${title}`, bowl_note: title, tags: [title], created_at };
    return { id: crypto.randomUUID(), ...fields, audio_path: null, cover_image_path: null } as Row;
  });
  Object.assign(rows[0] ?? {}, { sort_order: -3 });
  const sounds = new Map(rows.map((row) => [row.id, row]));
  const sheet = soundSheet({ sounds } as Catalogue, new Set());
  // A spreadsheet would calculate other cells that begin with these characters.
  const cells: string[] = parse(sheet).flat();
  expect(cells.filter((cell) => /^[=+@]|^-./.test(cell))).toEqual(['-3']);
  const { rows: read, rejected } = readSheet(await csvOf(sheet));
  expect(rejected).toEqual([]);
  const wanted = rows.map(({ title, description, bowl_note, tags, id }) => ({
    key: id,
    faults: [],
    fields: { title, description, bowl_note, tags },
  }));
  expect(read).toMatchObject(wanted);
});

test('only odd titles are written as JSON, and quotes that somebody typed stay', async () => {
  const cells = ['Rain', '"Rain"', '-', 'Ra\nin'].map((title) => cellOf(title, true));
  expect(cells).toEqual(['Rain', '"Rain"', '\\-', '"Ra\\nin"']);
  const { usable } = await rowsIn('file,title\na.wav,"""Rain"""\nb.wav,two  \u2028 spaces');
  expect(usable).toMatchObject([{ fields: { title: '"Rain"' } }, { fields: { title: 'two spaces' } }]);
});

test.for([
  ['has no column for the names', 'name,title\na.wav,A', /^a has no column "file", [^\n]+$/],
  ['has two columns of one name', 'file,title,Title\na.wav,A,B', /^a has two columns "title"\. Rename or/],
  ['has a damaged header', 'file,"title\na.wav,A', /^The header of a is damaged\. [^\n]+$/],
  ['is not in UTF-8', Buffer.from('file\nB\u00e4r', 'latin1'), /^a is not in UTF-8\. Save it as/],
] as const)('a sheet stops the import if it %s', async ([, sheet, message]) => {
  await expect(rowsIn(sheet)).rejects.toThrow(message);
});

test('categories and home sections are validated', async () => {
  const categories: Lines = [
    ['a,Ra\0in,,,', 'name contains a NUL character'],
    [`b,Long,${'x'.repeat(5001)},,`, 'description has more than 5000 characters'],
    ['c,Order,,,3000000000', 'sort_order is not a whole number'],
    ['d,,,,1.5', 'name is missing; sort_order is not a whole number: "1.5". Correct them.'],
    ['top,Top,,,'],
    ['sub,Sub,,top,'],
    ['e,E,,sub,', '"sub" is a sub-intention itself. Correct the parent.'],
    ['f,F,,none,', 'No category has the slug "none". Correct the parent.'],
  ];
  const sections: Lines = [
    ['a,Rule,rule,,', 'rule_type'],
    ['b,Value,rule,newest,calm', 'rule_value belongs to'],
    ['c,"Open,,,', 'It has an unmatched quote'],
    ['new,New,rule,newest,'],
  ];
  const rejected: Problem[] = [];
  const categorySheet = await csvOf(sheetOf('slug,name,description,parent,sort_order', categories));
  const { parts } = planCategories(categorySheet, [], false, rejected);
  const sectionSheet = await csvOf(sheetOf('slug,title,mode,rule_type,rule_value', sections));
  parts.push(...planSections(sectionSheet, [], { categories: new Map(), sounds: new Map() }, false, rejected));
  expect(parts.map(({ where }) => where.replace(/.* /, ''))).toEqual(['6', '7', '5']);
  expect(rejected.map(textOf)).toEqual([...problemsOf(categories), ...problemsOf(sections)]);
});

test('an export leaves out the category of a sound if it is in the trash, and names rules of it', () => {
  const trash = { deleted_at: '2026-01-02T03:04:05Z', is_active: false };
  const category = { id: 'a', slug: 'gone', name: 'x', description: null, parent_id: null, sort_order: 0, ...trash };
  const child = { ...category, id: 'b', slug: 'child', parent_id: 'a', deleted_at: null, is_active: true };
  const catalogue = {
    categories: [category, child],
    sounds: new Map([
      ['1', { id: '1', category: 'gone', deleted_at: null }],
      ['2', { id: '2', ...trash }],
    ]),
  } as unknown as Catalogue;
  const exported = withoutTrash(catalogue);
  expect([...exported.sounds.values()]).toEqual([{ id: '1', category: null, deleted_at: null }]);
  expect(exported.categories).toEqual([{ ...child, is_active: false }]);
  const sections = [
    { slug: 'rule', rule_value: 'gone' },
    { slug: 'newest', rule_value: null },
  ] as Section[];
  expect(notesAboutRules(sections, catalogue.categories)).toEqual([
    'The rule of home section "rule" names the category "gone": deleted on 2026-01-02, set is_active to true in the dashboard to bring it back.',
  ]);
});

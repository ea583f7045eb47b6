import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { tone } from '../../../test/support/audio.ts';
import { addCategory, newSlug } from '../../../test/support/catalogue.ts';
import { test } from '../../../test/support/test.ts';
import {
  addFiles,
  encode,
  ffmpeg,
  importFolder,
  makeFolder,
  picture,
  soundsIn,
  startImport,
} from './folder.ts';

const lines = (...cells: string[]) => cells.join('\r\n');

describe('sounds.csv', () => {
  test('decides over folder, tags and pictures, and changes the sounds when it changes', async ({ sql }) => {
    const category = await addCategory(sql);
    const elsewhere = newSlug('elsewhere'); // an earlier run may have imported this folder
    const folder = await makeFolder({
      [`${elsewhere}/F3 bowl.wav`]: tone(),
      [`${elsewhere}/plain.wav`]: tone(),
      [`${category}/other.wav`]: tone(),
      [`${elsewhere}/F3 bowl.jpg`]: await picture(),
      'pictures/mine.png': await picture('png'),
      'sounds.csv': lines(
        'file,title,description,bowl_note,frequency_hz,duration_sec,category,tags,cover_image_path,is_featured,is_active,sort_order',
        `${elsewhere}/F3 bowl.wav,"Bowl, in F3","Two\nlines",F3,174.61,12.5,${category},"bowl, deep",pictures/mine.png,true,false,7`,
        `${elsewhere}\\plain.wav,,,,,,CATEGORY ${category},{slow},,,,`,
      ),
    });
    const { code, stdout, stderr } = await importFolder(folder);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('3 made');
    const [bowl, plain, other] = await soundsIn(sql, category);
    expect(bowl).toMatchObject({
      title: 'Bowl, in F3',
      description: 'Two\nlines',
      bowl_note: 'F3',
      frequency_hz: '174.61',
      duration_sec: '12.5',
      tags: ['bowl', 'deep'],
      cover_image_path: expect.stringMatching(/^pictures\/cover-\w+\.png$/),
      is_featured: true,
      is_active: false,
      sort_order: 7,
    });
    expect(plain).toMatchObject({ title: 'Plain', tags: ['slow'], is_featured: false, is_active: true });
    expect(other).toMatchObject({ title: 'Other', tags: null });
    expect((await importFolder(folder)).stdout).toContain('0 new, 0 to update, 3 unchanged');

    await addFiles(folder, { 'sounds.csv': `file,title,is_featured\n${elsewhere}/plain.wav,New name,yes\n` });
    expect((await importFolder(folder)).stdout).toMatch(
      new RegExp(`updated +${elsewhere}/plain\\.wav +"Plain" becomes "New name", is_featured\\n`),
    );
    expect((await soundsIn(sql, category))[1]).toMatchObject({ title: 'New name', is_featured: true });
  });

  test('may come from a spreadsheet: with semicolons, decimal commas, a byte-order mark and empty lines', async ({
    sql,
  }) => {
    const category = await addCategory(sql);
    const folder = await makeFolder({
      [`${category}/é.wav`]: tone(),
      'sounds.csv': `\ufeff${lines(
        'File;Title;Frequency_Hz;Is_Featured;Tags',
        // As macOS writes it.
        `${category}/é.wav;Étude, softly;174,61;TRUE;a,b`.normalize('NFD'),
        ';;;;',
        '',
      )}`,
    });
    const { code, stdout } = await importFolder(folder);
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining('1 made, 0 updated, 0 unchanged, 0 left alone, 0 rejected.'),
    ]);
    expect(await soundsIn(sql, category)).toMatchObject([
      { title: 'Étude, softly', frequency_hz: '174.61', is_featured: true, tags: ['a', 'b'] },
    ]);
    expect((await importFolder(folder)).stdout).toContain(
      '0 new, 0 to update, 1 unchanged, 0 left alone, 0 rejected',
    );
    expect((await importFolder(folder)).stdout).not.toMatch(/^left alone/m);
  });

  test('may be made of the template, which names every column', async ({ sql }) => {
    const category = await addCategory(sql);
    const template = startImport(['--template']);
    expect(await template.exited).toBe(0);
    // As npm run writes it without -s.
    const sheet = `\n> sounds-service@1.0.0 import\n> exec node tools/catalogue/main.ts --template\n\n${template.output.stdout.replace('singing-bowls', category)}`;
    const folder = await makeFolder({ 'bowls/F3 bowl.wav': tone(), 'sounds.csv': sheet });
    const dry = startImport([folder, '--dry-run']);
    expect(await dry.exited).toBe(0);
    expect(dry.output.stdout).toMatch(
      new RegExp(`new +bowls/F3 bowl\\.wav +Singing Bowl in F3 \\(${category}\\)\n`),
    );
    expect(dry.output.stdout).toContain('No picture: The folder has no image "bowls/F3 bowl.jpg".');
  });

  test.for([
    ['has no column for the names', 'name,title\na.wav,A', /^sounds\.csv has no column "file", [^\n]+\n$/],
    [
      'is not in UTF-8',
      Buffer.from('file,title\na.wav,B\u00e4r', 'latin1'),
      /^sounds\.csv is not in UTF-8\. Save it as/,
    ],
    ['is empty', '', /^sounds\.csv has no column "file", [^\n]+\n$/],
  ] as const)('that %s stops the import, since it decides over everything', async ([, sheet, message]) => {
    const folder = await makeFolder({ 'a.wav': tone(), 'sounds.csv': sheet });
    const { code, stdout, stderr } = await importFolder(folder);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(message);
  });
});

describe('what a sheet said', () => {
  test('stays until a sheet says otherwise, and a sheet that is missing stops the import', async ({
    sql,
  }) => {
    const category = await addCategory(sql);
    const file = `${category}/a.wav`;
    const folder = await makeFolder({
      [file]: tone(),
      'Sounds.CSV': `file,title,bowl_note,description\n${file},Bowl,F3,Struck once\n`,
    });
    await importFolder(folder);
    expect(await soundsIn(sql, category)).toMatchObject([{ title: 'Bowl', bowl_note: 'F3' }]);
    await rm(join(folder, 'Sounds.CSV'));
    const { code, stdout, stderr } = await importFolder(folder);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^\S+ has no sounds\.csv, and the last import of "[^"]+" had one\. [^\n]+\n$/);
    await addFiles(folder, { 'sounds.csv': 'file\n' });
    expect((await importFolder(folder)).stdout).toContain('0 new, 0 to update, 1 unchanged');
    await addFiles(folder, { 'sounds.csv': `file,description\n${file},-\n` });
    expect((await importFolder(folder)).stdout).toMatch(/updated +\S+a\.wav +description\n/);
    expect(await soundsIn(sql, category)).toMatchObject([
      { title: 'Bowl', bowl_note: 'F3', description: null },
    ]);
  });

  test('of "-" clears a field, also one that the file has', async ({ sql, skip }) => {
    skip(!ffmpeg, 'Install ffmpeg to make files with tags.');
    const category = await addCategory(sql);
    const folder = await makeFolder({ [`${category}/cover.jpg`]: await picture() });
    for (const name of ['a', 'b', 'c'])
      await encode(folder, `${category}/${name}.mp3`, tone(), ['-metadata', 'comment=Struck once']);
    await addFiles(folder, {
      'sounds.csv': `file,title,description,cover_image_path\n${category}/a.mp3,,-,-\n${category}/b.mp3,,,\n${category}/c.mp3,-,,\n`,
    });
    const { code, stdout } = await importFolder(folder);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /rejected +sounds\.csv line 4 +A sound needs a title\. Replace the "-" by one; until then/,
    );
    expect(await soundsIn(sql, category)).toMatchObject([
      { description: null, cover_image_path: null },
      { description: 'Struck once', cover_image_path: expect.any(String) },
    ]);
  });

  test('in a sheet that is not read is not lost unnoticed', async ({ sql }) => {
    const category = await addCategory(sql);
    const folder = await makeFolder({
      [`${category}/a.wav`]: tone(),
      [`${category}/sounds.csv`]: 'file\n',
      'sounds.xlsx': '',
      'sounds.ods': '',
    });
    const { code, stdout } = await importFolder(folder, '--dry-run');
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /note +\S+\/sounds\.csv +Not read: only sounds\.csv at the top of the folder is\./,
    );
    expect(stdout).toMatch(/note +sounds\.ods +Not read\. Save it as "CSV UTF-8"/);
    expect(stdout).toMatch(/note +sounds\.xlsx +Not read\. Save it as "CSV UTF-8"/);
  });
});

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { tone } from '../../../test/support/audio.ts';
import { newSlug } from '../../../test/support/catalogue.ts';
import { test } from '../../../test/support/test.ts';
import { encode, ffmpeg, imported, importFolder, makeFolder, picture, startImport } from './folder.ts';

const lines = (...cells: string[]) => cells.join('\r\n');

describe('sounds.csv', () => {
  test('overrides folder, tags and pictures, and updates sounds when it changes', async ({ sql }) => {
    const elsewhere = newSlug('elsewhere'); // an earlier run may have imported this folder
    const { code, stderr, add, again, sounds } = await imported(sql, {
      [`${elsewhere}/F3 bowl.wav`]: tone(),
      [`${elsewhere}/plain.wav`]: tone(),
      '@/other.wav': tone(),
      [`${elsewhere}/F3 bowl.jpg`]: await picture(),
      'pictures/mine.png': await picture('png'),
      'sounds.csv': lines(
        'file,title,description,bowl_note,frequency_hz,duration_sec,category,tags,cover_image_path,is_featured,is_active,sort_order',
        `${elsewhere}/F3 bowl.wav,"Bowl, in F3","Two\nlines",F3,174.61,12.5,@,"bowl, deep",pictures/mine.png,true,false,7`,
        `${elsewhere}\\plain.wav,,,,,,CATEGORY @,{slow},,,,`,
      ),
    });
    expect([code, stderr]).toEqual([0, '']);
    expect(await sounds()).toMatchObject([
      {
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
      },
      { title: 'Plain', tags: ['slow'], is_featured: false, is_active: true },
      { title: 'Other', tags: null },
    ]);
    expect((await again()).stdout).toContain('0 new, 0 to update, 3 unchanged');
    await add({ 'sounds.csv': `file,title,is_featured\n${elsewhere}/plain.wav,New name,yes\n` });
    expect((await again()).stdout).toMatch(
      /updated +\S+plain\.wav +"Plain" becomes "New name", is_featured\n/,
    );
    expect((await sounds())[1]).toMatchObject({ title: 'New name', is_featured: true });
  });

  test('may come from a spreadsheet: semicolons, decimal commas, byte-order mark, empty lines', async ({
    sql,
  }) => {
    const row = '@/é.wav;Étude, softly;174,61;TRUE;a,b'.normalize('NFD'); // as macOS writes it
    const { code, again, sounds } = await imported(sql, {
      '@/é.wav': tone(),
      'sounds.csv': `\ufeff${lines('File;Title;Frequency_Hz;Is_Featured;Tags', row, ';;;;', '')}`,
    });
    expect(code).toBe(0);
    expect(await sounds()).toMatchObject([
      { title: 'Étude, softly', frequency_hz: '174.61', is_featured: true, tags: ['a', 'b'] },
    ]);
    expect((await again()).stdout).toContain('0 new, 0 to update, 1 unchanged, 0 left alone, 0 rejected');
  });

  test('may be made of the template, which names every column', async () => {
    const template = startImport(['--template']);
    expect(await template.exited).toBe(0);
    // npm prints two lines before it without -s.
    const sheet = `\n> sounds-service@1.0.0 import\n> exec node tools/catalogue/main.ts --template\n\n${template.output.stdout.replace('singing-bowls', '')}`;
    const folder = await makeFolder({ 'bowls/F3 bowl.wav': tone(), 'sounds.csv': sheet });
    const { code, stdout } = await importFolder(folder, '--dry-run');
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/new +bowls\/F3 bowl\.wav +Singing Bowl in F3/),
    ]);
    expect(stdout).toContain('No picture: The folder has no image "bowls/F3 bowl.jpg".');
  });

  test.for([
    ['has no column for the names', 'name,title\na.wav,A', /^sounds\.csv has no column "file", [^\n]+\n$/],
    ['is empty', '', /^sounds\.csv has no column "file", [^\n]+\n$/],
    ['has a damaged header', 'file,"title\na.wav,A', /^The header of sounds\.csv is damaged\. [^\n]+\n$/],
    ['is not in UTF-8', Buffer.from('file\nB\u00e4r', 'latin1'), /^sounds\.csv is not in UTF-8\. Save it as/],
  ] as const)('stops the import if it %s', async ([, sheet, message]) => {
    const { code, stdout, stderr } = await importFolder(
      await makeFolder({ 'a.wav': tone(), 'sounds.csv': sheet }),
    );
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringMatching(message)]);
  });

  test('keeps its values until it has others, and stops the import if it disappears', async ({ sql }) => {
    const { folder, add, again, sounds } = await imported(sql, {
      '@/a.wav': tone(),
      'Sounds.CSV': 'file,title,bowl_note,description\n@/a.wav,Bowl,F3,Struck once\n',
    });
    await rm(join(folder, 'Sounds.CSV'));
    const { code, stdout, stderr } = await again();
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^\S+ has no sounds\.csv, and the last import of "[^"]+" had one\. [^\n]+\n$/);
    await add({ 'sounds.csv': 'file\n' });
    expect((await again()).stdout).toContain('0 new, 0 to update, 1 unchanged');
    await add({ 'sounds.csv': 'file,description\n@/a.wav,-\n' });
    expect((await again()).stdout).toMatch(/updated +\S+a\.wav +description\n/);
    expect(await sounds()).toMatchObject([{ title: 'Bowl', bowl_note: 'F3', description: null }]);
  });

  test('clears fields with "-", also those in the file, but no title', async ({ sql, skip }) => {
    skip(!ffmpeg, 'Install ffmpeg to make files with tags.');
    const { category, folder, add, again, sounds } = await imported(sql, { '@/cover.jpg': await picture() });
    for (const name of ['a', 'b', 'c'])
      await encode(folder, `${category}/${name}.mp3`, tone(), ['-metadata', 'comment=Struck once']);
    await add({
      'sounds.csv': 'file,title,description,cover_image_path\n@/a.mp3,,-,-\n@/b.mp3,,,\n@/c.mp3,-,,\n',
    });
    const { code, stdout } = await again();
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /rejected +sounds\.csv line 4 +A sound needs a title\. Replace the "-" by one; until then/,
    );
    expect(await sounds()).toMatchObject([
      { description: null, cover_image_path: null },
      { description: 'Struck once', cover_image_path: expect.any(String) },
    ]);
  });

  test('has a note beside it for each sheet that is not read', async ({ sql }) => {
    const sheets = { '@/sounds.csv': 'file\n', 'sounds.xlsx': '', 'sounds.ods': '' };
    const { code, stdout } = await imported(sql, { '@/a.wav': tone(), ...sheets }, '--dry-run');
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /note +\S+\/sounds\.csv +Not read: only sounds\.csv at the top of the folder is\./,
    );
    expect(stdout).toMatch(/note +sounds\.ods +Not read\. Save it as "CSV UTF-8"/);
    expect(stdout).toMatch(/note +sounds\.xlsx +Not read\. Save it as "CSV UTF-8"/);
  });
});

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { tone } from '../../../test/support/audio.ts';
import { newSlug } from '../../../test/support/catalogue.ts';
import { test } from '../../../test/support/test.ts';
import { mp3With, utf8 } from './files.ts';
import { imported, picture, readFiles, rejectedLines, startImport } from './folder.ts';

describe('sounds.csv', () => {
  test('overrides folder, tags and pictures, and updates sounds when it changes', async ({ sql }) => {
    const elsewhere = newSlug('elsewhere'); // an earlier run may have imported this folder
    const { code, stderr, add, again, sounds } = await imported(sql, {
      [`${elsewhere}/F3 bowl.wav`]: tone(),
      [`${elsewhere}/plain.wav`]: tone(),
      '@/other.wav': tone(),
      [`${elsewhere}/F3 bowl.jpg`]: await picture(),
      'pictures/mine.png': await picture('png'),
      'sounds.csv':
        'file,title,description,bowl_note,frequency_hz,duration_sec,category,tags,cover_image_path,is_featured,is_active,sort_order\r\n' +
        `${elsewhere}/F3 bowl.wav,"Bowl, in F3","Two\nlines",F3,174.61,12.5,@,"bowl, deep",pictures/mine.png,true,false,7\r\n` +
        `${elsewhere}\\plain.wav,,,,,,CATEGORY @,{slow},,,,`,
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

  test('keeps a value until it has another, clears it with "-", and must not disappear', async ({ sql }) => {
    const { folder, add, again, sounds } = await imported(sql, {
      '@/a.mp3': mp3With([['COMM', utf8('eng\0Struck once')]]),
      '@/cover.jpg': await picture(),
      'Sounds.CSV': 'file,title,bowl_note\n@/a.mp3,Bowl,F3\n',
    });
    const kept = { title: 'Bowl', bowl_note: 'F3' };
    expect(await sounds()).toMatchObject([{ ...kept, description: 'Struck once' }]);
    await rm(join(folder, 'Sounds.CSV'));
    const { code, stdout, stderr } = await again();
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^\S+ has no sounds\.csv, and the last import of "[^"]+" had one\. [^\n]+\n$/);
    await add({ 'sounds.csv': 'file\n' });
    expect((await again()).stdout).toContain('0 new, 0 to update, 1 unchanged');
    await add({ 'sounds.csv': 'file,description,cover_image_path\n@/a.mp3,-,-\n' });
    expect((await again()).stdout).toMatch(
      /updated +\S+a\.mp3 +(description, picture|picture, description)\n/,
    );
    expect(await sounds()).toMatchObject([{ ...kept, description: null, cover_image_path: null }]);
  });

  test('may be made of the template, which names every column', async () => {
    const template = startImport(['--template']);
    expect(await template.exited).toBe(0);
    // npm prints two lines before it without -s.
    const sheet = `\n> sounds-service@1.0.0 import\n> exec node tools/catalogue/main.ts --template\n\n${template.output.stdout}`;
    const { sounds } = await readFiles({
      'bowls/F3 bowl.wav': tone(),
      'sounds.csv': sheet.replace('singing-bowls', 'calm'),
    });
    expect(sounds).toMatchObject([
      {
        sheetFields: { title: 'Singing Bowl in F3', category: 'calm', sort_order: 10 },
        notes: [expect.stringContaining('No picture: The folder has no image "bowls/F3 bowl.jpg".')],
      },
    ]);
  });

  test('wrong lines, and values that the database rejects, are rejected with what to do', async ({ sql }) => {
    const files = Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [`@/${name}.wav`, tone()]));
    const { code, stdout, titles } = await imported(sql, {
      ...files,
      'sounds.csv':
        'file,title,titel,category,sort_order\n@/a.wav,First,,,\n@/a.wav,Second,,,\n@/gone.wav,Gone,,,\n@/b.wav,,,nowhere,\n' +
        `,,,@,\n@/c.wav,${'x'.repeat(300)},,,\n@/d.wav,,,,1.5\n`,
    });
    expect([code, await titles()]).toEqual([1, ['First']]);
    expect(stdout).toContain('1 new, 0 to update, 0 unchanged, 0 left alone, 7 rejected; 1 file to upload');
    expect(rejectedLines(stdout)).toEqual([
      expect.stringMatching(/sounds\.csv +The column "titel" is unknown: .* Correct its name or delete it/),
      expect.stringMatching(/sounds\.csv line 3 +"[^"]+" is already on line 2, which is used\. Delete/),
      expect.stringMatching(/sounds\.csv line 4 +There is no recording "[^"]+" in the folder\. Correct/),
      expect.stringMatching(
        /line 5 +No category has the slug or name "nowhere".* Correct it, or create .* "[^"]+b\.wav" is rejected/,
      ),
      expect.stringMatching(
        /sounds\.csv line 6 +A sound without a recording needs a title\. Fill in "file" or "title"/,
      ),
      expect.stringMatching(
        /c\.wav +The database requires: title is trimmed visible and has 1 to 200 .*\. Correct/,
      ),
      expect.stringMatching(/d\.wav +The database rejects it: .*1\.5.*\. Correct/),
    ]);
  });
});

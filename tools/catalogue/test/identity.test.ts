import { rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { tone } from '../../../test/support/audio.ts';
import { addCategory } from '../../../test/support/catalogue.ts';
import { test } from '../../../test/support/test.ts';
import { mp3With, titled } from './files.ts';
import { imported, importFolder, makeFolder } from './folder.ts';

test('a file at the same place is the same sound in a folder of the same name or --source', async ({
  sql,
}) => {
  const source = `recordings ${crypto.randomUUID()}`;
  const { category, sounds } = await imported(sql, { '@/a.wav': tone() }, '--source', source);
  const [sound] = await sounds();
  const july = await makeFolder({ [`${category}/a.wav`]: tone(0.4) });
  expect((await importFolder(july)).stdout).toContain('1 made, 0 updated');
  expect([(await sounds()).length, (await sounds())[1]]).toEqual([2, sound]);
  await importFolder(await makeFolder({ [`${category}/a.wav`]: tone(0.5) }), '--source', source);
  expect((await sounds())[1]).toMatchObject({ id: sound?.['id'], duration_sec: '0.5' });
});

test('a sound becomes another one only with --overwrite, or if its title was made from the name', async ({
  sql,
}) => {
  const { path, add, again, sounds } = await imported(sql, {
    '@/a.mp3': titled('Deep bowl 1'),
    '@/b.wav': tone(),
    '@/bowl.mp3': mp3With([]),
  });
  const [before] = await sounds();
  await add({ '@/a.mp3': titled('Gong'), '@/b.mp3': titled('Rain'), '@/bowl.mp3': titled('Deep bowl 2') });
  await rm(path('b.wav'));
  const { code, stdout } = await again();
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /held back +\S+a\.mp3 +"Deep bowl 1" would become "Gong", with another recording; --overwrite/,
  );
  expect(stdout).toMatch(/update +\S+bowl\.mp3 +"Bowl" becomes "Deep bowl 2", recording/);
  expect(stdout).toMatch(/note +\S+b\.wav +Gone from the folder\. Its sound "B" is left alone\./);
  expect(stdout).toContain('1 new, 1 to update, 0 unchanged, 0 left alone, 1 held back, 0 rejected');
  expect((await sounds()).find(({ id }) => id === before?.['id'])).toEqual(before);
  const overwriting = await again('--overwrite');
  expect(overwriting.code).toBe(0);
  expect(overwriting.stdout).toMatch(/update +\S+a\.mp3 +"Deep bowl 1" becomes "Gong", recording/);
});

test('a file that was renamed or moved keeps its sound, and copies and links are left out', async ({
  sql,
}) => {
  const other = await addCategory(sql);
  const [recording, unknown] = [tone(), tone()];
  const files = { '@/a.wav': recording, '@/b.wav': tone(), '@/c.wav': tone() };
  const { category, folder, path, add, again, sounds } = await imported(sql, files);
  const before = await sounds();
  const ids = before.map(({ id }) => id);
  await sql`insert into public.play_counts (sound_id, plays) select unnest(${ids}::uuid[]), 7`;
  await rename(path('a.wav'), path('gong.wav'));
  await symlink('gong.wav', path('a.wav'));
  await add({
    '@/hum.wav': recording,
    '@/new.wav': unknown,
    '@/new copy.wav': unknown,
    [`${other}/x.wav`]: tone(),
  });
  await rename(path('b.wav'), join(folder, other, 'b.wav'));
  await rm(path('c.wav'));
  const dry = await again('--dry-run');
  expect([dry.code, await sounds()]).toEqual([0, before]);
  for (const line of [
    /update +\S+gong\.wav +"A" becomes "Gong"\n/,
    /moved +\S+gong\.wav +was \S+a\.wav\n/,
    /moved +\S+\/b\.wav +was \S+\/b\.wav\n/,
    /note +\S+\/a\.wav +A copy of \S+\.wav: not imported\.\n/,
    /note +\S+hum\.wav +A copy of \S+gong\.wav: not imported\.\n/,
    /note +\S+new\.wav +A copy of \S+new copy\.wav: not imported\.\n/,
    /note +\S+c\.wav +Gone from the folder\. Its sound "C" is left alone\.\n/,
  ])
    expect(dry.stdout).toMatch(line);
  expect((await again()).stdout).toContain(
    '2 new, 2 to update, 0 unchanged, 0 left alone, 0 rejected; 2 files',
  );
  const after = await sql`
    select id, title, category, audio_path, plays from public.sounds join public.play_counts on sound_id = id
    where id in ${sql(ids)} order by title`;
  const moved = before.map(({ id, audio_path }, index) => ({
    id,
    title: ['Gong', 'B', 'C'][index],
    category: index === 1 ? other : category,
    audio_path,
    plays: '7',
  }));
  expect(after).toEqual([moved[1], moved[2], moved[0]]);
  expect((await again()).stdout).toContain('0 new, 0 to update, 4 unchanged');
});

test('a folder below an imported one has the same sounds, whichever changes next', async ({ sql }) => {
  const { category, folder, add, again, sounds } = await imported(sql, {
    '@/a.wav': tone(),
    '@/b.wav': tone(),
  });
  const before = (await sounds()).map(({ id }) => id);
  const below = await importFolder(join(folder, category));
  expect(below.stdout).toMatch(/note +2 sounds +known from "/);
  expect(below.stdout).toContain('0 new, 0 to update, 2 unchanged');
  await add({ '@/a.wav': tone(0.3) });
  await again();
  await add({ '@/b.wav': tone(0.4) });
  await importFolder(join(folder, category));
  const after = (await sounds()).map(({ id, duration_sec }) => [id, duration_sec]);
  expect(after).toEqual([
    [before[0], '0.3'],
    [before[1], '0.4'],
  ]);
});

test('records of old versions, without folders and checksums, are recognized', async ({ sql }) => {
  const files = ['a', 'b', 'c', 'd'].map((name) => [`@/${name}.wav`, tone()]);
  const { category, path, add, again, sounds } = await imported(sql, Object.fromEntries(files));
  await sql`
    update public.imported_sounds set checksum = null, places = jsonb_build_array((places -> 0) - 'source')
    where fields ->> 'category' = ${category}`;
  const before = await sounds();
  await rename(path('b.wav'), path('e.wav'));
  await add({ '@/c.wav': tone(0.6) });
  expect((await again()).stdout).toContain('0 new, 2 to update, 2 unchanged');
  const after = await sounds();
  expect(after.map(({ id, title }) => [id, title])).toEqual(
    before.map(({ id }, index) => [id, ['A', 'E', 'C', 'D'][index]]),
  );
  expect([after[0], after[3]]).toEqual([before[0], before[3]]);
});

test('keys tell sounds apart that share a recording or have none', async ({ sql }) => {
  const sheet = (title: string) =>
    `file,key,title,category\n@/a.wav,,First,\n@/a.wav,short,${title},@\n,silence,Silence,@\n,,Nothing yet,@\n`;
  const first = await imported(sql, { '@/a.wav': tone(), 'sounds.csv': sheet('Second') });
  expect(first).toMatchObject({ code: 0, stderr: '' });
  const before = await first.sounds();
  expect(before.map(({ title, audio_version }) => [title, audio_version !== null])).toEqual([
    ['First', true],
    ['Second', true],
    ['Silence', false],
    ['Nothing yet', false],
  ]);
  expect(before[0]?.['audio_path']).toBe(before[1]?.['audio_path']);
  await rename(first.path('a.wav'), first.path('b.wav'));
  await first.add({ 'sounds.csv': sheet('Shorter').replaceAll('/a.wav', '/b.wav') });
  const { stdout } = await first.again();
  expect(stdout).toContain('0 new, 1 to update, 3 unchanged, 0 left alone, 0 rejected; 0 files to upload');
  const after = await first.sounds();
  expect([after.map(({ id }) => id), after[1]?.['title']]).toEqual([before.map(({ id }) => id), 'Shorter']);
});

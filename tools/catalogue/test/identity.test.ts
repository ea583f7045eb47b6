import { rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { bearer } from '../../../test/support/api.ts';
import { tone } from '../../../test/support/audio.ts';
import { addCategory } from '../../../test/support/catalogue.ts';
import { test } from '../../../test/support/test.ts';
import { mp3With, utf8 } from './files.ts';
import { addFiles, imported, importFolder, makeFolder, soundsIn } from './folder.ts';

const tagged = (title: string) => mp3With([['TIT2', utf8(title)]]);

describe('the place of a file in its folder', () => {
  test('a file of the same name in another folder is another sound', async ({ sql }) => {
    const { category, sounds } = await imported(sql, { '@/bowl 1.wav': tone() });
    const [before] = await sounds();
    const july = await makeFolder({ [`${category}/bowl 1.wav`]: tone() });
    expect((await importFolder(july)).stdout).toContain('1 made, 0 updated');
    expect([(await sounds()).length, (await sounds())[1]]).toEqual([2, before]);
  });

  test('--source keeps the sounds of a folder that has another name', async ({ sql }) => {
    const source = `recordings ${crypto.randomUUID()}`;
    const { category, sounds } = await imported(sql, { '@/a.wav': tone() }, '--source', source);
    const [sound] = await sounds();
    await importFolder(await makeFolder({ [`${category}/a.wav`]: tone(0.4) }), '--source', source);
    expect(await sounds()).toMatchObject([{ id: sound?.['id'], duration_sec: '0.4' }]);
  });

  test('a sound becomes another one only with --overwrite', async ({ sql }) => {
    const first = await imported(sql, { '@/a.mp3': tagged('Deep bowl 1'), '@/b.wav': tone() });
    const before = await first.sounds();
    await first.add({ '@/a.mp3': tagged('Gong'), '@/b.mp3': tagged('Rain') });
    await rm(first.path('b.wav'));
    const { code, stdout } = await first.again();
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /held back +\S+a\.mp3 +"Deep bowl 1" would become "Gong", with another recording; --overwrite/,
    );
    expect(stdout).toMatch(/note +\S+b\.wav +Gone from the folder\. Its sound "B" is left alone\./);
    expect(stdout).toContain('1 new, 0 to update, 0 unchanged, 0 left alone, 1 held back, 0 rejected');
    expect((await first.sounds()).find(({ id }) => id === before[0]?.['id'])).toEqual(before[0]);
    const overwriting = await first.again('--overwrite');
    expect(overwriting.code).toBe(0);
    expect(overwriting.stdout).toMatch(/update +\S+a\.mp3 +"Deep bowl 1" becomes "Gong", recording/);
  });

  test('a new recording may replace a title that was made from the file name', async ({ sql }) => {
    const { add, again, titles } = await imported(sql, { '@/bowl.mp3': mp3With([]) });
    await add({ '@/bowl.mp3': tagged('Deep bowl') });
    expect(await again()).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('"Bowl" becomes "Deep bowl"'),
    });
    expect(await titles()).toEqual(['Deep bowl']);
  });
});

describe('the content of a recording', () => {
  test('a file that was renamed or moved keeps its id, favorites and plays', async ({ api, sql, user }) => {
    const other = await addCategory(sql);
    const { folder, path, again, sounds } = await imported(sql, { '@/a.wav': tone(), '@/b.wav': tone() });
    const [a, b] = await sounds();
    const auth = { Authorization: `Bearer ${user.access_token}` };
    await api.post('/favorites').set(auth).send({ sound_id: a?.['id'] }).expect(201);
    await api.post(`/sounds/${a?.['id']}/play`).set(auth).expect(200);
    await addFiles(folder, { [`${other}/c.wav`]: tone() });
    await rename(path('a.wav'), join(folder, other, 'a.wav'));
    await rename(path('b.wav'), path('deep bowl.wav'));
    const { code, stdout } = await again();
    expect(code).toBe(0);
    expect(stdout).toMatch(/moved +\S+\/a\.wav +was \S+\/a\.wav/);
    expect(stdout).toMatch(/moved +\S+\/deep bowl\.wav +was \S+\/b\.wav/);
    expect(stdout).toContain('1 new, 2 to update, 0 unchanged, 0 left alone, 0 rejected; 1 file to upload');
    expect((await soundsIn(sql, other)).find(({ id }) => id === a?.['id'])?.['audio_path']).toBe(
      a?.['audio_path'],
    );
    expect(await sounds()).toMatchObject([{ id: b?.['id'], title: 'Deep bowl' }]);
    const { body } = await api.get(`/sounds/${a?.['id']}`).auth(user.access_token, bearer).expect(200);
    expect(body.data.play_count).toBe(1);
    const { body: favorites } = await api.get('/favorites').auth(user.access_token, bearer).expect(200);
    expect(favorites.data).toMatchObject([{ sound_id: a?.['id'] }]);
    expect((await again()).stdout).toContain('0 new, 0 to update, 3 unchanged');
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
    expect((await sounds()).map(({ id, duration_sec }) => [id, duration_sec])).toEqual([
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

test('the plan names moved, copied, linked and missing files, and changes nothing', async ({ sql }) => {
  const recording = tone();
  const { path, add, again, sounds } = await imported(sql, { '@/a.wav': recording, '@/b.wav': tone() });
  const before = await sounds();
  await rename(path('a.wav'), path('gong.wav'));
  await symlink('gong.wav', path('a.wav'));
  await rm(path('b.wav'));
  await add({ '@/hum.wav': recording });
  const { code, stdout } = await again('--dry-run');
  expect(code).toBe(0);
  for (const line of [
    /update +\S+gong\.wav +"A" becomes "Gong"\n/,
    /moved +\S+gong\.wav +was \S+a\.wav\n/,
    /note +\S+a\.wav +A copy of \S+\.wav: not imported\.\n/,
    /note +\S+hum\.wav +A copy of \S+gong\.wav: not imported\.\n/,
    /note +\S+b\.wav +Gone from the folder\. Its sound "B" is left alone\.\n/,
  ])
    expect(stdout).toMatch(line);
  expect(await sounds()).toEqual(before);
});

import { rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { bearer } from '../../../test/support/api.ts';
import { tone } from '../../../test/support/audio.ts';
import { addCategory } from '../../../test/support/catalogue.ts';
import { test } from '../../../test/support/test.ts';
import { addFiles, encode, ffmpeg, importFolder, makeFolder, soundsIn } from './folder.ts';

/** An MP3 with a title in its tags. */
const tagged = (folder: string, name: string, title: string) =>
  encode(folder, name, tone(0.5), ['-metadata', `title=${title}`]);

describe('a sound is known by its place in the folder', () => {
  test('so a file of the same name in another folder is another sound', async ({ sql }) => {
    const category = await addCategory(sql);
    const june = await makeFolder({ [`${category}/bowl 1.wav`]: tone() });
    const july = await makeFolder({ [`${category}/bowl 1.wav`]: tone() });
    await importFolder(june);
    const [before] = await soundsIn(sql, category);
    expect((await importFolder(july)).stdout).toContain('1 made, 0 updated');
    const after = await soundsIn(sql, category);
    expect(after).toHaveLength(2);
    expect(after[1]).toEqual(before);
  });

  test('also where the folder is called differently, when --source says its name', async ({ sql }) => {
    const category = await addCategory(sql);
    const source = `recordings of ${category}`;
    const before = await makeFolder({ [`${category}/a.wav`]: tone() });
    await importFolder(before, '--source', source);
    const [sound] = await soundsIn(sql, category);
    const after = await makeFolder({ [`${category}/a.wav`]: tone(0.4) });
    await importFolder(after, '--source', source);
    expect(await soundsIn(sql, category)).toMatchObject([{ id: sound?.['id'], duration_sec: '0.4' }]);
  });

  test('and does not become another one before --overwrite says so', async ({ sql, skip }) => {
    skip(!ffmpeg, 'Install ffmpeg to make files with tags.');
    const category = await addCategory(sql);
    const folder = await makeFolder({ [`${category}/b.wav`]: tone() });
    await tagged(folder, `${category}/a.mp3`, 'Deep bowl 1');
    await importFolder(folder);
    const before = await soundsIn(sql, category);
    await tagged(folder, `${category}/a.mp3`, 'Gong');
    // A name is no title: this one was not another sound before.
    await tagged(folder, `${category}/b.mp3`, 'Rain');
    await rm(join(folder, category, 'b.wav'));
    const { code, stdout } = await importFolder(folder);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      new RegExp(
        `held back +${category}/a\\.mp3 +"Deep bowl 1" would become "Gong", with another recording; --overwrite`,
      ),
    );
    expect(stdout).toMatch(
      new RegExp(`note +${category}/b\\.wav +Gone from the folder\\. Its sound "B" is left alone\\.`),
    );
    expect(stdout).toContain('1 new, 0 to update, 0 unchanged, 0 left alone, 1 held back, 0 rejected');
    const held = (await soundsIn(sql, category)).find(({ id }) => id === before[0]?.['id']);
    expect(held).toEqual(before[0]);
    const overwriting = await importFolder(folder, '--overwrite');
    expect(overwriting.code).toBe(0);
    expect(overwriting.stdout).toMatch(/update +\S+a\.mp3 +"Deep bowl 1" becomes "Gong", recording/);
  });

  test('and takes a new recording whose title only now says more than its name', async ({ sql, skip }) => {
    skip(!ffmpeg, 'Install ffmpeg to make files with tags.');
    const category = await addCategory(sql);
    const folder = await makeFolder({});
    await encode(folder, `${category}/bowl.mp3`, tone());
    await importFolder(folder);
    await tagged(folder, `${category}/bowl.mp3`, 'Deep bowl');
    const { code, stdout } = await importFolder(folder);
    expect([code, stdout]).toEqual([0, expect.stringContaining('"Bowl" becomes "Deep bowl"')]);
    expect(await soundsIn(sql, category)).toMatchObject([{ title: 'Deep bowl' }]);
  });
});

describe('a sound is known by the content of its recording', () => {
  test('so a file that was renamed or moved keeps its id, favorites and plays', async ({
    api,
    sql,
    user,
  }) => {
    const [category, other] = [await addCategory(sql), await addCategory(sql)];
    const folder = await makeFolder({ [`${category}/a.wav`]: tone(), [`${category}/b.wav`]: tone() });
    await importFolder(folder);
    const [a, b] = await soundsIn(sql, category);
    const auth = { Authorization: `Bearer ${user.access_token}` };
    await api.post('/favorites').set(auth).send({ sound_id: a?.['id'] }).expect(201);
    await api.post(`/sounds/${a?.['id']}/play`).set(auth).expect(200);

    await addFiles(folder, { [`${other}/unused.txt`]: '' });
    await rename(join(folder, category, 'a.wav'), join(folder, other, 'a.wav'));
    await rename(join(folder, category, 'b.wav'), join(folder, category, 'deep bowl.wav'));
    const { code, stdout } = await importFolder(folder);
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`moved +${other}/a\\.wav +was ${category}/a\\.wav`));
    expect(stdout).toMatch(new RegExp(`moved +${category}/deep bowl\\.wav +was ${category}/b\\.wav`));
    expect(stdout).toContain('0 new, 2 to update, 0 unchanged, 0 left alone, 0 rejected; 0 files to upload');
    expect(await soundsIn(sql, other)).toMatchObject([{ id: a?.['id'], audio_path: a?.['audio_path'] }]);
    expect(await soundsIn(sql, category)).toMatchObject([{ id: b?.['id'], title: 'Deep bowl' }]);
    const { body } = await api.get(`/sounds/${a?.['id']}`).auth(user.access_token, bearer).expect(200);
    expect(body.data.play_count).toBe(1);
    const { body: favorites } = await api.get('/favorites').auth(user.access_token, bearer).expect(200);
    expect(favorites.data).toMatchObject([{ sound_id: a?.['id'] }]);
    expect((await importFolder(folder)).stdout).toContain('0 new, 0 to update, 2 unchanged');
  });

  test('so importing a folder below the first one makes nothing twice, whichever changes next', async ({
    sql,
  }) => {
    const category = await addCategory(sql);
    const folder = await makeFolder({ [`${category}/a.wav`]: tone(), [`${category}/b.wav`]: tone() });
    await importFolder(folder);
    const ids = async () => (await soundsIn(sql, category)).map(({ id }) => id);
    const before = await ids();
    const below = await importFolder(join(folder, category));
    expect(below.stdout).toMatch(/note +2 sounds +known from "/);
    expect(below.stdout).toContain('0 new, 0 to update, 2 unchanged');
    await addFiles(folder, { [`${category}/a.wav`]: tone(0.3) });
    await importFolder(folder);
    await addFiles(folder, { [`${category}/b.wav`]: tone(0.4) });
    await importFolder(join(folder, category));
    expect(await ids()).toEqual(before);
    expect((await soundsIn(sql, category)).map(({ duration_sec }) => duration_sec)).toEqual(['0.3', '0.4']);
  });

  test('so what was imported before places were remembered is found again, and not changed', async ({
    sql,
  }) => {
    const category = await addCategory(sql);
    const names = ['a', 'b', 'c', 'd'];
    const folder = await makeFolder(
      Object.fromEntries(names.map((name) => [`${category}/${name}.wav`, tone()])),
    );
    await importFolder(folder);
    // As the upgrade leaves them.
    await sql`
      update public.imported_sounds set checksum = null, places = jsonb_build_array((places -> 0) - 'source')
      where fields ->> 'category' = ${category}`;
    const before = await soundsIn(sql, category);
    await rename(join(folder, category, 'b.wav'), join(folder, category, 'e.wav'));
    await addFiles(folder, { [`${category}/c.wav`]: tone(0.6) });
    expect((await importFolder(folder)).stdout).toContain('0 new, 2 to update, 2 unchanged');
    const after = await soundsIn(sql, category);
    expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    expect([after[0], after[3]]).toEqual([before[0], before[3]]);
    expect(after.map(({ title }) => title)).toEqual(['A', 'E', 'C', 'D']);
  });
});

describe('sounds without a file of their own', () => {
  test('share a recording, or have none, and are told apart by their keys', async ({ sql }) => {
    const category = await addCategory(sql);
    const sheet = (title: string) => `file,key,title,category
${category}/a.wav,,First,
${category}/a.wav,short,${title},${category}
,silence,Silence,${category}
,,Nothing yet,${category}
`;
    const folder = await makeFolder({ [`${category}/a.wav`]: tone(), 'sounds.csv': sheet('Second') });
    expect(await importFolder(folder)).toMatchObject({ code: 0, stderr: '' });
    const before = await soundsIn(sql, category);
    expect(before.map(({ title }) => title)).toEqual(['First', 'Second', 'Silence', 'Nothing yet']);
    expect(before.map(({ audio_version }) => audio_version !== null)).toEqual([true, true, false, false]);
    expect(before[0]?.['audio_path']).toBe(before[1]?.['audio_path']);
    await rename(join(folder, category, 'a.wav'), join(folder, category, 'b.wav'));
    await addFiles(folder, { 'sounds.csv': sheet('Shorter').replaceAll('/a.wav', '/b.wav') });
    const { stdout } = await importFolder(folder);
    expect(stdout).toContain('0 new, 1 to update, 3 unchanged, 0 left alone, 0 rejected; 0 files to upload');
    const after = await soundsIn(sql, category);
    expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    expect(after[1]).toMatchObject({ title: 'Shorter' });
  });
});

test('a recording that left a symbolic link at its old place has moved', async ({ sql }) => {
  const category = await addCategory(sql);
  const folder = await makeFolder({ [`${category}/a.wav`]: tone() });
  await importFolder(folder);
  const before = await soundsIn(sql, category);
  await rename(join(folder, category, 'a.wav'), join(folder, category, 'gong.wav'));
  await symlink('gong.wav', join(folder, category, 'a.wav'));
  const { stdout } = await importFolder(folder);
  expect(stdout).toMatch(/moved +\S+gong\.wav +was \S+a\.wav\n/);
  expect(stdout).toMatch(/note +\S+a\.wav +A copy of \S+gong\.wav: not imported\.\n/);
  const [sound, ...others] = await soundsIn(sql, category);
  expect([sound?.['id'], sound?.['title'], others]).toEqual([before[0]?.['id'], 'Gong', []]);
});

test('the plan says what is moved, gone, a copy and replaced, and does nothing', async ({ sql }) => {
  const category = await addCategory(sql);
  const recording = tone();
  const folder = await makeFolder({ [`${category}/a.wav`]: recording, [`${category}/b.wav`]: tone() });
  await importFolder(folder);
  const before = await soundsIn(sql, category);
  await rename(join(folder, category, 'a.wav'), join(folder, category, 'gong.wav'));
  await rm(join(folder, category, 'b.wav'));
  await addFiles(folder, { [`${category}/hum.wav`]: recording });
  const { code, stdout } = await importFolder(folder, '--dry-run');
  expect(code).toBe(0);
  expect(stdout).toMatch(/update +\S+gong\.wav +"A" becomes "Gong"\n/);
  expect(stdout).toMatch(/moved +\S+gong\.wav +was \S+a\.wav\n/);
  expect(stdout).toMatch(/note +\S+hum\.wav +A copy of \S+gong\.wav: not imported\.\n/);
  expect(stdout).toMatch(/note +\S+b\.wav +Gone from the folder\. Its sound "B" is left alone\.\n/);
  expect(await soundsIn(sql, category)).toEqual(before);
});

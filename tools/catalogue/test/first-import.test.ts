import { expect, inject } from 'vitest';
import { tone } from '../../../test/support/audio.ts';
import { addCategory } from '../../../test/support/catalogue.ts';
import { test } from '../../../test/support/test.ts';
import { importAsking, imported, importFolder, makeFolder, picture, soundsIn } from './folder.ts';

test('names, pictures and the order of new sounds come from the folder', async ({ sql }) => {
  const other = await addCategory(sql);
  // Times that the sounds of an import get otherwise.
  await sql`
    insert into public.sounds (title, category, created_at)
    select 'Taken', ${other}, now() + make_interval(secs => 0.003 * number) from generate_series(1, 1000) as number`;
  const { code, stderr, category, sounds } = await imported(sql, {
    '@/01 - deep_bowl.wav': tone(),
    '@/Bowl 2.wav': tone(),
    '@/Bowl 10.wav': tone(),
    '@/bowl-10.wav': tone(),
    '@/Rain & Wind #2.WAV': tone(),
    '@/Rain & Wind #2.png': await picture('png'),
    '@/Cover.jpeg': await picture(),
    '@/Ünïcode/ärger 雨.wav': tone(),
    '@/Ünïcode/雨.wav': tone(),
    '@/Ünïcode/雪.wav': tone(),
  });
  expect([code, stderr]).toEqual([0, '']);
  const found = await sounds();
  const short = (path: string | null) => path?.replace(/[0-9a-f]{12}/, 'x').replace(category, 'c') ?? null;
  expect(
    found.map(({ title, audio_path, cover_image_path }) => [
      title,
      short(audio_path),
      short(cover_image_path),
    ]),
  ).toEqual([
    ['Deep bowl', 'c/01-deep-bowl-x.wav', 'c/cover-x.jpeg'],
    ['Bowl 2', 'c/bowl-2-x.wav', 'c/cover-x.jpeg'],
    ['Bowl 10', 'c/bowl-10-x.wav', 'c/cover-x.jpeg'],
    ['Bowl 10', 'c/bowl-10-x.wav', 'c/cover-x.jpeg'],
    ['Rain & Wind #2', 'c/rain-and-wind-2-x.wav', 'c/cover-x.png'],
    ['Ärger 雨', 'c/uenicode/aerger-x.wav', null],
    ['雨', 'c/uenicode/sound-x.wav', null],
    ['雪', 'c/uenicode/sound-x.wav', null],
  ]);
  expect(new Set(found.map(({ audio_path }) => audio_path)).size).toBe(found.length);
  expect(
    found.filter((each) => !each['audio_version'] || (each['cover_image_path'] && !each['cover_version'])),
  ).toEqual([]);
});

test('--hidden makes inactive sounds, and keeps those that the dashboard has activated', async ({ sql }) => {
  const { category, again, sounds } = await imported(sql, { '@/a.wav': tone() }, '--hidden');
  expect(await sounds()).toMatchObject([{ is_active: false }]);
  await sql`update public.sounds set is_active = true where category = ${category}`;
  expect((await again('--hidden')).stdout).toContain('0 new, 0 to update, 1 unchanged');
  expect(await sounds()).toMatchObject([{ is_active: true }]);
});

test('without --yes or a terminal, and with --dry-run, an import changes nothing', async ({ sql }) => {
  const category = await addCategory(sql);
  const folder = await makeFolder({ [`${category}/a.wav`]: tone() });
  const dry = await importFolder(folder, '--dry-run');
  expect([dry.code, dry.stdout]).toEqual([
    0,
    expect.stringMatching(new RegExp(`new +${category}/a.wav +A \\(${category}\\)\\n`)),
  ]);
  expect(dry.stdout).toContain('1 new, 0 to update, 0 unchanged, 0 left alone, 0 rejected; 1 file to upload');
  const unasked = await importAsking(inject('stack'), folder);
  expect(unasked.code).toBe(1);
  expect(unasked.stderr).toMatch(/^There is no terminal to confirm in\. [^\n]+\n$/);
  expect(await soundsIn(sql, category)).toEqual([]);
  expect(await sql`select from storage.objects where name like ${`${category}/%`}`).toEqual([]);
  await importFolder(folder);
  expect(await importAsking(inject('stack'), folder)).toMatchObject({ code: 0, stderr: '' });
});

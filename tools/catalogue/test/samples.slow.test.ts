import { readFileSync, statSync } from 'node:fs';
import postgres from 'postgres';
import sharp from 'sharp';
import { expect } from 'vitest';
import { startDatabase } from '../../../test/support/prepared.ts';
import { test } from '../../../test/support/test.ts';
import { walk } from '../read/walk.ts';
import { readFolder } from './folder.ts';

test('the sample catalogue has rows of every kind, and small files that match them', { tags: ['ffmpeg'] }, async () => {
  const { databaseUrl, stop } = await startDatabase();
  const sql = postgres(databaseUrl, { onnotice() {} });
  await sql.file('supabase/seed.sql').simple();
  for (const bucket_id of ['audio', 'covers']) {
    const { recordings, pictures } = await walk(`supabase/samples/${bucket_id}`, new Map());
    const files = [...recordings, ...pictures].map(([name, { source, type: mimetype }]) => {
      return { bucket_id, name, metadata: { mimetype, size: statSync(source).size } };
    });
    await sql`insert into storage.objects ${sql(files)}`;
  }
  // The samples contain one problem as an example.
  const problems = await sql`select concerns from admin.catalogue_problems`;
  expect(problems).toEqual([{ concerns: 'category "winter-evenings"' }]);
  const [checks = {}] = await sql`
    select
      count(*) filter (where is_active) >= 30 as sounds,
      count(*) filter (where is_active and is_featured) >= 5 as featured_sounds,
      bool_or(not is_active) and count(distinct sort_order) < count(*) as hidden_sounds_and_equal_orders,
      (select bool_or(not is_active) and count(*) filter (where is_active and parent_id is null) >= 4
        from public.categories) as intentions,
      (select bool_or(not is_active) and bool_or(rule_include_children) and
        array_agg(distinct coalesce(rule_type, mode)) = '{category,featured,manual,newest}'
        from public.home_sections) as sections,
      (select sum((metadata ->> 'size')::int) < 5000000 from storage.objects) as small_files
    from public.sounds`;
  expect(Object.keys(checks).filter((name) => checks[name] !== true)).toEqual([]);

  const covers =
    await sql`select distinct cover_image_path as path from public.sounds where cover_image_path is not null`;
  for (const { path } of covers) {
    const { format, width, height } = await sharp(`supabase/samples/covers/${path}.256.webp`).metadata();
    expect({ format, width, height }, path).toEqual({ format: 'webp', width: 256, height: 256 });
  }

  const folder = 'supabase/samples/audio';
  const { sounds } = await readFolder(folder);
  const found = new Map(sounds.map((sound) => [sound.file, sound]));
  for (const { path, seconds, loudness, waveform, placeholder } of await sql`
    select audio_path as path, duration_sec::float as seconds, loudness_lufs::float as loudness, waveform,
      cover_placeholder as placeholder
    from public.sounds where audio_path is not null`) {
    const { fields, audio } = found.get(path) ?? {};
    expect(fields?.duration_sec, path).toBeCloseTo(seconds, 1);
    expect(placeholder, path).toEqual(expect.any(String));
    // Releases of ffmpeg differ in rounding.
    expect(audio?.facts?.loudness_lufs, path).toBeCloseTo(loudness, 0);
    const differences = waveform.map((peak: number, part: number) => peak - (audio?.facts?.waveform?.[part] ?? 0));
    expect(Math.max(...differences.map(Math.abs)), path).toBeLessThanOrEqual(2);
    // `supabase start` detects the type by the brands at the start of the file (ISO/IEC 14496-12, 4.3).
    if (path.endsWith('.m4a')) expect(readFileSync(`${folder}/${path}`, 'latin1').slice(8, 28)).toContain('mp42');
  }
  await sql.end();
  await stop();
});

test('supabase/config.toml describes the buckets as the migrations do', async ({ sql }) => {
  const settings = readFileSync('supabase/config.toml', 'utf8');
  const buckets = await sql`
    select id, public, file_size_limit / 1024 / 1024 as megabytes, allowed_mime_types as types from storage.buckets`;
  expect(buckets).toHaveLength(2);
  for (const { id, public: isPublic, megabytes, types } of buckets) {
    const [, section = ''] = settings.split(`\n[storage.buckets.${id}]\n`);
    const [limits = '', names = ''] = section.split(/allowed_mime_types = |\nobjects_path = .*\n/);
    expect(limits).toBe(`public = ${isPublic}\nfile_size_limit = "${megabytes}MiB"\n`);
    const allowed = Array.from(names.matchAll(/"(.+?)"/g), ([, type]) => type);
    // The CLI detects these types for .wav and .m4a.
    expect(allowed.filter((type) => type !== 'audio/wave' && type !== 'video/mp4')).toEqual(types);
  }
});

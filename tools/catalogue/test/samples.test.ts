import { readFileSync, statSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { extname } from 'node:path';
import { fileTypeFromFile } from 'file-type';
import { parseFile } from 'music-metadata';
import postgres from 'postgres';
import { beforeAll, expect, test } from 'vitest';
import { startDatabase } from '../../../test/support/prepared.ts';

const samples = 'supabase/samples';
let sql: postgres.Sql;

beforeAll(async () => {
  const { databaseUrl, stop } = await startDatabase();
  sql = postgres(databaseUrl, { onnotice() {} });
  await sql.file('supabase/seed.sql').simple();
  return async () => {
    await sql.end();
    await stop();
  };
});

test('the sample catalogue has thirty sounds, four intentions, and rows of every kind', async () => {
  const [checks = {}] = await sql`
    select
      count(*) filter (where is_active) >= 30 as sounds, count(distinct title) = count(*) as titles,
      max(created_at) < now() as past, count(*) filter (where is_active and is_featured) >= 5 as featured_sounds,
      bool_or(not is_active) and count(distinct sort_order) < count(*) as hidden_sounds_and_equal_orders,
      count(bowl_note) > 5 and bool_and(bowl_note is null or
        abs(frequency_hz - 440 * 2 ^ (note[2]::int - 4 + (semitone - 10) / 12.0)) < 0.05) as tuned_bowls,
      (select bool_or(not is_active) and count(*) filter (where is_active and parent_id is null) >= 4
        from public.categories) as intentions,
      not exists (select from public.categories as category where is_active and not exists (
        select from public.sounds left join public.categories as child on child.slug = sounds.category
        where sounds.is_active and (category.slug = sounds.category or category.id = child.parent_id))) as filled,
      (select bool_or(not is_active) and bool_or(rule_include_children) and
        array_agg(distinct coalesce(rule_type, mode)) = '{category,featured,manual,newest}'
        from public.home_sections) as sections
    from public.sounds left join regexp_match(bowl_note, '^(.+)(\\d)$') as note on true
      left join array_position('{C,C#,D,D#,E,F,F#,G,G#,A,A#,B}', note[1]) as semitone on true`;
  expect(Object.keys(checks).filter((name) => checks[name] !== true)).toEqual([]);
});

test('the sample files are those that sounds name, as long as stated, and small', async () => {
  const sounds = await sql`select audio_path, cover_image_path, duration_sec from public.sounds`;
  const filesOf = async (bucket: string, column: string) => {
    const files = await Array.fromAsync(glob('**/*.*', { cwd: `${samples}/${bucket}` }));
    expect(files.sort()).toEqual([...new Set(sounds.flatMap((row) => row[column] ?? []))].sort());
    return files.map((path) => ({ path, file: `${samples}/${bucket}/${path}` }));
  };
  const [recordings, covers] = [
    await filesOf('audio', 'audio_path'),
    await filesOf('covers', 'cover_image_path'),
  ];
  expect([recordings.length, covers.length]).toEqual([16, 16]);
  const bytes = [...recordings, ...covers].reduce((sum, { file }) => sum + statSync(file).size, 0);
  expect(bytes).toBeLessThan(5_000_000);
  for (const { file, path } of recordings) {
    const { format } = await parseFile(file, { duration: true });
    for (const { duration_sec } of sounds.filter(({ audio_path }) => audio_path === path))
      expect(Math.abs((format.duration ?? 0) - Number(duration_sec)), path).toBeLessThan(0.1);
    expect(format.duration, path).toSatisfy((seconds: number) => seconds >= 20 && seconds < 40.1);
    expect(`.${(await fileTypeFromFile(file))?.ext}`, path).toBe(extname(path));
    // `supabase start` takes the type from the brands at the start (ISO/IEC 14496-12, 4.3).
    if (path.endsWith('.m4a')) expect(readFileSync(file).toString('latin1', 8, 28), path).toContain('mp42');
  }
  for (const { file } of covers) {
    expect((await fileTypeFromFile(file))?.mime, file).toBe('image/jpeg');
    expect(statSync(file).size, file).toBeLessThan(60_000);
  }
});

test('the settings of `supabase start` describe the buckets as the migrations do', async () => {
  const settings = readFileSync('supabase/config.toml', 'utf8');
  const buckets = await sql`
    select id, public, file_size_limit / 1024 / 1024 as megabytes, allowed_mime_types as types from storage.buckets`;
  expect(buckets).toHaveLength(2);
  for (const { id, public: isPublic, megabytes, types } of buckets) {
    const [, section = ''] = settings.split(`[storage.buckets.${id}]`);
    const own = section.split('\n[')[0] ?? '';
    expect(own).toContain(`\npublic = ${isPublic}\nfile_size_limit = "${megabytes}MiB"\n`);
    expect(own).toContain(`\nobjects_path = "./samples/${id}"\n`);
    const allowed = [...own.matchAll(/"(\w+\/[\w.+-]+)"/g)].map(([, type]) => type);
    // The CLI detects these types for .wav and .m4a.
    expect(allowed.filter((type) => type !== 'audio/wave' && type !== 'video/mp4')).toEqual(types);
  }
});

import { readFileSync, statSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { extname } from 'node:path';
import { fileTypeFromFile } from 'file-type';
import type { ScratchDatabase } from 'local-supabase/scratch-database';
import { parseFile } from 'music-metadata';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startDatabase } from '../../../test/support/prepared.ts';

const samples = 'supabase/samples';
const paths = async (folder: string) =>
  (await Array.fromAsync(glob('**/*.*', { cwd: `${samples}/${folder}` }))).sort();
const [recordings, covers] = (await Promise.all(['audio', 'covers'].map(paths))) as [string[], string[]];

describe('the sample catalogue', () => {
  let database: ScratchDatabase;
  let sql: postgres.Sql;
  let sounds: postgres.Row[];

  beforeAll(async () => {
    database = await startDatabase();
    sql = postgres(database.databaseUrl, { onnotice() {} });
    await sql.file('supabase/seed.sql').simple();
    sounds = await sql`select * from public.sounds`;
  });

  afterAll(async () => {
    await sql?.end();
    await database?.stop();
  });

  test('offers at least thirty active sounds in at least four active intentions', async () => {
    const active = sounds.filter((row) => row['is_active']);
    expect(active.length).toBeGreaterThanOrEqual(30);
    expect(active.filter((row) => row['is_featured']).length).toBeGreaterThanOrEqual(5);
    const intentions = await sql`select from public.categories where is_active and parent_id is null`;
    expect(intentions.length).toBeGreaterThanOrEqual(4);
    const empty = await sql`
      select slug from public.categories as category where is_active and not exists (
        select from public.sounds left join public.categories as child on child.slug = sounds.category
        where sounds.is_active and (category.slug = sounds.category or category.id = child.parent_id))`;
    expect(empty).toEqual([]);
  });

  test('has hidden rows, both modes, every rule and equal sort orders', async () => {
    for (const table of ['sounds', 'categories', 'home_sections'])
      expect(await sql`select from ${sql(table)} where not is_active`, table).not.toEqual([]);
    const rules = await sql`select distinct coalesce(rule_type, mode) as rule from public.home_sections`;
    expect(rules.map(({ rule }) => rule).sort()).toEqual(['category', 'featured', 'manual', 'newest']);
    expect(await sql`select from public.home_sections where rule_include_children`).not.toEqual([]);
    expect(new Set(sounds.map((row) => row['sort_order'])).size).toBeLessThan(sounds.length);
  });

  test('gives every sound a title of its own and a created_at in the past', () => {
    expect(new Set(sounds.map((row) => row['title'])).size).toBe(sounds.length);
    for (const row of sounds) expect(row['created_at'].getTime()).toBeLessThan(Date.now());
  });

  test('gives every bowl the frequency of its note', () => {
    const bowls = sounds.filter((row) => row['bowl_note']);
    expect(bowls.length).toBeGreaterThan(5);
    for (const { bowl_note: note, frequency_hz: hz } of bowls) {
      const [, name, octave] = /^(.+)(\d)$/.exec(note) ?? [];
      const semitones = ['C', 'C#', 'D', 'D#', 'E', 'F', 'F#', 'G', 'G#', 'A', 'A#', 'B'].indexOf(name ?? '');
      expect(Number(hz), note).toBeCloseTo(440 * 2 ** (Number(octave) - 4 + (semitones - 9) / 12), 1);
    }
  });

  test('names every sample file, and no other', () => {
    const named = (column: string) => [...new Set(sounds.flatMap((row) => row[column] ?? []))].sort();
    expect(named('audio_path')).toEqual(recordings);
    expect(named('cover_image_path')).toEqual(covers);
  });

  test('states how long each recording plays', async () => {
    for (const { audio_path: path, duration_sec: stated } of sounds) {
      if (path === null) continue;
      const { format } = await parseFile(`${samples}/audio/${path}`, { duration: true });
      expect(Math.abs((format.duration ?? 0) - Number(stated)), path).toBeLessThan(0.1);
    }
  });

  test('goes into the buckets that the settings of `supabase start` describe as the migrations do', async () => {
    const settings = readFileSync('supabase/config.toml', 'utf8');
    const buckets = await sql`
      select id, public, file_size_limit / 1024 / 1024 as megabytes, allowed_mime_types as types from storage.buckets`;
    expect(buckets).toHaveLength(2);
    for (const { id, public: isPublic, megabytes, types } of buckets) {
      const [section = ''] =
        new RegExp(`\\[storage\\.buckets\\.${id}\\][^[]+(\\[[^\\]]*\\][^[]*)`).exec(settings) ?? [];
      expect(section).toContain(`\npublic = ${isPublic}\nfile_size_limit = "${megabytes}MiB"\n`);
      expect(section).toContain(`\nobjects_path = "./samples/${id}"\n`);
      const named = [...section.matchAll(/"(\w+\/[\w.+-]+)"/g)].map(([, type]) => type);
      // The CLI detects these types for .wav and .m4a.
      expect(named.filter((type) => type !== 'audio/wave' && type !== 'video/mp4')).toEqual(types);
    }
  });
});

test('the samples are at most 16 recordings of 20 to 40 s, at most 16 covers, and 5 MB', async () => {
  expect([recordings.length, covers.length]).toEqual([16, 16]);
  const files = [...recordings.map((path) => `audio/${path}`), ...covers.map((path) => `covers/${path}`)];
  const bytes = files.reduce((sum, path) => sum + statSync(`${samples}/${path}`).size, 0);
  expect(bytes).toBeLessThan(5_000_000);
  expect(new Set(recordings.map((path) => extname(path)))).toEqual(new Set(['.m4a', '.mp3', '.wav']));
  for (const path of recordings) {
    const { format } = await parseFile(`${samples}/audio/${path}`, { duration: true });
    expect(format.duration, path).toBeGreaterThanOrEqual(20);
    expect(format.duration, path).toBeLessThan(40.1);
    const found = await fileTypeFromFile(`${samples}/audio/${path}`);
    expect(`.${found?.ext}`, path).toBe(extname(path));
  }
  for (const path of covers) {
    expect((await fileTypeFromFile(`${samples}/covers/${path}`))?.mime, path).toBe('image/jpeg');
    expect(statSync(`${samples}/covers/${path}`).size, path).toBeLessThan(60_000);
  }
});

// It takes a file's type from its first bytes; major and compatible brands are four letters each (ISO/IEC 14496-12, 4.3).
test('`supabase start` recognises every recording as one of the types that it allows', () => {
  for (const path of recordings.filter((file) => file.endsWith('.m4a'))) {
    const brands = readFileSync(`${samples}/audio/${path}`).toString('latin1', 8, 28);
    expect(brands.match(/.{4}/gs), path).toContain('mp42');
  }
});

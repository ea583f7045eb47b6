import { readFileSync } from 'node:fs';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { noteHz } from '../dev/seed/audio/note.ts';
import { AUDIO_RECIPES, makeAudio } from '../dev/seed/audio-recipes.ts';
import { COVER_RECIPES, makeCover } from '../dev/seed/cover-recipes.ts';

const sql = readFileSync(new URL('../supabase/seed.sql', import.meta.url), 'utf8');
const [categories, sounds, sections] = ['categories', 'sounds', 'home_sections'].map(rowsOf) as [
  Row[],
  Row[],
  Row[],
];
const bowls = sounds.filter((sound) => sound['bowl_note'] && sound['audio_path']);

describe('the seeded catalogue', () => {
  it('offers at least thirty active sounds in at least four active intentions', () => {
    expect(sounds.filter(isActive).length).toBeGreaterThanOrEqual(30);
    expect(
      categories.filter((row) => isActive(row) && row['parent_id'] === null).length,
    ).toBeGreaterThanOrEqual(4);
    expect(sounds.filter((row) => isActive(row) && row['is_featured']).length).toBeGreaterThanOrEqual(5);
  });

  it('has every kind of row that an app meets: hidden ones, both modes, every rule, equal sort orders', () => {
    for (const rows of [categories, sounds, sections]) expect(rows.some((row) => !isActive(row))).toBe(true);
    expect(new Set(sections.map((row) => row['rule_type'] ?? row['mode']))).toEqual(
      new Set(['manual', 'featured', 'category', 'newest']),
    );
    expect(sections.some((row) => row['rule_include_children'])).toBe(true);
    expect(new Set(sounds.map((row) => row['sort_order'])).size).toBeLessThan(sounds.length);
  });

  it('gives every sound a unique id, title and created_at, all in the past', () => {
    for (const column of ['id', 'title', 'created_at']) {
      expect(new Set(sounds.map((row) => row[column])).size, column).toBe(sounds.length);
    }
    for (const row of sounds) expect(Date.parse(String(row['created_at']))).toBeLessThan(Date.now());
  });

  it('refers only to intentions and sounds that exist', () => {
    const slugs = new Set(categories.map((row) => row['slug']));
    const named = [
      ...sounds.map((row) => row['category']),
      ...sections.map((row) => row['rule_value'] ?? null),
    ];
    for (const slug of named) expect(slug === null || slugs.has(slug), String(slug)).toBe(true);
    const ids = new Set(sounds.map((row) => row['id']));
    for (const pick of rowsOf('home_section_sounds')) expect(ids.has(pick['sound_id'] ?? null)).toBe(true);
  });

  it('has exactly one recipe for each file that it refers to', () => {
    const pathsIn = (column: string) => sounds.flatMap((row) => row[column] ?? []).sort();
    expect(pathsIn('audio_path')).toEqual(Object.keys(AUDIO_RECIPES).sort());
    expect(pathsIn('cover_image_path')).toEqual(Object.keys(COVER_RECIPES).sort());
  });

  it('gives every bowl the frequency of its note', () => {
    for (const row of sounds.filter((sound) => sound['bowl_note'])) {
      expect(row['frequency_hz'], String(row['title'])).toBeCloseTo(noteHz(String(row['bowl_note'])), 1);
    }
  });
});

describe('the audio files', () => {
  it.each(Object.keys(AUDIO_RECIPES))('%s is a valid WAV file of the duration in the catalogue', (path) => {
    const { channels, sampleRate, declaredBytes, samples } = wavOf(path);
    const row = sounds.find((sound) => sound['audio_path'] === path);
    expect(declaredBytes).toBe(samples.byteLength);
    expect(samples.length / channels / sampleRate).toBe(row?.['duration_sec']);
    let peak = 0;
    for (const sample of samples) peak = Math.max(peak, Math.abs(sample) / 32_768);
    expect(peak).toBeGreaterThan(0.1);
    expect(peak).toBeLessThan(0.71);
    for (const end of [samples.subarray(0, channels), samples.subarray(-channels)]) {
      for (const sample of end) expect(Math.abs(sample)).toBeLessThan(64);
    }
  });

  it.each(bowls.map((row) => [row['title'], row]))('%s has the frequency in the catalogue', (_title, row) => {
    const { samples, sampleRate } = wavOf(String(row['audio_path']));
    const stated = Number(row['frequency_hz']);
    expect(Math.abs(strongestHz(samples, sampleRate) - stated) / stated).toBeLessThan(0.01);
  });

  it('are generated deterministically', () => {
    for (const path of [
      'bowls/c4-singing-bowl.wav',
      'rain/steady-rain.wav',
      'metal/garden-wind-chimes.wav',
    ]) {
      expect(makeAudio(path).equals(makeAudio(path)), path).toBe(true);
    }
  });
});

describe('the covers', () => {
  it('are JPEG files of 800 x 800 pixels below 60 kB, all different', async () => {
    const pictures = new Set<string>();
    for (const path of Object.keys(COVER_RECIPES)) {
      const file = await makeCover(path);
      expect(await sharp(file).metadata(), path).toMatchObject({ format: 'jpeg', width: 800, height: 800 });
      expect(file.length, path).toBeLessThan(60_000);
      pictures.add(file.toString('base64'));
    }
    expect(pictures.size).toBe(Object.keys(COVER_RECIPES).length);
  });

  it('are generated deterministically', async () => {
    const path = 'rain/steady-rain.jpg';
    expect((await makeCover(path)).equals(await makeCover(path))).toBe(true);
  });
});

type Row = Record<string, string | number | boolean | null>;

function isActive(row: Row): boolean {
  return row['is_active'] !== false;
}

/** The rows that seed.sql inserts into a table. The file keeps to plain literals, so that they can be read here. */
function rowsOf(table: string): Row[] {
  const statements = sql.matchAll(
    new RegExp(`insert into public\\.${table}\\s+\\(([^)]+)\\)\\s+values([\\s\\S]+?)\\non conflict`, 'g'),
  );
  return [...statements].flatMap(([, names = '', values = '']) => {
    const columns = names.split(',').map((name) => name.trim());
    const literals = [...values.matchAll(/'((?:[^']|'')*)'|\b(null|true|false|-?\d+(?:\.\d+)?)\b/g)];
    expect(literals.length % columns.length, table).toBe(0);
    return Array.from({ length: literals.length / columns.length }, (_, row) =>
      Object.fromEntries(
        columns.map((column, index) => [column, readLiteral(literals[row * columns.length + index])]),
      ),
    );
  });
}

function readLiteral(literal: RegExpMatchArray | undefined): string | number | boolean | null {
  const [, text, word = ''] = literal ?? [];
  return text === undefined ? JSON.parse(word) : text.replaceAll("''", "'");
}

const wavs = new Map<string, ReturnType<typeof readWav>>();

function wavOf(path: string) {
  const wav = wavs.get(path) ?? readWav(makeAudio(path));
  wavs.set(path, wav);
  return wav;
}

function readWav(file: Buffer) {
  expect(file.toString('latin1', 0, 4) + file.toString('latin1', 8, 16)).toBe('RIFFWAVEfmt ');
  expect(file.readUInt32LE(4)).toBe(file.length - 8);
  expect([file.readUInt16LE(20), file.readUInt16LE(34)]).toEqual([1, 16]);
  expect(file.toString('latin1', 36, 40)).toBe('data');
  const samples = new Int16Array(file.buffer.slice(file.byteOffset + 44, file.byteOffset + file.length));
  return {
    channels: file.readUInt16LE(22),
    sampleRate: file.readUInt32LE(24),
    declaredBytes: file.readUInt32LE(40),
    samples,
  };
}

/** The strongest of the frequencies from 60 to 4,000 Hz, a quarter of a percent apart, soon after the first stroke. */
function strongestHz(samples: Int16Array, sampleRate: number): number {
  const part = samples.subarray(sampleRate * 3, sampleRate * 3.5);
  let [strongest, strongestPower] = [0, 0];
  for (let hz = 60; hz < 4_000; hz *= 1.0025) {
    const power = goertzel(part, (2 * Math.PI * hz) / sampleRate);
    if (power > strongestPower) [strongest, strongestPower] = [hz, power];
  }
  return strongest;
}

function goertzel(samples: Int16Array, angle: number): number {
  const twist = 2 * Math.cos(angle);
  let before = 0;
  let last = 0;
  for (const sample of samples) {
    const next = sample + twist * last - before;
    before = last;
    last = next;
  }
  return last * last + before * before - twist * last * before;
}

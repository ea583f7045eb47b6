import type { SupabaseClient } from '@supabase/supabase-js';
import { type Facts, factsToWrite } from '../shared/fields.ts';
import { allRows, upsertRow } from './database.ts';

/** Version of the rules by which recordings are measured. Version 1 measured mono 3 LU too quiet. */
export const currentVersion = 2;

/** Measurements of the content of a recording. */
export interface Measured {
  /** Version of the rules; undefined for 1. */
  version?: number;
  /** SHA-256 of the audio without tags, in hex. */
  audio_checksum: string;
  facts: Facts & { duration_sec: number };
  /** Facts that it replaces, which sounds may still have. */
  outdated?: Facts | null;
}

export const isCurrent = ({ version = 1 }: Measured) => version === currentVersion;

export type Measurements = ReturnType<typeof createMeasurements>;

/**
 * Returns measurements by the SHA-256 of the file, so that each file is decoded once.
 * @param kept measurements of earlier runs
 * @param store stores new measurements
 */
export function createMeasurements(
  kept: Map<string, Measured> = new Map(),
  store?: (checksum: string, measured: Measured) => Promise<void>,
) {
  const running = new Map<string, Promise<Measured | undefined>>();

  async function renew(checksum: string, measure: () => Promise<Measured | undefined>): Promise<Measured | undefined> {
    const old = kept.get(checksum);
    if (old && isCurrent(old)) return old;
    const measured = await measure();
    if (!measured) return old;
    const renewed = old ? { ...measured, outdated: old.facts } : measured;
    kept.set(checksum, renewed);
    await store?.(checksum, renewed);
    return renewed;
  }

  return {
    get: (checksum: string) => kept.get(checksum),

    /** Returns a function that tells whether a sound has facts of an older version. */
    findOutdated() {
      const renewable = [...kept.values()].filter((each) => each.outdated || !isCurrent(each));
      const waveformOf = ({ waveform }: Facts) => JSON.stringify(waveform);
      const byWaveform = Map.groupBy(renewable, ({ facts, outdated }) => waveformOf(outdated ?? facts));
      return (row: Facts) =>
        (byWaveform.get(waveformOf(row)) ?? []).some(
          (each) => !isCurrent(each) || Object.keys(factsToWrite(row, each.facts, each.outdated)).length > 0,
        );
    },

    /** Identifies the audio of a file. Without a measurement, only files of equal bytes have equal audio. */
    audioOf: (checksum: string | null | undefined) => kept.get(checksum ?? '')?.audio_checksum ?? checksum ?? undefined,

    /**
     * Returns the measurement of a file. Calls `measure` once if there is none, or only one of an older version.
     * @param measure returns undefined without ffmpeg
     */
    once(checksum: string, measure: () => Promise<Measured | undefined>): Promise<Measured | undefined> {
      const renewing = running.get(checksum) ?? renew(checksum, measure);
      running.set(checksum, renewing);
      return renewing;
    },
  };
}

/**
 * Reads the measurements of earlier runs.
 * @param isStored whether new ones are stored; a dry run does not
 * @throws ImportError
 */
export async function readMeasurements(client: SupabaseClient, isStored: boolean): Promise<Measurements> {
  const rows = await allRows(client, 'imported_files', 'checksum');
  const kept = new Map(rows.map(({ checksum, ...measured }) => [checksum, measured as unknown as Measured]));
  const store = (checksum: string, measured: Measured) =>
    upsertRow(client, 'imported_files', { checksum, ...measured }, 'checksum');
  return createMeasurements(kept, isStored ? store : undefined);
}

import type { SupabaseClient } from '@supabase/supabase-js';
import type { Facts } from '../shared/fields.ts';
import { allRows, upsertRow } from './database.ts';

/** Measurements of the content of a recording. */
export interface Measured {
  /** SHA-256 of the audio without tags, in hex. */
  audio_checksum: string;
  facts: Facts & { duration_sec: number };
}

/** Measurements by the SHA-256 of the file, so that each file is decoded once. */
export class Measurements extends Map<string, Measured> {
  readonly #running = new Map<string, Promise<Measured | undefined>>();
  /** Stores new measurements. A dry run does not. */
  store: ((checksum: string, measured: Measured) => Promise<void>) | undefined;

  /** Identifies the audio of a file. Without a measurement, only files of equal bytes have equal audio. */
  audioOf = (checksum: string | null | undefined) => this.get(checksum ?? '')?.audio_checksum ?? checksum ?? undefined;

  /** Returns the measurement of a file. Calls `measure` once if there is none. */
  async once(checksum: string, measure: () => Promise<Measured | undefined>): Promise<Measured | undefined> {
    if (this.has(checksum)) return this.get(checksum);
    const running = this.#running.get(checksum) ?? measure();
    this.#running.set(checksum, running);
    const measured = await running;
    if (!measured || this.has(checksum)) return measured;
    this.set(checksum, measured);
    await this.store?.(checksum, measured);
    return measured;
  }
}

/** @throws ImportError */
export async function readMeasurements(client: SupabaseClient): Promise<Measurements> {
  const rows = await allRows(client, 'imported_files', 'checksum');
  const measurements = new Measurements(rows.map(({ checksum, ...measured }) => [checksum, measured as Measured]));
  measurements.store = (checksum, measured) =>
    upsertRow(client, 'imported_files', { checksum, ...measured }, 'checksum');
  return measurements;
}

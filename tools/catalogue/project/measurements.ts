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
  readonly #running = new Map<string, Promise<Measured>>();

  /** Identifies the audio of a file. Without a measurement, only files of equal bytes have equal audio. */
  audioOf = (checksum: string | null | undefined) => this.get(checksum ?? '')?.audio_checksum ?? checksum ?? undefined;

  /** Returns the measurement of a file. Calls `measure` once if there is none. */
  async once(checksum: string, measure: () => Promise<Measured>): Promise<Measured> {
    const measuring = this.get(checksum) ?? this.#running.get(checksum) ?? measure();
    if (measuring instanceof Promise) this.#running.set(checksum, measuring);
    const measured = await measuring;
    this.set(checksum, measured);
    return measured;
  }
}

/** @throws ImportError */
export async function readMeasurements(client: SupabaseClient): Promise<Measurements> {
  const rows = await allRows<Measured & { checksum: string }>(client, 'imported_files', 'checksum');
  return new Measurements(rows.map(({ checksum, audio_checksum, facts }) => [checksum, { audio_checksum, facts }]));
}

export const storeMeasurement = (client: SupabaseClient, checksum: string, measured: Measured) =>
  upsertRow(client, 'imported_files', { checksum, ...measured }, 'checksum');

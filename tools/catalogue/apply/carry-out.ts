import type { SupabaseClient } from '@supabase/supabase-js';
import PQueue from 'p-queue';
import { isChanging, type Step } from '../plan/plan.ts';
import { insertSound, updateFacts, updateSound, upsertRow } from '../project/database.ts';
import { nameOf } from '../project/storage.ts';
import type { Connection } from '../project/supabase.ts';
import { columnsOf } from '../shared/fields.ts';
import type { LocalFile } from '../shared/local-file.ts';
import { asRejected, ImportError } from '../shared/problems.ts';
import type { Outcome } from './outcome.ts';
import { showProgress } from './report.ts';
import { uploadFile } from './upload.ts';

/** Gap between the creation times of new sounds, so that their order stays if the database moves one time. */
const msApart = 10;

/**
 * Carries out a plan. Uploads the files of a sound before it writes the row, so that apps never see a sound without
 * files. Then stores its record, from which the next import continues an interrupted one.
 * Aborting the signal of the connection ends uploads at once, but lets a row be written completely.
 * @param steps all steps in the order of the folder, including those that change nothing
 * @param started when the import began; for a continued import, when its first run began
 */
export async function carryOut(connection: Connection, steps: Step[], started: Date): Promise<Outcome> {
  const { client, signal } = connection;
  const progress = showProgress(steps);
  const outcome: Outcome = { done: new Set(), rejected: [] };
  const send = createSender(connection, progress.sent);
  const carryOutOne = async (step: Step, index: number) => {
    if (signal.aborted || outcome.stopped !== undefined) return;
    // Lists begin with the newest sound, so the first file gets the latest time.
    const createdAt = step.createdAt ?? new Date(started.getTime() - index * msApart).toISOString();
    try {
      for (const file of step.uploads) await send(file);
      await writeSound(client, step, createdAt);
      outcome.done.add(step);
      progress.end(step);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ImportError) {
        outcome.stopped ??= error.message;
        return;
      }
      outcome.rejected.push({ where: step.file, reason: asRejected(error).message });
      progress.end(step, 'rejected');
    }
  };
  const queue = new PQueue({ concurrency: 4 });
  const open = [...steps.entries()].filter(([, step]) => isChanging(step) || step.remember);
  const tasks = open.map(
    ([index, step]) =>
      () =>
        carryOutOne(step, index),
  );
  await queue.addAll(tasks).finally(progress.close);
  if (signal.aborted) outcome.stopped = 'Interrupted.';
  return outcome;
}

/**
 * Returns a function that uploads a file once, even if several sounds share it, such as the cover of a folder.
 * @param onBytes called with the number of bytes sent since the last call
 */
function createSender(connection: Connection, onBytes: (bytes: number) => void) {
  const sending = new Map<string, Promise<void>>();
  return (file: LocalFile): Promise<void> => {
    let sent = 0;
    const onProgress = (bytes: number) => {
      onBytes(bytes - sent);
      sent = bytes;
    };
    const upload = sending.get(nameOf(file)) ?? uploadFile(connection, file, onProgress);
    sending.set(nameOf(file), upload);
    return upload;
  };
}

/** Writes the row of a sound, then its record. @param created_at creation time of a new sound, in ISO 8601 */
async function writeSound(client: SupabaseClient, step: Step, created_at: string): Promise<void> {
  const { action, id, row, write, facts, remember } = step;
  if (action === 'create') await insertSound(client, { ...write, ...facts, id, created_at });
  if (row && action === 'update' && columnsOf(write).length > 0) await updateSound(client, row, write);
  if (row && facts) await updateFacts(client, id, facts);
  if (remember) await upsertRow(client, 'imported_sounds', remember, 'sound_id');
}

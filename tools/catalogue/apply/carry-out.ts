import PQueue from 'p-queue';
import { isChanging, type Step } from '../plan/plan.ts';
import { upsertRow } from '../project/database.ts';
import type { Connection } from '../project/supabase.ts';
import { columnsOf } from '../shared/fields.ts';
import type { LocalFile } from '../shared/local-file.ts';
import { asRejected, ImportError, type Problem } from '../shared/problems.ts';
import { uploadFile } from './upload.ts';
import { insertSound, updateSound } from './write.ts';

/** Receives the progress of an import. */
export interface Progress {
  begin(step: Step): void;
  /** @param bytes number of bytes sent since the last call */
  sent(bytes: number): void;
  end(step: Step, outcome: 'done' | 'rejected'): void;
  close(): void;
}

export interface Outcome {
  done: Set<Step>;
  rejected: Problem[];
  /** Why the import ended early. */
  stopped?: string;
}

const SOUNDS_AT_ONCE = 4;

/** Distance between new sounds, so that their order stays when the database moves one whose time is taken. */
const MS_APART = 10;

/**
 * Carries out a plan. Uploads the files of a sound, then writes its row, so that apps never see a sound without files, and
 * then its record, so that the next import continues one that was interrupted.
 * The signal of the connection ends uploads at once, and rows once they are written.
 * @param steps all steps in the order of the folder, also those that change nothing
 * @param started when the import began; the first run counts for one that was interrupted
 */
export async function carryOut(
  connection: Connection,
  steps: Step[],
  started: Date,
  progress: Progress,
): Promise<Outcome> {
  const { client, signal } = connection;
  const outcome: Outcome = { done: new Set(), rejected: [] };
  const sending = new Map<string, Promise<void>>();
  /** Uploads a file that several sounds share, such as the cover of a folder, once. */
  const send = (file: LocalFile) => {
    let sent = 0;
    const onProgress = (bytes: number) => {
      progress.sent(bytes - sent);
      sent = bytes;
    };
    const key = `${file.bucket}/${file.path}`;
    const upload = sending.get(key) ?? uploadFile(connection, file, onProgress);
    sending.set(key, upload);
    return upload;
  };
  const carryOutStep = async (step: Step, index: number) => {
    const { id, row, write } = step;
    for (const file of step.uploads) await send(file);
    // Lists begin with the newest sound, so that the first file has to be the newest.
    const created_at = step.createdAt ?? new Date(started.getTime() - index * MS_APART).toISOString();
    if (step.action === 'create') await insertSound(client, { ...write, id, created_at });
    if (row && step.action === 'update' && columnsOf(write).length > 0) await updateSound(client, row, write);
    if (step.remember) await upsertRow(client, 'imported_sounds', step.remember, 'sound_id');
  };
  const carryOutOne = async (step: Step, index: number) => {
    if (signal.aborted || outcome.stopped !== undefined) return;
    const isShown = isChanging(step);
    if (isShown) progress.begin(step);
    try {
      await carryOutStep(step, index);
      outcome.done.add(step);
      if (isShown) progress.end(step, 'done');
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ImportError) {
        outcome.stopped ??= error.message;
        return;
      }
      outcome.rejected.push({ where: step.file, reason: asRejected(error).message });
      if (isShown) progress.end(step, 'rejected');
    }
  };
  const queue = new PQueue({ concurrency: SOUNDS_AT_ONCE });
  const open = [...steps.entries()].filter(([, step]) => isChanging(step) || step.remember);
  await Promise.all(open.map(([index, step]) => queue.add(() => carryOutOne(step, index))));
  if (signal.aborted) outcome.stopped = 'Interrupted.';
  return outcome;
}

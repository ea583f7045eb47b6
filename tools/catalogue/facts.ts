import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { updateFacts } from './apply/write.ts';
import { downloadAll, nameOf } from './export/download.ts';
import { print } from './plan/print-plan.ts';
import { type Row, readCatalogue } from './project/catalogue.ts';
import type { Measured, Measurements } from './project/measurements.ts';
import { listStored, type StoredFile } from './project/storage.ts';
import { type Connection, connect, projectOf } from './project/supabase.ts';
import { INSTALL_FFMPEG, measure } from './read/measure.ts';
import { requireAgreement } from './read/recording.ts';
import { placeholderOf } from './read/thumbnail.ts';
import { abortAtSignals } from './shared/command.ts';
import { asRejected, ImportError, Rejected } from './shared/problems.ts';
import { plural } from './shared/text.ts';

/** Returns the files of a sound that were not measured. */
const openFiles = (row: Row) =>
  [
    { row, bucket: 'audio' as const, path: row.waveform ? null : row.audio_path },
    { row, bucket: 'covers' as const, path: row.cover_placeholder ? null : row.cover_image_path },
  ].flatMap(({ path, ...file }) => (path ? [{ ...file, path }] : []));

/**
 * Measures the files in Storage of sounds without measurements, such as sounds that were made by hand.
 * @param env environment variables that name the project
 * @returns true if all files were measured
 * @throws ImportError
 */
export async function measureStored(env: NodeJS.ProcessEnv): Promise<boolean> {
  const interruption = new AbortController();
  abortAtSignals(interruption);
  const connection = connect(projectOf(env), interruption.signal);
  const { client } = connection;
  const { sounds, measurements } = await readCatalogue(client);
  const open = [...sounds.values()].flatMap(openFiles);
  const stored = await listStored(client, open);
  let rejected = 0;
  const files = Map.groupBy(open, ({ bucket, path }) => nameOf(bucket, path));
  for (const [name, uses] of files) {
    try {
      const { duration_sec, ...facts } = await factsOf(connection, measurements, stored.get(name));
      for (const { row } of uses)
        await updateFacts(client, row.id, { ...facts, ...(row.duration_sec === null && { duration_sec }) });
      print([['updated', name, plural(uses.length, 'sound')]]);
    } catch (error) {
      if (interruption.signal.aborted) throw new ImportError('Interrupted. Run it again to continue.');
      print([['rejected', name, asRejected(error).message]]);
      rejected += 1;
    }
  }
  console.log(`${plural(files.size - rejected, 'file')} measured, ${rejected} rejected.`);
  return rejected === 0;
}

/** Downloads a file and measures it. @throws Rejected, ImportError */
async function factsOf(
  connection: Connection,
  measurements: Measurements,
  file: StoredFile | undefined,
): Promise<Partial<Measured['facts']>> {
  if (!file) throw new Rejected('It is missing from Storage. Upload it, or correct its name in the sound.');
  const folder = await mkdtemp(join(tmpdir(), 'sounds-service-facts-'));
  try {
    const name = nameOf(file.bucket, file.path);
    const checksum = (await downloadAll(connection, folder, [file])).get(name)?.checksum ?? '';
    const source = join(folder, name);
    if (file.bucket === 'covers')
      return { cover_placeholder: await placeholderOf({ ...file, checksum, source, changedMs: 0 }) };
    await requireAgreement(file.path, source);
    const measured = await measurements.once(checksum, () => measure(source, file.size));
    if (!measured) throw new ImportError(`--facts needs ffmpeg. ${INSTALL_FFMPEG}`);
    return measured.facts;
  } finally {
    await rm(folder, { recursive: true });
  }
}

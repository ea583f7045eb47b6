import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { downloadAll } from './export/download.ts';
import { readCatalogue } from './project/catalogue.ts';
import { updateFacts } from './project/database.ts';
import type { Measurements } from './project/measurements.ts';
import { filesOf, listStored, nameOf, type StoredFile } from './project/storage.ts';
import { type Connection, connect, projectOf } from './project/supabase.ts';
import { installFfmpeg, measure } from './read/measure.ts';
import { placeholderOf } from './read/picture.ts';
import { requireAgreement } from './read/recording.ts';
import { abortAtSignals } from './shared/command.ts';
import { type Facts, factsToWrite } from './shared/fields.ts';
import { print } from './shared/print.ts';
import { asRejected, ImportError, Rejected } from './shared/problems.ts';
import { plural } from './shared/text.ts';

/**
 * Measures the files in Storage of sounds without measurements, such as sounds that were made by hand, and of sounds
 * that were measured by older rules.
 * @param env environment variables that name the project
 * @returns true if all files were measured
 * @throws ImportError
 */
export async function measureStored(env: NodeJS.ProcessEnv): Promise<boolean> {
  const interruption = new AbortController();
  const ignoreSignals = abortAtSignals(interruption);
  return await measureAll(connect(projectOf(env), interruption.signal)).finally(ignoreSignals);
}

async function measureAll(connection: Connection): Promise<boolean> {
  const { sounds, measurements } = await readCatalogue(connection.client);
  const named = [...sounds.values()].flatMap((row) => filesOf(row).map((file) => ({ ...file, row })));
  const isOutdated = measurements.findOutdated();
  const open = named.filter(({ bucket, row }) =>
    bucket === 'audio' ? row.waveform === null || isOutdated(row) : row.cover_placeholder === null,
  );
  const stored = await listStored(connection.client, open);
  let rejected = 0;
  const files = Map.groupBy(open, nameOf);
  for (const [name, uses] of files) {
    try {
      const { facts, outdated } = await measureOne(connection, measurements, stored.get(name));
      for (const { row } of uses) await updateFacts(connection.client, row.id, factsToWrite(row, facts, outdated));
      print([['updated', name, plural(uses.length, 'sound')]]);
    } catch (error) {
      if (connection.signal.aborted) throw new ImportError('Interrupted. Run it again to continue.');
      print([['rejected', name, asRejected(error).message]]);
      rejected += 1;
    }
  }
  console.log(`${plural(files.size - rejected, 'file')} measured, ${rejected} rejected.`);
  return rejected === 0;
}

/** Downloads a file and measures it. @throws Rejected, ImportError */
async function measureOne(
  connection: Connection,
  measurements: Measurements,
  file: StoredFile | undefined,
): Promise<{ facts: Facts; outdated?: Facts | null }> {
  if (!file) throw new Rejected('It is missing from Storage. Upload it, or correct its name in the sound.');
  const folder = await mkdtemp(join(tmpdir(), 'sounds-service-facts-'));
  try {
    const [[name, { checksum }] = ['', { checksum: '' }]] = await downloadAll(connection, folder, [file]);
    const source = join(folder, name);
    if (file.bucket === 'covers') return { facts: await placeholderOf({ ...file, checksum, source, changedMs: 0 }) };
    await requireAgreement(file.path, source);
    const measured = await measurements.once(checksum, () => measure(source, file.size));
    if (!measured) throw new ImportError(`--facts needs ffmpeg. ${installFfmpeg}`);
    return measured;
  } finally {
    await rm(folder, { recursive: true });
  }
}

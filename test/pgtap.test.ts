import { globSync } from 'node:fs';
import { basename } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { startScratchDatabase } from '../dev/scratch-database.ts';
import { installPgtap, runPgtap } from './support/pgtap.ts';

// Runs the files of `supabase test db`, with a test for each assertion, in a database of its own: pgTAP does not belong
// into the one of the other tests.

const database = await startScratchDatabase();
afterAll(database.stop);
await installPgtap(database.databaseUrl);

const files = globSync('supabase/tests/**/*.test.sql').sort();

test('there are pgTAP files', () => expect(files).not.toEqual([]));

describe.each(files.map((file) => [basename(file, '.test.sql'), file]))('%s', async (_, file) => {
  const run = await runPgtap(database.databaseUrl, file).catch((error: Error) => ({ error }));

  test('runs to completion with as many assertions as planned', () => {
    if ('error' in run) throw run.error;
    expect(run.tests.length).toBe(run.planned);
  });

  if ('error' in run) return;
  for (const { ok, name, diagnosis } of run.tests) {
    test(name, () => expect(ok, diagnosis).toBe(true));
  }
});

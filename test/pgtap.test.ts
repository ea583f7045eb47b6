import { globSync } from 'node:fs';
import { basename } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { startScratchDatabase } from '../dev/scratch-database.ts';
import { installPgtap, runPgtap } from './support/pgtap.ts';

// Runs the files of `supabase test db`, with a test for each assertion, in databases of their own: pgTAP does not belong
// into the one of the other tests.

const files = globSync('supabase/tests/**/*.test.sql').sort();

test('there are pgTAP files', () => expect(files).not.toEqual([]));

// Hosted projects have either release.
describe.each([17, 15] as const)('PostgreSQL %i', async (release) => {
  const database = await startScratchDatabase(release);
  afterAll(database.stop);
  await installPgtap(database.databaseUrl);

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
});

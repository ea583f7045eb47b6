import { globSync } from 'node:fs';
import { basename } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { startScratchDatabase } from '../dev/scratch-database.ts';
import { installPgtap, runPgtap } from './support/pgtap.ts';

// What `supabase test db` runs on a real stack, each line of it a test here. Without pgTAP in the stack of all tests.

const database = await startScratchDatabase();
afterAll(database.stop);
await installPgtap(database.databaseUrl);

const files = globSync('supabase/tests/**/*.test.sql').sort();

test('there are tests of the database', () => expect(files).not.toEqual([]));

describe.each(files.map((file) => [basename(file, '.test.sql'), file]))('%s', async (_, file) => {
  const run = await runPgtap(database.databaseUrl, file).catch((error: Error) => ({ error }));

  test('runs to its end and makes as many assertions as it planned', () => {
    if ('error' in run) throw run.error;
    expect(run.tests.length).toBe(run.planned);
  });

  if ('error' in run) return;
  for (const { ok, name, diagnosis } of run.tests) {
    test(name, () => expect(ok, diagnosis).toBe(true));
  }
});

import { globSync } from 'node:fs';
import { basename } from 'node:path';
import postgres from 'postgres';
import { afterAll, describe, expect, test } from 'vitest';
import { installPgtap, runPgtap } from './support/pgtap.ts';
import { startDatabase } from './support/prepared.ts';

// Runs the files of `supabase test db`, with a test for each assertion, in databases of their own: pgTAP does not belong
// into the one of the other tests.

const files = globSync('supabase/tests/**/*.test.sql').sort();

test('there are pgTAP files', () => expect(files).not.toEqual([]));

/** The states that a database may be in, each with what makes it of the one before. */
const states: Record<string, string | null> = {
  'an empty database': null,
  // What `supabase start` does, and `supabase db push` does not.
  'a seeded database': 'supabase/seed.sql',
  'a used database': 'test/support/use.sql',
};

async function runFile(databaseUrl: string, file: string): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1, onnotice() {} });
  await sql.file(file).simple();
  await sql.end();
}

// Hosted projects have either release.
describe.each([17, 15] as const)('PostgreSQL %i', async (release) => {
  const { databaseUrl, stop } = await startDatabase(release);
  afterAll(stop);
  await installPgtap(databaseUrl);
  const runs: [name: string, run: Awaited<ReturnType<typeof runPgtap>> | { error: Error }][] = [];
  for (const [state, change] of Object.entries(states)) {
    if (change !== null) await runFile(databaseUrl, change);
    for (const file of files) {
      const run = await runPgtap(databaseUrl, file).catch((error: Error) => ({ error }));
      runs.push([`${basename(file, '.test.sql')} on ${state}`, run]);
    }
  }

  describe.each(runs)('%s', (_, run) => {
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

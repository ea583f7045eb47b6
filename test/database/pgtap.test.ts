import { globSync } from 'node:fs';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startDatabase } from '../support/prepared.ts';
import { installPgtap, runPgtap } from './pgtap.ts';

// Runs the files of `supabase test db` in separate databases, so that other tests do not see pgTAP.

const files = globSync('supabase/tests/**/*.test.sql').sort();

/** Runs once for each release, because it takes 3 s and does not depend on the other rows of the database. */
const sizes = 'supabase/tests/13_sizes.test.sql';

test('the folder supabase/tests has pgTAP files', () => expect(files).toContain(sizes));

async function runFile(databaseUrl: string, file: string): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1, onnotice() {} });
  await sql.file(file).simple();
  await sql.end();
}

/** States of a database in each release, with the change that creates a state from the one before. */
const suites = [
  { release: 15, states: { 'an empty database': null } },
  // Test with and without the seed, because `supabase start` runs it and `supabase db push` does not.
  { release: 17, states: { 'a seeded database': 'supabase/seed.sql', 'a used database': 'tools/migration/usage.sql' } },
] as const;

describe.each(suites)('PostgreSQL $release', async ({ release, states }) => {
  const { databaseUrl, stop } = await startDatabase(release);
  afterAll(stop);
  await installPgtap(databaseUrl);

  describe.each(Object.entries(states))('%s', (state, change) => {
    beforeAll(async () => {
      if (change !== null) await runFile(databaseUrl, change);
    });

    test.each(files.filter((file) => file !== sizes || state !== 'a used database'))('%s', async (file) => {
      const { planned, tests } = await runPgtap(databaseUrl, file);
      const failed = tests.filter(({ ok }) => !ok).map(({ name, diagnosis }) => `${name}\n${diagnosis}`);
      expect(failed).toEqual([]);
      expect(tests.length).toBe(planned);
    });
  });
});

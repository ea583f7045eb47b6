import { globSync } from 'node:fs';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startDatabase } from '../support/prepared.ts';
import { installPgtap, runPgtap } from './pgtap.ts';

// Runs the files of `supabase test db` in databases of their own: pgTAP does not belong into the one of the other tests.

const files = globSync('supabase/tests/**/*.test.sql').sort();

test('there are pgTAP files', () => expect(files).not.toEqual([]));

async function runFile(databaseUrl: string, file: string): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1, onnotice() {} });
  await sql.file(file).simple();
  await sql.end();
}

/** Each state that a database may be in, with what makes it of the one before. It does not depend on the release. */
const suites = [
  { release: 15, states: { 'an empty database': null } },
  // `supabase start` runs the seed, `supabase db push` does not.
  {
    release: 17,
    states: { 'a seeded database': 'supabase/seed.sql', 'a used database': 'tools/migration/usage.sql' },
  },
] as const;

describe.each(suites)('PostgreSQL $release', async ({ release, states }) => {
  const { databaseUrl, stop } = await startDatabase(release);
  afterAll(stop);
  await installPgtap(databaseUrl);

  describe.each(Object.entries(states))('%s', (_, change) => {
    beforeAll(async () => {
      if (change !== null) await runFile(databaseUrl, change);
    });

    test.each(files)('%s', async (file) => {
      const { planned, tests } = await runPgtap(databaseUrl, file);
      const failed = tests.filter(({ ok }) => !ok).map(({ name, diagnosis }) => `${name}\n${diagnosis}`);
      expect(failed).toEqual([]);
      expect(tests.length).toBe(planned);
    });
  });
});

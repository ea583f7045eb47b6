import { globSync } from 'node:fs';
import type { Release } from '@sounds-service/local-supabase/postgres-files';
import postgres from 'postgres';
import { afterAll, describe, expect, test } from 'vitest';
import { startDatabase } from '../support/prepared.ts';
import { installPgtap, runPgtap } from './pgtap.ts';

async function runFile(databaseUrl: string, file: string): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1, onnotice() {} });
  await sql.file(file).simple();
  await sql.end();
}

/**
 * Runs the files of `supabase test db` in a separate database, so that other tests do not see pgTAP.
 * @param changes files of SQL that fill the migrated database first
 */
export function testPgtap(name: string, release: Release, ...changes: string[]): void {
  describe(name, async () => {
    const { databaseUrl, stop } = await startDatabase(release);
    afterAll(stop);
    await installPgtap(databaseUrl);
    for (const change of changes) await runFile(databaseUrl, change);

    test.each(globSync('supabase/tests/**/*.test.sql').sort())('%s', async (file) => {
      const { planned, tests } = await runPgtap(databaseUrl, file);
      const failed = tests.filter(({ ok }) => !ok).map(({ name, diagnosis }) => `${name}\n${diagnosis}`);
      expect(failed).toEqual([]);
      expect(tests.length).toBe(planned);
    });
  });
}

import { globSync } from 'node:fs';
import postgres from 'postgres';
import { describe, expect, test } from 'vitest';
import { installPgtap, runPgtap } from './pgtap.ts';

async function runFile(databaseUrl: string, file: string): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1, onnotice() {} });
  await sql.file(file).simple();
  await sql.end();
}

/**
 * Runs the files of `supabase test db`.
 * @param databaseUrl a database that no other test uses, because it gets pgTAP
 * @param changes files of SQL that fill the migrated database first
 */
export function testPgtap(name: string, databaseUrl: string, ...changes: string[]): void {
  describe(name, async () => {
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

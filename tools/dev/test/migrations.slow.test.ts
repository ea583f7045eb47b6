import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startPostgres } from 'local-supabase/postgres';
import postgres from 'postgres';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { preparedFolder } from '../../../test/support/prepared.ts';
import { devEnvironment, run } from '../../../test/support/processes.ts';

/** For `npm run dev` on a database with all migrations that was changed by a statement. */
async function environmentAfter(statement: string) {
  const folder = await preparedFolder();
  onTestFinished(() => rm(folder, { recursive: true }));
  const server = await startPostgres({ dataDir: join(folder, 'postgres'), port: 0, durable: false });
  const sql = postgres(server.databaseUrl);
  await sql.unsafe(statement).finally(() => sql.end());
  await server.stop();
  return devEnvironment(folder);
}

describe.runIf(inject('stack').embedded)(
  'npm run dev, on a database with other migrations than the folder',
  () => {
    test('names a baseline that was regenerated since, and how to keep the catalogue', async () => {
      const env = await environmentAfter(`
        update supabase_migrations.schema_migrations set statements = array_append(statements, 'select 1')`);
      const dev = run(['tools/dev/main.ts'], env);
      expect(await dev.exited).toBe(1);
      expect(dev.output.stderr).toMatch(
        /^The database was made by an earlier supabase\/migrations\/\d+_baseline\.sql\. [^\n]+ npm run dev -- --fresh\. To keep the catalogue, run npm run export [^\n]+\n$/,
      );
    });

    test('names a later time for a migration that is older than what was applied', async () => {
      const env = await environmentAfter(`
        update supabase_migrations.schema_migrations set version = '20990101000000', name = 'branch'`);
      const late = run(['tools/dev/main.ts'], env);
      expect(await late.exited).toBe(1);
      expect(late.output.stderr).toMatch(
        /^supabase\/migrations\/\d+_baseline\.sql is older than what the database has\. To keep the data, give its name a later time than 20990101000000; else start over [^\n]+: npm run dev -- --fresh\n$/,
      );
    });

    test('says to correct a failing migration, and to start over only without an applied one', async () => {
      // Its tables exist already.
      const again = await environmentAfter('delete from supabase_migrations.schema_migrations');
      const failing = run(['tools/dev/main.ts'], again);
      expect(await failing.exited).toBe(1);
      expect(failing.output.stderr).toMatch(
        /ERROR: .* already exists[\s\S]*\nCorrect supabase\/migrations\/\d+_baseline\.sql [^\n]+\.\n$/,
      );
      expect(failing.output.stderr).not.toContain('--fresh');

      const elsewhere = await environmentAfter(
        `insert into supabase_migrations.schema_migrations (version, name) values ('20990101000000', 'branch')`,
      );
      const missing = run(['tools/dev/main.ts'], elsewhere);
      expect(await missing.exited).toBe(1);
      expect(missing.output.stderr).toMatch(
        /^The database has [^\n]+: 20990101000000_branch\.sql\. [^\n]+: npm run dev -- --fresh\n$/,
      );
    });
  },
);

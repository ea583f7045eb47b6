import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { freePort } from '../support/ports.ts';
import { run } from './processes.ts';

describe.runIf(inject('stack').embedded)(
  'npm run dev, on a database with other migrations than the folder',
  () => {
    let env: {
      [name in 'DEV_DATA_DIR' | 'PORT' | 'PLAYER_PORT' | 'SUPABASE_PORT' | 'SUPABASE_DB_PORT']: string;
    };

    beforeAll(async () => {
      const port = async () => String(await freePort());
      env = {
        DEV_DATA_DIR: await mkdtemp(join(tmpdir(), 'sounds-service-dev-')),
        PORT: await port(),
        SUPABASE_PORT: await port(),
        PLAYER_PORT: await port(),
        SUPABASE_DB_PORT: await port(),
      };
    });

    afterAll(() => rm(env.DEV_DATA_DIR, { recursive: true }));

    async function start(...args: string[]) {
      const dev = run(['dev/main.ts', ...args], env);
      await dev.until('Ctrl-C stops everything.');
      return dev;
    }

    /** Starts it, changes the database, and stops it. */
    async function change(statement: string) {
      const dev = await start('--fresh');
      const sql = postgres(`postgresql://postgres:postgres@127.0.0.1:${env.SUPABASE_DB_PORT}/postgres`);
      await sql.unsafe(statement).finally(() => sql.end());
      dev.kill('SIGINT');
      await dev.exited;
      return dev.output.stdout;
    }

    test('warns of a migration whose file was edited or replaced after it was applied, and of no other', async () => {
      const before = await change(`
      update supabase_migrations.schema_migrations
      set statements = array_append(statements, 'select 1'), name = case name when 'home' then 'start' else name end
      where name in ('plays', 'home')`);
      expect(before).not.toContain('is not what was applied');
      const dev = await start();
      await dev.until('home.sql is not what');
      // Below all the rest, where somebody sees them.
      expect(dev.output.stdout.indexOf('is not what was applied')).toBeGreaterThan(
        dev.output.stdout.indexOf('Ctrl-C stops everything.'),
      );
      expect(dev.output.stdout).not.toContain('Applying migrations');
      const warnings = dev.output.stdout
        .split('\n')
        .filter((line) => line.includes('is not what was applied'));
      expect(warnings).toEqual([
        expect.stringMatching(
          /migrations\/(\d+)_plays\.sql is not .* as \1_plays\.sql: .* npm run dev -- --fresh$/,
        ),
        expect.stringMatching(
          /migrations\/(\d+)_home\.sql is not .* as \1_start\.sql: .* npm run dev -- --fresh$/,
        ),
      ]);
      dev.kill('SIGINT');
      await dev.exited;
    });

    test('says to correct a migration that fails, and to start over only without one that was applied', async () => {
      // What it makes is there already. Without the later ones: the CLI puts none in between.
      await change(`
        delete from supabase_migrations.schema_migrations
        where version >= (select version from supabase_migrations.schema_migrations where name = 'imported_sounds')`);
      const failing = run(['dev/main.ts'], env);
      expect(await failing.exited).toBe(1);
      expect(failing.output.stderr).toMatch(
        /ERROR: .* already exists[\s\S]*\nCorrect supabase\/migrations\/\d+_imported_sounds\.sql [^\n]+\.\n$/,
      );
      expect(failing.output.stderr).not.toContain('--fresh');

      await change(
        `insert into supabase_migrations.schema_migrations (version, name) values ('20990101000000', 'branch')`,
      );
      const missing = run(['dev/main.ts'], env);
      expect(await missing.exited).toBe(1);
      expect(missing.output.stderr).toMatch(
        /^The database has [^\n]+: 20990101000000_branch\.sql\. [^\n]+: npm run dev -- --fresh\n$/,
      );
    });
  },
);

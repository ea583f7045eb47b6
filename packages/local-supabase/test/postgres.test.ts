import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { test as base, describe, expect, inject } from 'vitest';
import { fixture } from '../../../test/support/fixture.ts';
import { occupy, processesNaming, run, serverPid, untilGone } from '../../../test/support/processes.ts';
import { as } from '../src/database.ts';
import { type Postgres, SUPERUSER, startPostgres } from '../src/postgres.ts';

const test = base.extend<{ folder: string }>({
  folder: fixture(async (use) => {
    const folder = await mkdtemp(join(tmpdir(), 'sounds-service-postgres-'));
    await use(folder);
    await rm(folder, { recursive: true });
  }),
});

function query(server: Postgres, text: string) {
  const sql = postgres(as(SUPERUSER, server.databaseUrl));
  return sql.unsafe(text).finally(() => sql.end());
}

describe.runIf(inject('stack').embedded)('the embedded PostgreSQL server', () => {
  test('the server keeps committed rows when it is killed, and reports its end', async ({ folder }) => {
    const first = await startPostgres({ dataDir: folder, port: 0 });
    await query(first, 'create table kept as select 7 as n');
    process.kill(serverPid(folder), 'SIGKILL');
    await first.exited;
    const second = await startPostgres({ dataDir: folder, port: 0 });
    expect(await query(second, 'select n from kept')).toEqual([{ n: 7 }]);
    await second.stop();
  });

  test('the server leaves no process when it is stopped twice', async ({ folder }) => {
    const server = await startPostgres({ dataDir: folder, port: 0 });
    expect(processesNaming(folder)).not.toEqual([]);
    await Promise.all([server.stop(), server.stop()]);
    await untilGone(folder);
  });

  test('the server rejects a folder in use, whose server goes on', async ({ folder }) => {
    const first = await startPostgres({ dataDir: folder, port: 0 });
    await expect(startPostgres({ dataDir: folder, port: 0 })).rejects.toThrow(
      /^The data folder \S+ is in use by another process\.$/,
    );
    expect(await query(first, 'select 1 as n')).toEqual([{ n: 1 }]);
    await first.stop();
  });

  test('the server names a port that is in use', async ({ folder }) => {
    const { port, server } = await occupy();
    await expect(startPostgres({ dataDir: folder, port })).rejects.toThrow(
      `Port ${port} is in use by another program.`,
    );
    server.close();
  });

  test('the server ends when the process that started it is killed', async ({ folder }) => {
    const script = `
      const { startPostgres } = await import('local-supabase/postgres');
      await startPostgres({ dataDir: '${folder}', port: 0 });
      console.log('started');`;
    const starter = run(['--input-type=module-typescript', '-e', script]);
    await starter.until('started');
    starter.kill('SIGKILL');
    await untilGone(folder);
  });
});

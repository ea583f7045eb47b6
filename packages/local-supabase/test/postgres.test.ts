import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { preparedFolder } from '../../../test/support/prepared.ts';
import { occupy, processesNaming, run, serverPid, untilGone } from '../../../test/support/processes.ts';
import { as } from '../src/database.ts';
import { type Postgres, SUPERUSER, startPostgres } from '../src/postgres.ts';

function query(server: Postgres, text: string) {
  const sql = postgres(as(SUPERUSER, server.databaseUrl));
  return sql.unsafe(text).finally(() => sql.end());
}

describe.runIf(inject('stack').embedded)('the embedded PostgreSQL server', () => {
  let root: string;
  let folder: string;

  // A copy of a prepared cluster, because making one takes most of the time.
  beforeAll(async () => {
    root = await preparedFolder('bare');
    folder = join(root, 'postgres');
  });

  afterAll(() => rm(root, { recursive: true }));

  test('keeps committed rows when it is killed, and reports its end', async () => {
    const first = await startPostgres({ dataDir: folder, port: 0 });
    await query(first, 'create table kept as select 7 as n');
    process.kill(serverPid(folder), 'SIGKILL');
    await first.exited;
    const second = await startPostgres({ dataDir: folder, port: 0 });
    expect(await query(second, 'select n from kept')).toEqual([{ n: 7 }]);
    await second.stop();
  });

  test('rejects a folder in use, and leaves no process when it is stopped twice', async () => {
    const first = await startPostgres({ dataDir: folder, port: 0 });
    await expect(startPostgres({ dataDir: folder, port: 0 })).rejects.toThrow(
      /^The data folder \S+ is in use by another process\.$/,
    );
    expect(await query(first, 'select 1 as n')).toEqual([{ n: 1 }]);
    expect(processesNaming(folder)).not.toEqual([]);
    await Promise.all([first.stop(), first.stop()]);
    await untilGone(folder);
  });

  test('names a port that is in use', async () => {
    const { port, server } = await occupy();
    await expect(startPostgres({ dataDir: folder, port })).rejects.toThrow(
      `Port ${port} is in use by another program.`,
    );
    server.close();
  });

  test('ends when the process that started it is killed', async () => {
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

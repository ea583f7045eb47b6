import { join } from 'node:path';
import postgres from 'postgres';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { preparedFolder } from '../../../test/support/prepared.ts';
import { occupy, processesNaming, run, serverPid, untilGone } from '../../../test/support/processes.ts';
import { as } from '../src/database.ts';
import { type Postgres, SUPERUSER, startPostgres } from '../src/postgres.ts';

function query(server: Postgres, text: string) {
  const sql = postgres(as(SUPERUSER, server.databaseUrl));
  return sql.unsafe(text).finally(() => sql.end());
}

describe.runIf(inject('stack').embedded)('the embedded PostgreSQL server', () => {
  let dataDir: string;

  // A copy of a prepared cluster, because making one takes most of the time.
  beforeAll(async () => {
    dataDir = join(await preparedFolder('bare'), 'postgres');
  });

  test('keeps committed rows when it is killed, rejects a folder or port in use, and stops', async () => {
    const first = await startPostgres({ dataDir, port: 0 });
    await query(first, 'create table kept as select 7 as n');
    process.kill(serverPid(dataDir), 'SIGKILL');
    await first.exited;
    const { port, server } = await occupy();
    await expect(startPostgres({ dataDir, port })).rejects.toThrow(
      `Port ${port} is in use by another program.`,
    );
    server.close();
    const second = await startPostgres({ dataDir, port: 0 });
    await expect(startPostgres({ dataDir, port: 0 })).rejects.toThrow(
      /^The data folder \S+ is in use by another process\.$/,
    );
    expect(await query(second, 'select n from kept')).toEqual([{ n: 7 }]);
    expect(processesNaming(dataDir)).not.toEqual([]);
    await Promise.all([second.stop(), second.stop()]);
    await untilGone(dataDir);
  });

  test('ends when the process that started it is killed', async () => {
    const script = `
      const { startPostgres } = await import('local-supabase/postgres');
      await startPostgres({ dataDir: '${dataDir}', port: 0 });
      console.log('started');`;
    const starter = run(['--input-type=module-typescript', '-e', script]);
    await starter.until('started');
    starter.kill('SIGKILL');
    await untilGone(dataDir);
  });
});

import { existsSync, readFileSync } from 'node:fs';
import postgres from 'postgres';
import { as } from '../dev/database.ts';
import { median } from './measure.ts';

/** Connections that a data API may hold to its database. */
export const connectionCounts = [1, 8, 32] as const;

const rounds = 3;
const roundMs = 2_000;

/** Processor time that a process of this machine has taken, in seconds. */
function cpuSeconds(pid: number): number {
  const afterName = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1] ?? '';
  const [user, system] = afterName.split(' ').slice(11, 13);
  return (Number(user) + Number(system)) / 100;
}

/**
 * First pages of `GET /sounds` that one core of Postgres serves in a second: how many were served, by the processor time of the
 * server's processes, so that neither this process nor others on the machine count.
 * @param databaseUrl of a server on this machine
 * @returns for each of `connectionCounts` the median of the rounds; NaN where there is no /proc
 */
export async function pagesPerCore(databaseUrl: string): Promise<number[]> {
  if (!existsSync('/proc/self/stat')) return connectionCounts.map(() => Number.NaN);
  const clients = Array.from({ length: Math.max(...connectionCounts) }, () =>
    postgres(as('authenticator', databaseUrl), { max: 1 }),
  );
  const pids = await Promise.all(clients.map(pidOf));
  await Promise.all(clients.map((sql) => readPagesUntil(sql, performance.now() + 500)));

  const figures: number[][] = connectionCounts.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, count] of connectionCounts.entries()) {
      const used = () => pids.slice(0, count).reduce((sum, pid) => sum + cpuSeconds(pid), 0);
      const before = used();
      const end = performance.now() + roundMs;
      const pages = await Promise.all(clients.slice(0, count).map((sql) => readPagesUntil(sql, end)));
      figures[index]?.push(pages.reduce((sum, read) => sum + read) / (used() - before));
    }
  }
  await Promise.all(clients.map((sql) => sql.end()));
  return figures.map(median);
}

async function pidOf(sql: postgres.Sql): Promise<number> {
  const [row] = await sql`select pg_backend_pid() as pid`;
  return row?.['pid'];
}

/** Reads one page after the other as PostgREST does: in a transaction each, with prepared statements; returns how many. */
async function readPagesUntil(sql: postgres.Sql, end: number): Promise<number> {
  const claims = JSON.stringify({ role: 'service_role' });
  let pages = 0;
  for (; performance.now() < end; pages++) {
    await sql.begin('read only', async (transaction) => {
      await transaction`
        select set_config('role', 'service_role', true), set_config('request.jwt.claims', ${claims}, true)`;
      await transaction`select public.list_sounds()`;
    });
  }
  return pages;
}

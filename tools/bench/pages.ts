import { as } from 'local-supabase/database';
import postgres from 'postgres';
import { median } from 'simple-statistics';
import { knowsProcessorTime, processorSeconds } from './processor.ts';

/** Connections that a data API may hold to its database. */
const connectionCounts = [1, 8, 32];
const rounds = 3;
const roundMs = 2_000;

/**
 * First pages of `GET /sounds` that one core of Postgres serves in a second: how many were served, by the processor time of the
 * server's processes, so that neither this process nor others on the machine count.
 * @param databaseUrl of a server on this machine
 * @returns for each number of connections the median of the rounds; nothing where there is no /proc
 */
export async function pagesPerCore(databaseUrl: string) {
  if (!knowsProcessorTime) return [];
  const clients = Array.from({ length: Math.max(...connectionCounts) }, () =>
    postgres(as('authenticator', databaseUrl), { max: 1 }),
  );
  const pids = await Promise.all(clients.map(pidOf));
  await Promise.all(clients.map((sql) => readPages(sql, 500)));

  const figures = connectionCounts.map((connections) => ({ connections, perSecond: [] as number[] }));
  for (let round = 0; round < rounds; round++) {
    for (const { connections, perSecond } of figures) {
      const used = () => pids.slice(0, connections).reduce((sum, pid) => sum + processorSeconds(pid), 0);
      const before = used();
      const pages = await Promise.all(clients.slice(0, connections).map((sql) => readPages(sql, roundMs)));
      perSecond.push(pages.reduce((sum, read) => sum + read) / (used() - before));
    }
  }
  await Promise.all(clients.map((sql) => sql.end()));
  return figures.map(({ connections, perSecond }) => ({ connections, perSecond: median(perSecond) }));
}

async function pidOf(sql: postgres.Sql): Promise<number> {
  const [row] = await sql`select pg_backend_pid() as pid`;
  return row?.['pid'];
}

/** Reads one page after the other as PostgREST does: in a transaction each, with prepared statements; returns how many. */
async function readPages(sql: postgres.Sql, forMs: number): Promise<number> {
  const claims = JSON.stringify({ role: 'service_role' });
  const end = performance.now() + forMs;
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

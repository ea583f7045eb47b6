import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { as, migrate, prepareDatabase } from 'local-supabase/database';
import { freePort } from 'local-supabase/free-port';
import { type Postgres, SUPERUSER, startPostgres } from 'local-supabase/postgres';
import { removeFolder } from 'local-supabase/postgres-files';
import { makeStandby } from 'local-supabase/standby';
import { markdownTable } from 'markdown-table';
import postgres from 'postgres';
import { median } from 'simple-statistics';
import { catalogueReads } from '../../src/supabase/data.ts';
import { type Call, calls, firstPage, type Player, session } from './listening.ts';
import { LARGE, load } from './load.ts';
import { knowsProcessorTime, postgresSeconds } from './processor.ts';
import { header, milliseconds, verdict, whole } from './report.ts';

// `npm run bench:scale -- replicas`: what a read replica takes off the primary, by the processor time of their servers.

const connections = 8;
const rounds = 3;
/** Users who listen for 20 minutes, in one round. */
const sessions = 250;
const callsOfEach = 1_000;
const pages = 4_000;
/** The share of its processor time that the primary may still need. */
const shareMax = 1 / 3;

type Sql = postgres.Sql;
/** The data API's connections to one database. */
const connect = ({ databaseUrl }: Postgres): Sql =>
  postgres(as('authenticator', databaseUrl), { max: connections, onnotice() {} });

/** Runs it as PostgREST does: in a transaction as its caller. */
async function run(sql: Sql, { role, name, args }: Call, player: Player): Promise<void> {
  const given = Object.entries(args?.(player) ?? {});
  const named = given.map(([key], index) => `${key} => $${index + 1}`).join(', ');
  const values = given.map(([, value]) => value);
  const claims = JSON.stringify({ sub: player.user, role });
  await sql.begin(catalogueReads.has(name) ? 'read only' : 'read write', async (transaction) => {
    await transaction`
      select set_config('role', ${role}, true), set_config('request.jwt.claims', ${claims}, true)`;
    await transaction.unsafe(`select public.${name}(${named})`, values, { prepare: true });
  });
}

/** Where calls go: all to the primary, or reads of the catalogue to the replica, as the gateway sends them. */
type Databases = { primary: Sql; replica: Sql | null };

const databaseOf = ({ primary, replica }: Databases, { name }: Call) =>
  (catalogueReads.has(name) ? replica : null) ?? primary;

/** Runs them over all connections, each session for one of the users in turn; returns how long it took, in seconds. */
async function runAll(databases: Databases, work: readonly Call[], players: readonly Player[]) {
  const started = performance.now();
  const playerAt = (index: number) => players[index % players.length] as Player;
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < work.length; index = next++) {
      const call = work[index] as Call;
      const { user } = playerAt(Math.floor(index / session.length));
      await run(databaseOf(databases, call), call, { user, sound: playerAt(index).sound });
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
  return (performance.now() - started) / 1000;
}

const times = (count: number, work: readonly Call[]) => Array.from({ length: count }, () => work).flat();

/** Processor time for 1,000 of these calls, in milliseconds, and calls a second. */
async function costOf(servers: Servers, databases: Databases, work: readonly Call[], players: Player[]) {
  const { primary, standby } = servers;
  const used = () => [postgresSeconds(primary.folder), standby ? postgresSeconds(standby.folder) : 0];
  const before = used();
  const seconds = await runAll(databases, work, players);
  const after = used();
  const [ofPrimary = 0, ofReplica = 0] = after.map((now, index) => now - (before[index] ?? 0));
  const perThousand = 1_000_000 / work.length;
  return {
    primaryMs: ofPrimary * perThousand,
    replicaMs: ofReplica * perThousand,
    perSecond: work.length / seconds,
  };
}

type Servers = { primary: Postgres; standby: Postgres | null };

/** Everything for one of the two ways. */
async function measureOnce(servers: Servers, players: Player[]) {
  const databases = {
    primary: connect(servers.primary),
    replica: servers.standby && connect(servers.standby),
  };
  const cost = (work: readonly Call[]) => costOf(servers, databases, work, players);
  await runAll(databases, times(20, session), players); // connections and plans
  const mixed = await cost(times(sessions, session));
  const ofPages = await cost(times(pages, [firstPage]));
  const single: number[] = [];
  for (const call of calls) single.push((await cost(times(callsOfEach, [call]))).primaryMs / 1_000);
  await Promise.all([databases.primary.end(), databases.replica?.end()]);
  return { mixed, pages: ofPages, single };
}

/** Waits until the standby has all that the primary has written. */
async function caughtUp(primary: Sql, standby: Postgres) {
  const sql = postgres(as(SUPERUSER, standby.databaseUrl), { max: 1 });
  const [written] = await primary`select pg_current_wal_lsn()::text as lsn`;
  for (let isBehind = true; isBehind; ) {
    const [row] = await sql`select pg_last_wal_replay_lsn() >= ${written?.['lsn']}::pg_lsn as done`;
    isBehind = row?.['done'] !== true;
  }
  await sql.end();
}

type Once = Awaited<ReturnType<typeof measureOnce>>;

async function measure(log: (line: string) => void): Promise<{ alone: Once[]; replicated: Once[] }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'sounds-service-replicas-'));
  const folders = { primary: join(dataDir, 'primary'), standby: join(dataDir, 'standby') };
  const port = await freePort();
  const startPrimary = () => startPostgres({ dataDir: folders.primary, port, durable: false });
  let primary = await startPrimary();
  try {
    await prepareDatabase(primary.databaseUrl);
    await migrate(primary.databaseUrl);
    const admin = postgres(as(SUPERUSER, primary.databaseUrl), { max: 1, onnotice() {} });
    // Those would come at any time.
    await admin`alter system set autovacuum = off`;
    await admin`alter system set checkpoint_timeout = '1h'`;
    await admin`alter system set max_wal_size = '16GB'`;
    await admin`alter system set wal_keep_size = '4GB'`; // the standby is away for a while
    await load(primary.databaseUrl, LARGE, log);
    const players = await admin<Player[]>`
      select customer.id as user, sound.id as sound
      from (select id, row_number() over (order by random()) as n from public.customers) as customer
        join (select id, row_number() over (order by random()) as n from public.sounds where is_active) as sound using (n)
      limit 2000`;
    await admin.end();
    await primary.stop();
    makeStandby(folders.primary, folders.standby, port);
    primary = await startPrimary();

    const alone: Once[] = [];
    const replicated: Once[] = [];
    for (let round = 1; round <= rounds; round++) {
      log(`round ${round} of ${rounds}`);
      alone.push(await measureOnce({ primary, standby: null }, players));
      const standby = await startPostgres({ dataDir: folders.standby, port: 0, durable: false });
      const sql = postgres(as(SUPERUSER, primary.databaseUrl), { max: 1 });
      await caughtUp(sql, standby);
      await sql.end();
      replicated.push(await measureOnce({ primary, standby }, players));
      await standby.stop();
    }
    return { alone, replicated };
  } finally {
    await primary.stop();
    for (const folder of Object.values(folders)) removeFolder(folder);
    await rm(dataDir, { recursive: true, force: true });
  }
}

const ofRounds = (list: readonly Once[], figure: (once: Once) => number) => median(list.map(figure));

/** How the section begins in scale.md. */
export const replicasTitle = '## One read replica';

/** Measures, and returns the section of the report and what is wrong with the figures. */
export async function measureReplicas(log: (line: string) => void) {
  if (!knowsProcessorTime) return { section: '', problems: [] };
  const head = header();
  const { alone, replicated } = await measure(log);
  const row = (name: string, figure: (once: Once) => number, unit: (value: number) => string) => [
    name,
    unit(ofRounds(alone, figure)),
    unit(ofRounds(replicated, figure)),
  ];
  const thousand = (value: number) => `${whole(value)} ms`;
  const share = median(
    alone.map(({ mixed }, round) => (replicated[round]?.mixed.primaryMs ?? 0) / mixed.primaryMs),
  );
  const limit = `at most ${whole(100 * shareMax)} %`;
  const summary = markdownTable([
    ['', 'Primary alone', 'With one replica'],
    row('1,000 mixed requests: processor time of the primary', (once) => once.mixed.primaryMs, thousand),
    row('… of the replica', (once) => once.mixed.replicaMs, thousand),
    row('Mixed requests a second', (once) => once.mixed.perSecond, whole),
    row(
      '1,000 pages of `GET /sounds`: processor time of the primary',
      (once) => once.pages.primaryMs,
      thousand,
    ),
    row('Pages of `GET /sounds` a second', (once) => once.pages.perSecond, whole),
  ]);
  const costs = calls.map(({ request, times }, index) => [
    request,
    String(times),
    ...row('', (once) => once.single[index] ?? Number.NaN, milliseconds).slice(1),
  ]);
  const section = `${replicasTitle}

${head}
What apps ask of the data API in 20 minutes of listening, over ${connections} connections, each call in a transaction like PostgREST's. Catalogue
reads go to the replica, a hot standby on the same machine, and all else to the primary. Processor time is that of all processes of a
server: what the primary takes to send its changes counts, and so does what the replica takes to replay them. Medians of
${rounds} rounds. Both servers and the load share two cores here: what a replica adds to the figures "a second" shows on a machine of its own.

${summary}

The primary needs ${whole(100 * share)} % of what it needs alone; target: ${limit}; kept: ${verdict(share <= shareMax)}.

What one request costs the primary, in processor time:

${markdownTable([['Request', 'In the mix', 'Primary alone', 'With one replica'], ...costs])}
`;
  const problems =
    share <= shareMax
      ? []
      : [`With a replica the primary needs ${whole(100 * share)} % instead of ${limit}.`];
  return { section, problems };
}

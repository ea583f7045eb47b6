import { as } from 'local-supabase/database';
import { SUPERUSER } from 'local-supabase/postgres';
import type { Release } from 'local-supabase/postgres-files';
import type { ScratchDatabase } from 'local-supabase/scratch-database';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startDatabase } from '../../../test/support/prepared.ts';
import { type Explainer, indexesRead, openExplainer, rowsRead, tablesScanned } from '../explain.ts';
import { COLLECTOR_FAVORITES, load, loadRows, type Size } from '../load.ts';
import { isSearch, SMALL_TABLES, type Statement, statements } from '../statements.ts';

// The queries of `npm run bench:scale`, here in a catalogue just large enough for the planner to prefer indexes. A plan depends
// on what the planner knows, so each query is tried with statistics, without them, and on plans cached from an empty database.

const SIZE: Size = { sounds: 20_000, categories: 100, customers: 300, favorites: 20_000 };
const COLLECTOR_ALONE: Size = { ...SIZE, favorites: 0 };

/** An account of the database before it is loaded. */
const SOMEBODY = 'd0000000-0000-4000-8000-000000000001';

/** A loaded database, and a connection to it on which plans are seen. */
type Loaded = { database: ScratchDatabase; explainer: Explainer };

/** Fresh statistics, as autovacuum would make them. */
async function withStatistics(size: Size, release?: Release): Promise<Loaded> {
  const database = await startDatabase(release);
  await load(database.databaseUrl, size);
  return { database, explainer: await openExplainer(database.databaseUrl) };
}

/**
 * Right after an import: autovacuum has not come by yet.
 * @param isOld whether the connection has planned everything several times while the database was empty
 */
async function withoutStatistics(isOld: boolean): Promise<Loaded> {
  const database = await startDatabase();
  const { databaseUrl } = database;
  const admin = postgres(as(SUPERUSER, databaseUrl), { max: 1 });
  await admin`alter system set autovacuum = off`;
  await admin`select pg_reload_conf()`;
  await admin`insert into auth.users (id, email) values (${SOMEBODY}, 'somebody@example.com')`;
  await admin.end();

  const explainer = await openExplainer(databaseUrl);
  if (isOld) {
    const unknown = statements('2026-06-23T09:30:00.000Z', '2f6c1f0e-8a51-4a0e-9b5e-6f1d1c0b7a42', SOMEBODY);
    for (const { caller, sql } of unknown) {
      for (let run = 0; run < 10; run++) await explainer.rows({ ...caller, user: SOMEBODY }, sql);
    }
  }
  const sql = postgres(databaseUrl, { max: 1, onnotice() {} });
  await sql.begin((transaction) => loadRows(transaction, COLLECTOR_ALONE));
  await sql.end();
  return { database, explainer };
}

/** The statements, with a place far into the list and a sound that is there. */
async function statementsIn({ databaseUrl }: ScratchDatabase): Promise<Statement[]> {
  const sql = postgres(databaseUrl, { max: 1 });
  const [row] = await sql`
    select id, created_at from public.sounds where is_active order by sort_order, created_at desc offset 15000 limit 1`;
  await sql.end();
  return statements(row?.['created_at'].toISOString(), row?.['id']);
}

describe.for<[string, () => Promise<Loaded>]>([
  ['with fresh statistics', () => withStatistics(SIZE)],
  ['with fresh statistics, on PostgreSQL 15, which hosted projects may have', () => withStatistics(SIZE, 15)],
  ['where one user has all favorites', () => withStatistics(COLLECTOR_ALONE)],
  ['right after an import, on a new connection', () => withoutStatistics(false)],
  ['right after an import, on a connection older than the import', () => withoutStatistics(true)],
])('%s', ([, start]) => {
  let loaded: Loaded;
  let list: Statement[];
  beforeAll(async () => {
    loaded = await start();
    list = await statementsIn(loaded.database);
  });
  afterAll(async () => {
    await loaded.explainer.end();
    await loaded.database.stop();
  });
  const plansOf = ({ caller, sql }: Pick<Statement, 'caller' | 'sql'>) => loaded.explainer.plans(caller, sql);

  describe('uses an index and scans no large table:', () => {
    for (const [position, { name }] of statements('', '').entries()) {
      test(name, async () => {
        const statement = list[position] as Statement;
        const plans = await plansOf(statement);
        expect(tablesScanned(plans).filter((table) => !SMALL_TABLES.includes(table))).toEqual([]);
        expect(indexesRead(plans)).toContainEqual(expect.stringMatching(statement.index));
        // A search reads titles until its page is full.
        if (isSearch(statement)) return;
        expect(rowsRead(plans, 'sounds')).toBeLessThanOrEqual(COLLECTOR_FAVORITES);
        // Those of the caller, and one that is added.
        expect(rowsRead(plans, 'favorites')).toBeLessThanOrEqual(COLLECTOR_FAVORITES + 1);
      });
    }
  });

  test('a page far into the list is read from its cursor on, without reading and discarding earlier rows', async () => {
    const [first, far] = list as [Statement, Statement];
    for (const statement of [first, far]) {
      const plans = (await plansOf(statement)).join('\n');
      expect(plans).toMatch(/Scan Backward using sounds_list .* rows=51 /);
      // One more row than the page shows whether there is a next page.
      expect(plans).not.toMatch(/Rows Removed by Filter: (?![01]$)\d/m);
    }
    expect((await plansOf(far)).join('\n')).toContain('Index Cond: (ROW(list_rank, created_at) < ROW(');
  });

  test('listing favorites reads only those of the caller, in index order', async () => {
    const favorites = list.find(({ name }) => name === 'GET /favorites') as Statement;
    const plans = (await plansOf(favorites)).join('\n');
    expect(plans).toMatch(new RegExp(`using favorites_newest_first .* rows=${COLLECTOR_FAVORITES} loops=1`));
    expect(plans).not.toMatch(/Rows Removed by Filter: [1-9]|Sort Key/);
  });

  test('a play looks at no other listener of its day', async () => {
    const play = list.find(({ name }) => name === 'POST /sounds/{id}/play') as Statement;
    expect((await plansOf(play)).join('\n')).not.toContain('Filter: (user_id');
  });

  test('these tests would notice a scan of a large table, and one of a whole index', async () => {
    const scan = await plansOf({
      caller: { role: 'service_role' },
      sql: 'select count(*) from public.sounds where description is null',
    });
    expect(tablesScanned(scan)).toEqual(['sounds']);
    expect(rowsRead(scan, 'sounds')).toBe(SIZE.sounds);
    const indexScan = await plansOf({
      caller: { role: 'service_role' },
      sql: 'set local enable_seqscan = off; select count(title) from (select title from public.sounds order by id) as by_id',
    });
    expect(rowsRead(indexScan, 'sounds')).toBe(SIZE.sounds);
  });
});

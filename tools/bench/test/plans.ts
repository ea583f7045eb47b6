import type { Release } from 'local-supabase/postgres-files';
import type { ScratchDatabase } from 'local-supabase/scratch-database';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startDatabase } from '../../../test/support/prepared.ts';
import { type Explainer, indexesRead, openExplainer, rowsRead, tablesScanned } from '../explain.ts';
import { COLLECTOR_FAVORITES, load, type Size } from '../load.ts';
import { isSearch, type Statement, statements, tablesReadWhole } from '../statements.ts';

// The statements of `npm run bench`, in a catalogue just large enough for the planner to prefer indexes.

export const SIZE: Size = { sounds: 20_000, categories: 100, customers: 300, favorites: 20_000 };

/** A loaded database, and a connection that reports plans. */
export type Loaded = { database: ScratchDatabase; explainer: Explainer };

/** Loads a database with fresh statistics, as after an autovacuum. */
export async function withStatistics(size: Size, release?: Release): Promise<Loaded> {
  const database = await startDatabase(release);
  await load(database.databaseUrl, size);
  return { database, explainer: await openExplainer(database.databaseUrl) };
}

/** Returns the statements with an existing sound and a cursor far into the list. */
async function statementsIn({ databaseUrl }: ScratchDatabase): Promise<Statement[]> {
  const sql = postgres(databaseUrl, { max: 1 });
  const [row] = await sql`
    select id, created_at from public.sounds where is_active order by sort_order, created_at desc offset 15000 limit 1`;
  await sql.end();
  return statements(row?.['created_at'].toISOString(), row?.['id']);
}

/** Declares the tests of all plans, in the database that `start` returns. */
export function testPlans(start: () => Promise<Loaded>) {
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

  describe('statements', () => {
    for (const [position, { name }] of statements('', '').entries()) {
      test(`${name} uses an index and scans no large table`, async () => {
        const statement = list[position] as Statement;
        const plans = await plansOf(statement);
        expect(tablesScanned(plans).filter((table) => !tablesReadWhole(statement).includes(table))).toEqual(
          [],
        );
        if (tablesReadWhole(statement).includes('sounds')) return;
        expect(indexesRead(plans)).toContainEqual(expect.stringMatching(statement.index));
        // A search reads titles until its page is full.
        if (isSearch(statement)) return;
        expect(rowsRead(plans, 'sounds')).toBeLessThanOrEqual(COLLECTOR_FAVORITES);
        // Those of the caller, and one that is added.
        expect(rowsRead(plans, 'favorites')).toBeLessThanOrEqual(COLLECTOR_FAVORITES + 1);
      });
    }
  });

  test('a page far into the list reads no earlier rows', async () => {
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

  test('a play reads no other listener of its day', async () => {
    const play = list.find(({ name }) => name === 'POST /sounds/{id}/play') as Statement;
    expect((await plansOf(play)).join('\n')).not.toContain('Filter: (user_id');
  });

  test('scans of a large table and of a whole index are detected', async () => {
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
}

import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Explainer, indexesRead, openExplainer, tablesScanned } from '../bench/explain.ts';
import { COLLECTOR_FAVORITES, load } from '../bench/load.ts';
import { SMALL_TABLES, type Statement, statements } from '../bench/statements.ts';
import { type ScratchDatabase, startScratchDatabase } from '../dev/scratch-database.ts';

// The queries of `npm run bench:scale`, here in a catalogue just large enough for the planner to prefer indexes.

const SIZE = { sounds: 20_000, categories: 100, customers: 300, favorites: 20_000 };

let database: ScratchDatabase;
let explainer: Explainer;
let cursor: string;
let sound: string;

beforeAll(async () => {
  database = await startScratchDatabase();
  await load(database.databaseUrl, SIZE);
  const sql = postgres(database.databaseUrl, { max: 1 });
  const [row] = await sql`
    select id, created_at from public.sounds where is_active order by sort_order, created_at desc offset 15000 limit 1`;
  cursor = row?.['created_at'].toISOString();
  sound = row?.['id'];
  await sql.end();
  explainer = await openExplainer(database.databaseUrl);
});
afterAll(async () => {
  await explainer.end();
  await database.stop();
});

const plansOf = ({ caller, sql }: Pick<Statement, 'caller' | 'sql'>) => explainer.plans(caller, sql);

describe('uses an index and scans no large table:', () => {
  for (const [position, { name }] of statements('', '').entries()) {
    test(name, async () => {
      const statement = statements(cursor, sound)[position] as Statement;
      const plans = await plansOf(statement);
      expect(tablesScanned(plans).filter((table) => !SMALL_TABLES.includes(table))).toEqual([]);
      expect(indexesRead(plans)).toContainEqual(expect.stringMatching(statement.index));
    });
  }
});

test('a page far into the list is read from its cursor on, without reading and discarding earlier rows', async () => {
  const [first, far] = statements(cursor, sound) as [Statement, Statement];
  for (const statement of [first, far]) {
    const plans = (await plansOf(statement)).join('\n');
    expect(plans).toMatch(/Scan Backward using sounds_list .* rows=51 /);
    // One more row than the page shows whether there is a next page.
    expect(plans).not.toMatch(/Rows Removed by Filter: (?![01]$)\d/m);
  }
  expect((await plansOf(far)).join('\n')).toContain('Index Cond: (ROW(list_rank, created_at) < ROW(');
});

test('listing favorites reads only those of the caller, however many there are in all', async () => {
  const favorites = statements(cursor, sound).find(({ name }) => name === 'GET /favorites') as Statement;
  const plans = (await plansOf(favorites)).join('\n');
  expect(plans).toMatch(new RegExp(`using favorites_\\w+ .* rows=${COLLECTOR_FAVORITES} loops=1`));
  expect(plans).not.toMatch(/Rows Removed by Filter: [1-9]/);
});

test('these tests would notice a scan of a large table', async () => {
  const caller = { role: 'service_role' } as const;
  const plans = await plansOf({
    caller,
    sql: 'select count(*) from public.sounds where description is null',
  });
  expect(tablesScanned(plans)).toEqual(['sounds']);
});

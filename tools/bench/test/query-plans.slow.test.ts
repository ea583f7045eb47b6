import type { ScratchDatabase } from '@sounds-service/local-supabase/scratch-database';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDatabase } from '../../../test/support/prepared.ts';
import { type Explainer, indexesRead, openExplainer, rowsRead, tablesScanned } from '../explain.ts';
import { collectorFavorites, load, type Size } from '../load.ts';
import { isSearch, type Statement, statements, tablesReadWhole } from '../statements.ts';

// Tests the statements of `npm run bench` in a catalogue just large enough for the planner to prefer indexes.

const size: Size = { sounds: 10_000, categories: 100, customers: 300, favorites: 20_000 };

let database: ScratchDatabase;
let explainer: Explainer;
let list: Statement[];

const plansOf = ({ caller, sql }: Pick<Statement, 'caller' | 'sql'>) => explainer.plans(caller, sql);
const planNamed = async (wanted: string) =>
  (await plansOf(list.find(({ name }) => name === wanted) as Statement)).join('\n');

beforeAll(async () => {
  database = await startDatabase();
  await load(database.databaseUrl, size);
  explainer = await openExplainer(database.databaseUrl);
  const sql = postgres(database.databaseUrl, { max: 1 });
  const [row] = await sql`
        select id, created_at from public.sounds where is_active order by sort_order, created_at desc offset ${(size.sounds * 3) / 4} limit 1`;
  await sql.end();
  list = statements(row?.['created_at'].toISOString(), row?.['id']);
}, 180_000); // loads the catalogue
afterAll(async () => {
  await explainer.end();
  await database.stop();
});

test.for([...statements('', '').entries()].map(([position, { name }]) => ({ position, name })))(
  '$name uses an index and scans no large table',
  async ({ position }) => {
    const statement = list[position] as Statement;
    const plans = await plansOf(statement);
    const whole = tablesReadWhole(statement);
    expect(tablesScanned(plans).filter((table) => !whole.includes(table))).toEqual([]);
    if (whole.includes('sounds')) return;
    expect(indexesRead(plans)).toContainEqual(expect.stringMatching(statement.index));
    // A search reads titles until its page is full.
    if (isSearch(statement)) return;
    expect(rowsRead(plans, 'sounds')).toBeLessThanOrEqual(collectorFavorites);
    // The favorites of the caller, and one that is added.
    expect(rowsRead(plans, 'favorites')).toBeLessThanOrEqual(collectorFavorites + 1);
  },
);

test('a page far into the list, favorites and a play read no rows of others', async () => {
  const [first, far] = list as [Statement, Statement];
  for (const statement of [first, far]) {
    const plans = (await plansOf(statement)).join('\n');
    expect(plans).toMatch(/Scan Backward using sounds_list .* rows=51 /);
    // A statement may read one row more than the page has, to find out whether there is a next page.
    expect(plans).not.toMatch(/Rows Removed by Filter: (?![01]$)\d/m);
  }
  expect((await plansOf(far)).join('\n')).toContain('Index Cond: (ROW(list_rank, created_at) < ROW(');
  const favorites = await planNamed('GET /favorites');
  expect(favorites).toMatch(new RegExp(`using favorites_newest_first .* rows=${collectorFavorites} loops=1`));
  expect(favorites).not.toMatch(/Rows Removed by Filter: [1-9]|Sort Key/);
  expect(await planNamed('POST /sounds/{id}/play')).not.toContain('Filter: (user_id');
});

test('scans of a large table and of a whole index are detected', async () => {
  const scan = 'select count(*) from public.sounds where description is null';
  const sorted = 'select count(title) from (select title from public.sounds order by id) as by_id';
  for (const sql of [scan, `set local enable_seqscan = off; ${sorted}`]) {
    const plans = await plansOf({ caller: { role: 'service_role' }, sql });
    expect(tablesScanned(plans)).toEqual(sql === scan ? ['sounds'] : []);
    expect(rowsRead(plans, 'sounds')).toBe(size.sounds);
  }
});

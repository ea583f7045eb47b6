import postgres from 'postgres';
import { startScratchDatabase } from '../dev/scratch-database.ts';
import { type Explainer, openExplainer } from './explain.ts';
import { COLLECTOR, LARGE, load } from './load.ts';
import { median } from './measure.ts';
import { pagesPerCore } from './pages.ts';
import { milliseconds, type Table, verdict } from './report.ts';
import { isPage, msMax, plainRead, type Statement, statements } from './statements.ts';

export const pages = 1_000;
const pageSize = 50;

/** How many times what page 1 costs the last of these pages may. */
export const pageRatioMax = 1.2;
/** How many times what it takes to read its rows plainly a page may. */
export const plainRatioMax = 8;

/** A statement, what it takes in the database alone, and how it finds its rows. */
export type Measured = Statement & {
  ms: number;
  /** What reading the rows of the page by their ids takes; null for what is no page. */
  plainMs: number | null;
  plans: string[];
};

/** Median milliseconds of each statement; measured in turns, so that all meet the same machine. */
export async function inTurns(
  explainer: Explainer,
  list: readonly Pick<Statement, 'caller' | 'sql'>[],
  rounds = 21,
): Promise<number[]> {
  const times: number[][] = list.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, { caller, sql }] of list.entries()) {
      times[index]?.push(await explainer.milliseconds(caller, sql, 1));
    }
  }
  return times.map(median);
}

async function measure(explainer: Explainer, statement: Statement): Promise<Measured> {
  const plans = await explainer.plans(statement.caller, statement.sql);
  const plain = isPage(statement) ? [await plainRead(statement, explainer)] : [];
  const [ms = Number.NaN, plainMs = null] = await inTurns(explainer, [statement, ...plain]);
  return { ...statement, plans, ms, plainMs };
}

/** The place before the last of the pages, and a sound. */
export async function someRows(databaseUrl: string): Promise<{ cursor: string; sound: string }> {
  const sql = postgres(databaseUrl, { max: 1 });
  const [row] = await sql`
    select id, created_at from public.sounds where is_active
    order by sort_order, created_at desc offset ${(pages - 1) * pageSize - 1} limit 1`;
  await sql.end();
  return { cursor: row?.['created_at'].toISOString(), sound: row?.['id'] };
}

/** Leaves nobody's favorites but the collector's: another plan may look better then. */
export async function leaveCollectorAlone(databaseUrl: string) {
  const sql = postgres(databaseUrl, { max: 1 });
  await sql`delete from public.favorites where user_id <> ${COLLECTOR}`;
  await sql`vacuum analyze public.favorites`;
  await sql.end();
}

/** Fills a database of its own with `LARGE`, and measures the SQL functions behind the endpoints in it. */
export async function measureDatabase(log: (line: string) => void) {
  const database = await startScratchDatabase();
  const { databaseUrl } = database;
  try {
    const started = performance.now();
    await load(databaseUrl, LARGE, log);
    const loadSeconds = (performance.now() - started) / 1000;
    const { cursor, sound } = await someRows(databaseUrl);
    const explainer = await openExplainer(databaseUrl);
    const list = statements(cursor, sound);
    const rows: Measured[] = [];
    for (const statement of list) rows.push(await measure(explainer, statement));
    const [first = Number.NaN, late = Number.NaN] = await inTurns(explainer, list.slice(0, 2), 101);
    const perCore = await pagesPerCore(databaseUrl);

    const favorites = list.find(({ name }) => name === 'GET /favorites') as Statement;
    await leaveCollectorAlone(databaseUrl);
    rows.push(await measure(explainer, { ...favorites, name: 'GET /favorites, where nobody else has any' }));
    await explainer.end();
    return { rows, ratio: late / first, loadSeconds, perCore };
  } finally {
    await database.stop();
  }
}

/** The SQL functions alone, beside what they may take. */
export async function measureFunctions(): Promise<Table> {
  const { rows, ratio } = await measureDatabase(() => {});
  return {
    title: `The SQL functions at ${LARGE.sounds.toLocaleString('en')} sounds`,
    note: 'What a call takes in Postgres alone, without API and gateway. `npm run bench:scale` tells more.',
    head: ['Request', 'Median', 'At most', 'Kept'],
    rows: [
      ...rows.map((row) => [
        row.name,
        milliseconds(row.ms),
        milliseconds(msMax(row)),
        verdict(row.ms <= msMax(row)),
      ]),
      [
        `Page ${pages.toLocaleString('en')} of GET /sounds, beside page 1`,
        `${ratio.toFixed(2)} ×`,
        `${pageRatioMax} ×`,
        verdict(ratio <= pageRatioMax),
      ],
    ],
  };
}

import postgres from 'postgres';
import { startScratchDatabase } from '../dev/scratch-database.ts';
import { type Explainer, openExplainer } from './explain.ts';
import { LARGE, load } from './load.ts';
import { median } from './measure.ts';
import { milliseconds, type Table, verdict } from './report.ts';
import { isSearch, type Statement, statements } from './statements.ts';

export const pages = 1_000;
const pageSize = 50;

/** How many times what page 1 costs the last of these pages may. */
export const pageRatioMax = 1.2;
export const searchMsMax = 25;

/** A statement, what it takes in the database alone, and how it finds its rows. */
export type Measured = Statement & { ms: number; plans: string[] };

async function measure(explainer: Explainer, statement: Statement): Promise<Measured> {
  const plans = await explainer.plans(statement.caller, statement.sql);
  return { ...statement, plans, ms: await explainer.milliseconds(statement.caller, statement.sql) };
}

/** How many times what the first page costs a late one does; measured in turns, so that both meet the same machine. */
async function ratioOf(explainer: Explainer, first: Statement, late: Statement): Promise<number> {
  const times: [number[], number[]] = [[], []];
  for (let round = 0; round < 101; round++) {
    times[0].push(await explainer.milliseconds(first.caller, first.sql, 1));
    times[1].push(await explainer.milliseconds(late.caller, late.sql, 1));
  }
  return median(times[1]) / median(times[0]);
}

async function someRows(databaseUrl: string): Promise<{ cursor: string; sound: string }> {
  const sql = postgres(databaseUrl, { max: 1 });
  const [row] = await sql`
    select id, created_at from public.sounds where is_active
    order by sort_order, created_at desc offset ${(pages - 1) * pageSize - 1} limit 1`;
  await sql.end();
  return { cursor: row?.['created_at'].toISOString(), sound: row?.['id'] };
}

/** Fills a database of its own with `LARGE`, and measures the SQL functions behind the endpoints in it. */
export async function measureDatabase(log: (line: string) => void) {
  const database = await startScratchDatabase();
  try {
    const started = performance.now();
    await load(database.databaseUrl, LARGE, log);
    const loadSeconds = (performance.now() - started) / 1000;
    const { cursor, sound } = await someRows(database.databaseUrl);
    const explainer = await openExplainer(database.databaseUrl);
    const list = statements(cursor, sound);
    const rows: Measured[] = [];
    for (const statement of list) rows.push(await measure(explainer, statement));
    const ratio = await ratioOf(explainer, list[0] as Statement, list[1] as Statement);
    await explainer.end();
    return { rows, ratio, loadSeconds };
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
        ...(isSearch(row) ? [milliseconds(searchMsMax), verdict(row.ms <= searchMsMax)] : ['', '']),
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

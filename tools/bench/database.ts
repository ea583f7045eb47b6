import { startScratchDatabase } from 'local-supabase/scratch-database';
import { markdownTable } from 'markdown-table';
import postgres from 'postgres';
import { median } from 'simple-statistics';
import { type Explainer, openExplainer } from './explain.ts';
import { COLLECTOR, LARGE, load } from './load.ts';
import { pagesPerCore } from './pages.ts';
import { milliseconds, verdict, whole } from './report.ts';
import { plainRead, type Statement, statements } from './statements.ts';

const pageSize = 50;
const pages = 1_000;
/** How many times what page 1 costs the last of these pages may. */
export const pageRatioMax = 1.2;
/** How many times what it takes to read all titles a search may that has to. */
const titlesRatioMax = 2;

/** A statement, what it takes in the database alone, and how it finds its rows. */
export type Measured = Statement & {
  ms: number;
  /** What `plainRead` takes. */
  plainMs: number | null;
  plans: string[];
};

export type Measurement = Awaited<ReturnType<typeof measureDatabase>>;

/** Median milliseconds of each statement; measured in turns, so that all meet the same machine. */
async function inTurns(
  explainer: Explainer,
  list: readonly Pick<Statement, 'caller' | 'sql'>[],
  rounds: number,
): Promise<number[]> {
  const times: number[][] = list.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, { caller, sql }] of list.entries()) {
      times[index]?.push(await explainer.milliseconds(caller, sql));
    }
  }
  return times.map(median);
}

async function measure(explainer: Explainer, statement: Statement): Promise<Measured> {
  const { caller, sql } = statement;
  const plans = await explainer.plans(caller, sql);
  const plain = await plainRead(statement, explainer);
  const both = plain === null ? [statement] : [statement, { caller, sql: plain }];
  const [ms = Number.NaN, plainMs = null] = await inTurns(explainer, both, 21);
  return { ...statement, plans, ms, plainMs };
}

/** Fills a database of its own with `LARGE`, and measures the SQL functions behind the endpoints in it. */
export async function measureDatabase(log: (line: string) => void) {
  const { databaseUrl, stop } = await startScratchDatabase();
  const sql = postgres(databaseUrl, { max: 1 });
  try {
    const started = performance.now();
    await load(databaseUrl, LARGE, log);
    const loadSeconds = (performance.now() - started) / 1000;
    const [before] = await sql`
      select id, created_at from public.sounds where is_active
      order by sort_order, created_at desc offset ${(pages - 1) * pageSize - 1} limit 1`;
    const list = statements(before?.['created_at'].toISOString(), before?.['id']);
    const explainer = await openExplainer(databaseUrl);
    const rows: Measured[] = [];
    for (const statement of list) rows.push(await measure(explainer, statement));
    const [first = Number.NaN, late = Number.NaN] = await inTurns(explainer, list.slice(0, 2), 101);
    const perCore = await pagesPerCore(databaseUrl);

    // Another plan may look better where one user has all favorites.
    await sql`delete from public.favorites where user_id <> ${COLLECTOR}`;
    await sql`vacuum analyze public.favorites`;
    const favorites = list.find(({ name }) => name === 'GET /favorites') as Statement;
    rows.push(await measure(explainer, { ...favorites, name: 'GET /favorites, where nobody else has any' }));
    await explainer.end();
    return { rows, ratio: late / first, loadSeconds, perCore };
  } finally {
    await sql.end();
    await stop();
  }
}

/** What it may take, in milliseconds. */
export const limitOf = ({ msMax, plainMs }: Measured): number => msMax ?? titlesRatioMax * Number(plainMs);

/** What each function takes and may take, as a table. */
export function functionsTable({ rows, ratio }: Measurement): string {
  const lines = rows.map((row) => [
    row.name,
    milliseconds(row.ms),
    row.msMax === null ? `${titlesRatioMax} × its titles` : milliseconds(row.msMax),
    verdict(row.ms <= limitOf(row)),
    row.plainMs === null ? '' : `${(row.ms / row.plainMs).toFixed(1)} ×`,
  ]);
  const far = `Page ${whole(pages)} of GET /sounds, beside page 1`;
  return markdownTable([
    ['Request', 'Median', 'At most', 'Kept', 'Beside its rows or titles'],
    ...lines,
    [far, `${ratio.toFixed(2)} ×`, `${pageRatioMax} ×`, verdict(ratio <= pageRatioMax), ''],
  ]);
}

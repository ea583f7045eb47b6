import { startScratchDatabase } from '@sounds-service/local-supabase/scratch-database';
import { markdownTable } from 'markdown-table';
import postgres from 'postgres';
import { median } from 'simple-statistics';
import { type Explainer, indexesRead, openExplainer, rowsRead, tablesScanned } from './explain.ts';
import { collectorFavorites, largeSize, load } from './load.ts';
import { milliseconds, verdict, whole } from './report.ts';
import { isSearch, pageAfter, plainRead, type Statement, statements, tablesReadWhole } from './statements.ts';

const pageSize = 50;
const pages = 1_000;
/** Maximum cost of the last page, as a multiple of page 2, which has a cursor, too. */
const pageRatioMax = 1.2;
/** Maximum cost of a search that must read all titles, as a multiple of reading them. */
const titlesRatioMax = 2;
/** Maximum cost of a page, as a multiple of reading its rows by their ids. */
const plainRatioMax = 8;

/**
 * Time of the yardstick, the plain read of a page, on the machine for which the targets were set. If the yardstick
 * takes n times as long while a statement is measured, the time limit of the statement is n times as high.
 */
const yardstickMs = 0.35;

/** A statement with its cost in the database, and its plans. */
type Measured = Statement & {
  ms: number;
  /** Cost of `plainRead`. */
  plainMs: number | null;
  /** Time of the yardstick as a multiple of `yardstickMs`, at least 1. */
  slowness: number;
  plans: string[];
};

/** Measures statements in turns. @returns the median of each, in milliseconds */
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

async function measure(
  explainer: Explainer,
  statement: Statement,
  yardstick: Pick<Statement, 'caller' | 'sql'>,
): Promise<Measured> {
  const { caller, sql } = statement;
  const plans = await explainer.plans(caller, sql);
  const plain = await plainRead(statement, explainer);
  const both = plain === null ? [statement, yardstick] : [statement, yardstick, { caller, sql: plain }];
  const [ms = Number.NaN, yardMs = Number.NaN, plainMs = null] = await inTurns(explainer, both, 21);
  return { ...statement, plans, ms, plainMs, slowness: Math.max(1, yardMs / yardstickMs) };
}

/** Returns the targets that a statement misses. */
function problemsOf(measured: Measured): string[] {
  const { name, index, ms, plainMs, plans } = measured;
  const scanned = tablesScanned(plans).filter((table) => !tablesReadWhole({ name }).includes(table));
  const read = rowsRead(plans, 'sounds');
  const limit = limitOf(measured);
  const checks: [kept: boolean, problem: string][] = [
    [scanned.length === 0, `reads all of ${scanned.join(' and ')}`],
    [
      tablesReadWhole({ name }).includes('sounds') || indexesRead(plans).some((one) => index.test(one)),
      `does not use its index ${index}`,
    ],
    [isSearch({ name }) || read <= collectorFavorites, `reads ${read} rows of sounds`],
    [ms <= limit, `takes ${milliseconds(ms)}, more than ${milliseconds(limit)}`],
    [plainMs === null || ms <= plainRatioMax * plainMs, `takes ${plainRatioMax} times as long as its rows`],
  ];
  return checks.filter(([kept]) => !kept).map(([, problem]) => `${name} ${problem}.`);
}

const limitOf = ({ msMax, plainMs, slowness }: Measured) =>
  msMax === null ? titlesRatioMax * Number(plainMs) : msMax * slowness;

/**
 * Measures the SQL functions behind the endpoints in a database that holds `LARGE`.
 * @returns a summary, a section of the page of results, and the missed targets
 */
export async function databaseSection(): Promise<{ summary: string; section: string; problems: string[] }> {
  await using stack = new AsyncDisposableStack();
  const { databaseUrl, stop } = await startScratchDatabase();
  stack.defer(stop);
  await load(databaseUrl, largeSize);
  const sql = postgres(databaseUrl, { max: 1 });
  stack.defer(() => sql.end());
  const lastOf = async (page: number) => {
    const [last] = await sql`
      select id, created_at from public.sounds where is_active
      order by sort_order, created_at desc offset ${page * pageSize - 1} limit 1`;
    return { id: last?.['id'], cursor: last?.['created_at'].toISOString() };
  };
  const far = await lastOf(pages - 1);
  const list = statements(far.cursor, far.id);
  const explainer = await openExplainer(databaseUrl);
  stack.defer(explainer.end);
  const [first] = list as [Statement];
  const yardstick = { caller: first.caller, sql: String(await plainRead(first, explainer)) };
  const rows: Measured[] = [];
  for (const statement of list) rows.push(await measure(explainer, statement, yardstick));
  const near = pageAfter((await lastOf(1)).cursor);
  const [second = Number.NaN, last = Number.NaN] = await inTurns(explainer, [near, pageAfter(far.cursor)], 101);
  const problems = rows.flatMap(problemsOf);
  if (last / second > pageRatioMax) problems.push(`Page ${pages} takes ${last / second} times as long as page 2.`);
  return { summary: summaryOf(rows), section: sectionOf(rows, last / second), problems };
}

function summaryOf(rows: Measured[]): string {
  const slowest = (list: Measured[]) => milliseconds(Math.max(...list.map(({ ms }) => ms)));
  const isSearchField = ({ name }: Measured) => name.includes('q=');
  return `\
- **Postgres** takes ${milliseconds(median(rows.map(({ ms }) => ms)))} for half of the requests and ${slowest(rows.filter((row) => !isSearchField(row)))} for the slowest, apart from the
  search field, which takes up to ${slowest(rows.filter(isSearchField))}, with ${whole(largeSize.sounds)} sounds.
`;
}

function sectionOf(rows: Measured[], pageRatio: number): string {
  const lines = rows.map((row) => [
    row.name,
    milliseconds(row.ms),
    `${row.slowness.toFixed(1)} ×`,
    (row.msMax === null ? `${titlesRatioMax} × all titles` : milliseconds(row.msMax)) + (row.why ? `: ${row.why}` : ''),
    verdict(row.ms <= limitOf(row)),
    row.plainMs === null ? '' : `${(row.ms / row.plainMs).toFixed(1)} ×`,
  ]);
  const size = Object.entries(largeSize).map(([name, count]) => `${whole(count)} ${name}`);
  return `## The database

PostgreSQL 17 with default settings, ${size.join(', ')}. Time of a call in Postgres, and as a multiple of reading the
rows of the same page by their ids or, for a search of one or two letters, of reading all titles. Targets are for a
machine that reads a page of 50 sounds by their ids in ${yardstickMs} ms. Where the same read, in turn with the request, took
longer, *Slower* says how many times, and the request may take as many times its target.

${markdownTable([
  ['Request', 'Median', 'Slower', 'At most', 'Kept', 'Compared'],
  ...lines,
  [
    `Page ${whole(pages)} of GET /sounds`,
    '',
    '',
    `${pageRatioMax} × page 2`,
    verdict(pageRatio <= pageRatioMax),
    `${pageRatio.toFixed(2)} ×`,
  ],
])}
`;
}

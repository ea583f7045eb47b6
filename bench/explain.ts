import postgres from 'postgres';
import { as } from '../dev/database.ts';
import { SUPERUSER } from '../dev/postgres.ts';
import { median } from './measure.ts';

/** A connection on which every statement, also those inside functions, tells how it was carried out. */
export interface Explainer {
  /** Runs one statement as a role of the API; returns the plans of all that it ran, as text, without their times. */
  plans(caller: Caller, statement: string): Promise<string[]>;
  /** What one statement returns to a role of the API. */
  rows(caller: Caller, statement: string): Promise<postgres.Row[]>;
  /** Median of what the server needs for the statement, in milliseconds, without telling anybody about it. */
  milliseconds(caller: Caller, statement: string, runs?: number): Promise<number>;
  end(): Promise<void>;
}

/** Who calls: a role, and the user whose token it would be. */
export interface Caller {
  role: 'anon' | 'authenticated' | 'service_role';
  user?: string;
}

const SETTINGS = `
  load 'auto_explain';
  set auto_explain.log_nested_statements = on;
  set auto_explain.log_analyze = on;
  set auto_explain.log_timing = off;
  set client_min_messages = log`;

/** Opens one on a database whose superuser signs in without a password, as on the embedded one. */
export async function openExplainer(databaseUrl: string): Promise<Explainer> {
  let noted: string[] = [];
  const sql = postgres(as(SUPERUSER, databaseUrl), {
    max: 1,
    onnotice: ({ message }) => noted.push(message ?? ''),
  });
  await sql.unsafe(SETTINGS);

  /** Whatever the statement changes is undone. */
  async function run(caller: Caller, statement: string, threshold: number) {
    const claims = JSON.stringify({ sub: caller.user, role: caller.role });
    await sql.unsafe('begin');
    await sql.unsafe(`set local auto_explain.log_min_duration = ${threshold}`);
    await sql`select set_config('request.jwt.claims', ${claims}, true)`;
    await sql.unsafe(`set local role ${caller.role}`);
    noted = [];
    const rows = await sql.unsafe(statement);
    await sql.unsafe('rollback');
    return rows;
  }

  return {
    async plans(caller, statement) {
      await run(caller, statement, 0);
      return noted
        .filter((message) => message.includes('Scan'))
        .map((message) => message.replace(/^.*plan:\n/, ''));
    },
    rows: (caller, statement) => run(caller, statement, -1),
    async milliseconds(caller, statement, runs = 21) {
      const times: number[] = [];
      for (let i = 0; i < runs; i++) {
        const [row] = await run(caller, `explain (analyze, timing off, format json) ${statement}`, -1);
        times.push(row?.['QUERY PLAN'][0]['Execution Time']);
      }
      return median(times);
    },
    end: () => sql.end(),
  };
}

/** Tables that the plans read from one end to the other. */
export function tablesScanned(plans: string[]): string[] {
  return [
    ...new Set(
      plans.flatMap((plan) => [...plan.matchAll(/Seq Scan on (\w+)/g)].map(([, table = '']) => table)),
    ),
  ];
}

/** Indexes that the plans read. */
export function indexesRead(plans: string[]): string[] {
  const found = plans.flatMap((plan) => [
    ...plan.matchAll(/(?:Index (?:Only )?Scan(?: Backward)? using|Bitmap Index Scan on) (\w+)/g),
  ]);
  return [...new Set(found.map(([, index = '']) => index))];
}

/** How many rows of a table the statement looked at, through whichever index, at the place where it looked at most. */
export function rowsRead(plans: string[], table: string): number {
  const scans = plans.flatMap((plan) => [
    ...plan.matchAll(
      new RegExp(`Scan.* on ${table}\\b.*actual rows=(\\d+) loops=(\\d+)\\)((?:\\n +(?!->).*)*)`, 'g'),
    ),
  ]);
  const rows = scans.map(([, found, loops, details = '']) => {
    const removed = details.match(/Rows Removed by Filter: (\d+)/)?.[1] ?? 0;
    return (Number(found) + Number(removed)) * Number(loops);
  });
  return Math.max(0, ...rows);
}

import { as } from '@sounds-service/local-supabase/database';
import { superuserName } from '@sounds-service/local-supabase/postgres';
import postgres from 'postgres';

export interface Caller {
  role: 'anon' | 'authenticated' | 'service_role';
  user?: string;
}

const plannerSettings = `
  load 'auto_explain';
  set auto_explain.log_nested_statements = on;
  set auto_explain.log_analyze = on;
  set auto_explain.log_timing = off;
  set client_min_messages = log`;

/**
 * Opens a connection that reports the plans of all statements, also inside functions, and rolls each statement back.
 * @param databaseUrl a database whose superuser needs no password, such as the embedded one
 */
export async function openExplainer(databaseUrl: string) {
  let noted: string[] = [];
  const sql = postgres(as(superuserName, databaseUrl), {
    max: 1,
    onnotice: ({ message }) => noted.push(message ?? ''),
  });
  await sql.unsafe(plannerSettings);

  async function run({ role, user }: Caller, statement: string, notesPlans = false) {
    await sql.unsafe('begin');
    await sql.unsafe(`set local auto_explain.log_min_duration = ${notesPlans ? 0 : -1}`);
    await sql`select set_config('request.jwt.claims', ${JSON.stringify({ sub: user, role })}, true)`;
    await sql.unsafe(`set local role ${role}`);
    noted = [];
    const rows = await sql.unsafe(statement);
    await sql.unsafe('rollback');
    return rows;
  }

  return {
    /** Runs a statement as a role of the API. @returns the plans of all statements that it ran, without times */
    async plans(caller: Caller, statement: string) {
      await run(caller, statement, true);
      return noted.filter((message) => message.includes('Scan')).map((message) => message.replace(/^.*plan:\n/, ''));
    },
    /** Runs a statement as a role of the API. @returns its rows */
    rows: (caller: Caller, statement: string) => run(caller, statement),
    /** Returns the execution time of a statement on the server, in milliseconds. */
    async milliseconds(caller: Caller, statement: string): Promise<number> {
      const [row] = await run(caller, `explain (analyze, timing off, format json) ${statement}`);
      return row?.['QUERY PLAN'][0]['Execution Time'];
    },
    end: () => sql.end(),
  };
}

export type Explainer = Awaited<ReturnType<typeof openExplainer>>;

/** Returns the distinct matches of the first group of a pattern. */
function namesIn(plans: string[], pattern: RegExp): string[] {
  const names = plans.flatMap((plan) => [...plan.matchAll(pattern)].map(([, name = '']) => name));
  return [...new Set(names)];
}

/** Returns the tables that the plans read as a whole. */
export const tablesScanned = (plans: string[]) => namesIn(plans, /Seq Scan on (\w+)/g);

export const indexesRead = (plans: string[]) =>
  namesIn(plans, /(?:Index (?:Only )?Scan(?: Backward)? using|Bitmap Index Scan on) (\w+)/g);

/** Returns the highest number of rows of a table that one scan read. */
export function rowsRead(plans: string[], table: string): number {
  const scan = new RegExp(`Scan.* on ${table}\\b.*actual rows=(\\d+) loops=(\\d+)\\)((?:\\n +(?!->).*)*)`, 'g');
  const rows = [...plans.join('\n').matchAll(scan)].map(([, found, loops, details = '']) => {
    const removed = details.match(/Rows Removed by Filter: (\d+)/)?.[1] ?? 0;
    return (Number(found) + Number(removed)) * Number(loops);
  });
  return Math.max(0, ...rows);
}

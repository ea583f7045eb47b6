import { as } from 'local-supabase/database';
import { SUPERUSER } from 'local-supabase/postgres';
import postgres from 'postgres';

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

/**
 * Opens a connection on which every statement, also those inside functions, tells how it was carried out. Whatever a
 * statement changes is undone.
 * @param databaseUrl of a database whose superuser signs in without a password, as on the embedded one
 */
export async function openExplainer(databaseUrl: string) {
  let noted: string[] = [];
  const sql = postgres(as(SUPERUSER, databaseUrl), {
    max: 1,
    onnotice: ({ message }) => noted.push(message ?? ''),
  });
  await sql.unsafe(SETTINGS);

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
    /** Runs one statement as a role of the API; returns the plans of all that it ran, as text, without their times. */
    async plans(caller: Caller, statement: string) {
      await run(caller, statement, true);
      return noted
        .filter((message) => message.includes('Scan'))
        .map((message) => message.replace(/^.*plan:\n/, ''));
    },
    /** What one statement returns to a role of the API. */
    rows: (caller: Caller, statement: string) => run(caller, statement),
    /** What the server needs for one run of the statement, in milliseconds, without telling anybody about it. */
    async milliseconds(caller: Caller, statement: string): Promise<number> {
      const [row] = await run(caller, `explain (analyze, timing off, format json) ${statement}`);
      return row?.['QUERY PLAN'][0]['Execution Time'];
    },
    end: () => sql.end(),
  };
}

export type Explainer = Awaited<ReturnType<typeof openExplainer>>;

/** What the first group of a pattern matches in the plans, each once. */
function namesIn(plans: string[], pattern: RegExp): string[] {
  const names = plans.flatMap((plan) => [...plan.matchAll(pattern)].map(([, name = '']) => name));
  return [...new Set(names)];
}

/** Tables that the plans read from one end to the other. */
export const tablesScanned = (plans: string[]) => namesIn(plans, /Seq Scan on (\w+)/g);

/** Indexes that the plans read. */
export const indexesRead = (plans: string[]) =>
  namesIn(plans, /(?:Index (?:Only )?Scan(?: Backward)? using|Bitmap Index Scan on) (\w+)/g);

/** How many rows of a table the statement looked at, through whichever index, at the place where it looked at most. */
export function rowsRead(plans: string[], table: string): number {
  const scan = new RegExp(
    `Scan.* on ${table}\\b.*actual rows=(\\d+) loops=(\\d+)\\)((?:\\n +(?!->).*)*)`,
    'g',
  );
  const rows = [...plans.join('\n').matchAll(scan)].map(([, found, loops, details = '']) => {
    const removed = details.match(/Rows Removed by Filter: (\d+)/)?.[1] ?? 0;
    return (Number(found) + Number(removed)) * Number(loops);
  });
  return Math.max(0, ...rows);
}

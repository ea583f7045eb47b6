import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { as } from '@sounds-service/local-supabase/database';
import { superuserName } from '@sounds-service/local-supabase/postgres';
import postgres from 'postgres';

/** Assertion in TAP, the Test Anything Protocol. */
interface TapTest {
  ok: boolean;
  name: string;
  diagnosis: string;
}

/** Output of a test: number of planned assertions, and the assertions made. */
interface Tap {
  planned: number | undefined;
  tests: TapTest[];
}

/** Parses TAP as pgTAP writes it. Comment lines after an assertion are its diagnosis. */
function parseTap(output: string): Tap {
  const tap: Tap = { planned: undefined, tests: [] };
  for (const line of output.split('\n')) {
    const [, not, name] = /^(not )?ok \d+(?: - (.*))?$/.exec(line) ?? [];
    const [, planned] = /^1\.\.(\d+)$/.exec(line) ?? [];
    const last = tap.tests.at(-1);
    if (name !== undefined) tap.tests.push({ ok: not === undefined, name, diagnosis: '' });
    else if (planned !== undefined) tap.planned = Number(planned);
    else if (line.startsWith('# ') && last) last.diagnosis += `${line.slice(2)}\n`;
  }
  return tap;
}

/**
 * Adds pgTAP to the schema `extensions`, as `supabase test db` does. The superuser, who owns extensions on a hosted
 * project, runs the extension's script, because the embedded server lacks the extension.
 */
export async function installPgtap(databaseUrl: string): Promise<void> {
  const archive = fileURLToPath(new URL('pgtap.tar.gz', import.meta.resolve('@electric-sql/pglite-pgtap')));
  const script = 'share/postgresql/extension/pgtap.sql';
  const { stdout } = await promisify(execFile)('tar', ['-xzOf', archive, script], { maxBuffer: 2 ** 24 });
  const sql = postgres(as(superuserName, databaseUrl), { max: 1, onnotice() {} });
  await sql.unsafe(`set search_path to extensions; ${stdout}`);
  await sql.end();
}

/**
 * Runs a pgTAP file as `postgres` on a separate connection.
 * @throws the first SQL error
 */
export async function runPgtap(databaseUrl: string, file: string): Promise<Tap> {
  const sql = postgres(databaseUrl, { max: 1, onnotice() {} });
  try {
    const results = await sql.file(file).simple();
    const rows = (Array.isArray(results[0]) ? results : [results]).flat();
    return parseTap(rows.flatMap((row) => Object.values(row)).join('\n'));
  } finally {
    await sql.end();
  }
}

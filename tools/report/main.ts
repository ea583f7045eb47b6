import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { readEnvFile } from '@sounds-service/local-supabase/env-file';
import { readFigures } from './figures.ts';
import { reportPage } from './page.ts';

// `npm run report` writes one HTML page about the use of the service.

const usage = `Usage: npm run report -- [--days 30] [--database URL] [--out FILE]
  --days N         the last N days, today included: 1 to 365. Default: 30
    --database URL   the database, such as postgresql://postgres:<password>@<host>:5432/postgres. Default: DATABASE_URL,
                     or the database of npm run dev
  --out FILE       the page to write. Default: sounds-report.html`;

/** Reads the command line. @throws an Error about an invalid argument */
function readOptions(args: string[], env: NodeJS.ProcessEnv) {
  const { values } = parseArgs({
    args,
    options: {
      days: { type: 'string', default: '30' },
      database: { type: 'string' },
      out: { type: 'string', default: 'sounds-report.html' },
      help: { type: 'boolean', default: false },
    },
  });
  const days = Number(values.days);
  if (!Number.isInteger(days) || days < 1 || days > 365)
    throw new Error(`--days must be a whole number from 1 to 365, not "${values.days}".`);
  const ofDev = `postgresql://postgres:postgres@127.0.0.1:${env['SUPABASE_DB_PORT'] || 54322}/postgres`;
  const database = values.database ?? (env['DATABASE_URL'] || ofDev);
  if (!URL.canParse(database))
    throw new Error('The address of the database must be a URL. Copy it from Connect in the dashboard.');
  return { days, database, out: resolve(values.out), help: values.help };
}

/** Returns the remedy for an expected failure, otherwise its message. */
function explain(error: unknown, database: string): string {
  const { code = '', message } = error as Error & { code?: string };
  const host = new URL(database).host;
  const known: Record<string, string> = {
    ECONNREFUSED: `There is no database at ${host}. Start npm run dev, or give another one with --database.`,
    ENOTFOUND: `There is no host ${host}. Copy the address of the database from Connect in the dashboard.`,
    CONNECT_TIMEOUT: `The database at ${host} does not answer. Check the address and the firewall.`,
    '28P01': `The database at ${host} does not accept the password. Reset it under Project Settings, Database.`,
    '3F000': 'This database lacks the schema admin. Apply the migrations first.',
    '42P01': 'This database lacks the views of the schema admin. Apply the migrations first.',
    '42501': 'This account may not read the schema admin. Connect as postgres.',
  };
  return known[code] ?? message;
}

async function main() {
  readEnvFile();
  const { days, database, out, help } = readOptions(process.argv.slice(2), process.env);
  if (help) return console.log(usage);
  try {
    const figures = await readFigures(database, days);
    writeFileSync(out, reportPage(figures, new Date()));
    console.log(`Written: ${out}`);
  } catch (error) {
    console.error(explain(error, database));
    process.exitCode = 1;
  }
}

await main().catch((error: Error) => {
  console.error(`${error.message}\n\n${usage}`);
  process.exitCode = 1;
});

import { styleText } from 'node:util';
import { configOrExit } from '../config/config.ts';
import { parseArguments } from './arguments.ts';
import { runChecks } from './checks.ts';
import type { Result } from './result.ts';
import { createRun } from './run.ts';

// `npm run doctor` checks a deployment, and tells how to fix each problem.

const usage = `Usage: npm run doctor -- [--gateway https://host] [--json]

Checks the Supabase project and the Redis that the environment or .env names, and with --gateway
a running gateway, too. Creates a temporary account and two small files, and removes them.`;

function readArguments() {
  try {
    const parsed = parseArguments(process.argv.slice(2));
    if (parsed.help) {
      console.log(usage);
      process.exit(0);
    }
    return parsed;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${usage}`);
    process.exit(1);
  }
}

const colours = { ok: 'green', problem: 'red', warning: 'yellow', 'not checked': 'dim' } as const;
const widest = 25;

function print({ check, status, detail, remedy }: Result) {
  console.log(`${styleText(colours[status], status.padEnd(12))} ${check.padEnd(widest)} ${detail}`);
  if (remedy !== undefined) console.log(`${' '.repeat(13 + widest)} ${styleText('bold', 'Remedy:')} ${remedy}`);
}

const { json, gateway } = readArguments();
const run = createRun(configOrExit(), gateway);

// The first signal still removes what was created. The second ends the process at once.
const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interruption.abort());

const results = await runChecks(run, json ? () => {} : print, interruption.signal);
await run.close();
if (interruption.signal.aborted) process.exit(1);
const problems = results.filter(({ status }) => status === 'problem').length;
if (json) console.log(JSON.stringify({ ok: problems === 0, results }, null, 2));
else if (problems === 0) console.log('\nNothing needs to be fixed.');
else console.log(`\n${problems} ${problems === 1 ? 'problem' : 'problems'} to fix.`);
process.exitCode = problems === 0 ? 0 : 1;

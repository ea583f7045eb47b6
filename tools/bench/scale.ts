import { readFileSync, writeFileSync } from 'node:fs';
import { markdownTable } from 'markdown-table';
import {
  functionsTable,
  limitOf,
  type Measured,
  type Measurement,
  measureDatabase,
  pageRatioMax,
} from './database.ts';
import { indexesRead, rowsRead, tablesScanned } from './explain.ts';
import { COLLECTOR_FAVORITES, LARGE } from './load.ts';
import { measurePlays, type PlayFigures, playTargets } from './plays.ts';
import { measureReplicas, replicasTitle } from './replicas.ts';
import { header, verdict, whole } from './report.ts';
import { isSearch, SMALL_TABLES } from './statements.ts';

// `npm run bench:scale`: what each request costs the database when it is large, and how it finds its rows. A guarantee that
// does not hold is named, and ends the run with exit code 1.

const loadSecondsMax = 120;
/** How many times what it takes to read its rows plainly a page may. */
const plainRatioMax = 8;

function problemsOf(row: Measured): string[] {
  const { name, index, ms, plainMs, plans } = row;
  const limit = limitOf(row);
  const scanned = tablesScanned(plans).filter((table) => !SMALL_TABLES.includes(table));
  const read = rowsRead(plans, 'sounds');
  const checks: [kept: boolean, problem: string][] = [
    [scanned.length === 0, `reads all of ${scanned.join(' and ')}`],
    [indexesRead(plans).some((one) => index.test(one)), `does not use its index ${index}`],
    [isSearch(row) || read <= COLLECTOR_FAVORITES, `reads ${read} rows of sounds`],
    [ms <= limit, `takes ${ms.toFixed(1)} ms, more than ${limit.toFixed(1)}`],
    [
      plainMs === null || ms <= plainRatioMax * plainMs,
      `takes more than ${plainRatioMax} times what its rows take`,
    ],
  ];
  return checks.filter(([kept]) => !kept).map(([, problem]) => `${name} ${problem}.`);
}

function report(head: string, measurement: Measurement, plays: PlayFigures): string {
  const { loadSeconds, perCore } = measurement;
  const size = Object.entries(LARGE).map(([name, count]) => `${whole(count)} ${name}`);
  return `# Results of \`npm run bench:scale\`: the database when it is large

${head}- Database: PostgreSQL 17 with default settings, without waiting for the disk unless said
- Size: ${size.join(', ')}; loaded in ${loadSeconds.toFixed(0)} s

## The SQL functions

"Beside its rows" compares with reading the rows of the same page by their ids, at most ${plainRatioMax} times as long; a search of one
or two letters, which no index knows, is compared with reading all titles of the list.
The plans, and the indexes that each request reads, are in plans.md, which the run writes beside this page.

${functionsTable(measurement)}

## Counting plays, with the disk waited for

With receipt, day and history a play does more than the counter alone, which only counts. Both are measured in turns, each play in a
transaction of its own, with \`fsync\` on. A play does not wait for the disk (\`synchronous_commit\` is off for its transaction
alone): a crash of Postgres may lose the plays of the last half second, and nothing else.

${markdownTable([
  ['', 'Measured', 'Target', 'Kept'],
  ...playTargets(plays).map(({ name, measured, limit, kept }) => [name, measured, limit, verdict(kept)]),
])}

## Pages of \`GET /sounds\` that one core of Postgres serves in a second

Each in a transaction like PostgREST's.

${markdownTable([
  ['Connections', ...perCore.map(({ connections }) => String(connections))],
  ['Pages a second', ...perCore.map(({ perSecond }) => whole(perSecond))],
])}
`;
}

/** The plans, each once: one that reads the same tables by the same indexes as an earlier one is left out. */
function planBook(rows: Measured[]): string {
  const seen = new Set<string>();
  const isNew = (plan: string) => {
    const scans = [...plan.matchAll(/[\w ]+ Scan [\w ]+|ROW/g)].join('\n');
    return seen.size < seen.add(scans).size;
  };
  const chapters = rows.map(({ name, sql, plans }) => {
    const bare = plans.map((plan) =>
      plan.replace(/^[\s\S]*?(?=^\S[^\n]*\(cost=)/m, '').replace(/ \(cost=\S+ rows=\d+ width=\d+\)/g, ''),
    );
    const blocks = bare.filter(isNew).map((plan) => `\`\`\`\n${plan}\n\`\`\``);
    const indexes = indexesRead(plans).join(', ');
    return `## ${name}\n\n\`${sql}\`\n\nIndexes read: ${indexes}.\n\n${blocks.join('\n\n') || 'As before.'}\n`;
  });
  const note =
    'For the requests of [scale.md](scale.md). One that reads the same by the same indexes is shown once.';
  return `# Plans\n\n${note}\n\n${chapters.join('\n')}`;
}

const usage = `Usage: npm run bench:scale [-- replicas]

Measures everything, and writes tools/bench/scale.md and tools/bench/plans.md; or only what a read replica brings, and writes that section of
tools/bench/scale.md anew.`;
const [argument] = process.argv.slice(2);
if (argument === '--help') {
  console.log(usage);
  process.exit(0);
}
if (argument !== undefined && argument !== 'replicas') {
  console.error(`"${argument}" is not understood.\n\n${usage}`);
  process.exit(1);
}

const scaleFile = new URL('scale.md', import.meta.url);

/** Ends the run, with what is wrong. */
function end(problems: string[]): never {
  for (const problem of problems) console.error(problem);
  process.exit(problems.length > 0 ? 1 : 0);
}

if (argument === 'replicas') {
  const { section, problems } = await measureReplicas(console.log);
  const [others = ''] = readFileSync(scaleFile, 'utf8').split(replicasTitle); // the last section
  writeFileSync(scaleFile, `${others.trimEnd()}\n\n${section}`);
  console.log(section);
  end(problems);
}

const before = header(); // the load of the machine without ours
const measurement = await measureDatabase(console.log);
const plays = await measurePlays();
const { rows, ratio, loadSeconds } = measurement;
const replicas = await measureReplicas(console.log);
const text = `${report(before, measurement, plays)}\n${replicas.section}`;
writeFileSync(scaleFile, text);
writeFileSync(new URL('plans.md', import.meta.url), planBook(rows));
console.log(text);
const problems = [...rows.flatMap(problemsOf), ...replicas.problems];
if (ratio > pageRatioMax)
  problems.push(`Page 1,000 of GET /sounds costs ${ratio.toFixed(2)} times what page 1 costs.`);
for (const { name, measured, limit, kept } of playTargets(plays))
  if (!kept) problems.push(`${name}: ${measured} instead of ${limit}.`);
if (loadSeconds > loadSecondsMax) problems.push(`Loading took more than ${loadSecondsMax} s.`);
end(problems);

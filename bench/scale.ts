import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { type Measured, measureDatabase, pageRatioMax, pages, plainRatioMax } from './database.ts';
import { indexesRead, rowsRead, tablesScanned } from './explain.ts';
import { COLLECTOR_FAVORITES, LARGE } from './load.ts';
import { connectionCounts } from './pages.ts';
import { commit } from './report.ts';
import { isSearch, msMax, SMALL_TABLES } from './statements.ts';

// `npm run bench:scale`: what each request costs the database when it is large, and how it finds its rows. A guarantee that
// does not hold is named, and ends the run with exit code 1.

const loadSecondsMax = 120;

function problemsOf(row: Measured): string[] {
  const { name, index, ms, plainMs, plans } = row;
  const read = rowsRead(plans, 'sounds');
  const scanned = tablesScanned(plans).filter((table) => !SMALL_TABLES.includes(table));
  return [
    ...scanned.map((table) => `${name} reads the whole table ${table}.`),
    ...(indexesRead(plans).some((one) => index.test(one))
      ? []
      : [`${name} does not use its index ${index}.`]),
    ...(!isSearch(row) && read > COLLECTOR_FAVORITES ? [`${name} reads ${read} rows of sounds.`] : []),
    ...(ms > msMax(row) ? [`${name} takes ${ms.toFixed(1)} ms, more than ${msMax(row)}.`] : []),
    ...(plainMs !== null && ms > plainRatioMax * plainMs
      ? [`${name} takes ${(ms / plainMs).toFixed(1)} times what its rows take.`]
      : []),
  ];
}

const rowOf = (row: Measured) =>
  `| \`${row.name}\` | ${row.ms.toFixed(2)} ms | ${msMax(row)} ms | ` +
  `${row.plainMs === null ? '' : `${(row.ms / row.plainMs).toFixed(1)} ×`} | ${indexesRead(row.plans).join(', ')} |`;

function report({ rows, ratio, loadSeconds, perCore }: Awaited<ReturnType<typeof measureDatabase>>): string {
  const size = Object.entries(LARGE).map(([name, count]) => `${count.toLocaleString('en')} ${name}`);
  return `# The database when it is large

${size.join(', ')}; a catalogue with ${pages.toLocaleString('en')} pages and more. Made by \`npm run bench:scale\` on
${new Date().toISOString().slice(0, 10)} at ${commit()}: PostgreSQL 17 with default settings, without waiting for the disk, on ${cpus().length} × ${cpus()[0]?.model.trim()}.
The plans are in [plans.md](plans.md).

- Loading took ${loadSeconds.toFixed(0)} s.
- Page ${pages.toLocaleString('en')} of \`GET /sounds\` costs ${ratio.toFixed(2)} times what page 1 costs.

Pages of \`GET /sounds\` that one core of Postgres serves in a second, each in a transaction like PostgREST's:

| Connections | ${connectionCounts.join(' | ')} |
|---|${'---:|'.repeat(connectionCounts.length)}
| Pages a second | ${perCore.map((pages) => Math.round(pages).toLocaleString('en-US')).join(' | ')} |

"Beside its rows" compares with reading the rows of the same page by their ids, at most ${plainRatioMax} times as long.

| Request | Median in the database | At most | Beside its rows | Indexes read |
|---|---:|---:|---:|---|
${rows.map(rowOf).join('\n')}
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
    return `## ${name}\n\n\`${sql}\`\n\n${blocks.join('\n\n') || 'As before.'}\n`;
  });
  return `# Plans\n\nFor the requests of [scale.md](scale.md). One that reads the same by the same indexes is shown once.\n\n${chapters.join('\n')}`;
}

const measured = await measureDatabase(console.log);
const { rows, ratio, loadSeconds } = measured;
const text = report(measured);
await writeFile(new URL('scale.md', import.meta.url), text);
await writeFile(new URL('plans.md', import.meta.url), planBook(rows));
console.log(text);
const problems = rows.flatMap(problemsOf);
if (ratio > pageRatioMax) problems.push(`Page ${pages} costs ${ratio.toFixed(2)} times what page 1 costs.`);
if (loadSeconds > loadSecondsMax) problems.push(`Loading took more than ${loadSecondsMax} s.`);
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;

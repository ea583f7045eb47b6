import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { type Measured, measureDatabase, pageRatioMax, pages, searchMsMax } from './database.ts';
import { indexesRead, tablesScanned } from './explain.ts';
import { LARGE } from './load.ts';
import { commit } from './report.ts';
import { isSearch, SMALL_TABLES } from './statements.ts';

// `npm run bench:scale`: what each request costs the database when it is large, and how it finds its rows. A guarantee that
// does not hold is named, and ends the run with exit code 1.

const loadSecondsMax = 120;

function problemsOf(row: Measured): string[] {
  const { name, index, ms, plans } = row;
  const scanned = tablesScanned(plans).filter((table) => !SMALL_TABLES.includes(table));
  return [
    ...scanned.map((table) => `${name} reads the whole table ${table}.`),
    ...(indexesRead(plans).some((read) => index.test(read))
      ? []
      : [`${name} does not use its index ${index}.`]),
    ...(isSearch(row) && ms > searchMsMax
      ? [`${name} takes ${ms.toFixed(1)} ms, more than ${searchMsMax}.`]
      : []),
  ];
}

function report(rows: Measured[], ratio: number, loadSeconds: number): string {
  const size = Object.entries(LARGE).map(([name, count]) => `${count.toLocaleString('en')} ${name}`);
  return `# The database when it is large

${size.join(', ')}; a catalogue with ${pages.toLocaleString('en')} pages and more. Made by \`npm run bench:scale\` on
${new Date().toISOString().slice(0, 10)} at ${commit()}: PostgreSQL 17 with default settings, without waiting for the disk, on ${cpus().length} × ${cpus()[0]?.model.trim()}.
The plans are in [plans.md](plans.md).

- Loading took ${loadSeconds.toFixed(0)} s.
- Page ${pages.toLocaleString('en')} of \`GET /sounds\` costs ${ratio.toFixed(2)} times what page 1 costs.

| Request | Median in the database | Indexes read |
|---|---:|---|
${rows.map(({ name, ms, plans }) => `| \`${name}\` | ${ms.toFixed(1)} ms | ${indexesRead(plans).join(', ')} |`).join('\n')}
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

const { rows, ratio, loadSeconds } = await measureDatabase(console.log);
const text = report(rows, ratio, loadSeconds);
await writeFile(new URL('scale.md', import.meta.url), text);
await writeFile(new URL('plans.md', import.meta.url), planBook(rows));
console.log(text);
const problems = rows.flatMap(problemsOf);
if (ratio > pageRatioMax) problems.push(`Page ${pages} costs ${ratio.toFixed(2)} times what page 1 costs.`);
if (loadSeconds > loadSecondsMax) problems.push(`Loading took more than ${loadSecondsMax} s.`);
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;

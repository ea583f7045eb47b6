import { writeFileSync } from 'node:fs';
import { databaseSection } from './database.ts';
import { gatewaySection } from './gateway.ts';
import { header } from './report.ts';

const parts = { gateway: gatewaySection, database: databaseSection };
const usage = `Usage: npm run bench -- [${Object.keys(parts).join('] [')}]

Measures the named part, or both. Without arguments, writes tools/bench/results.md. Exit code 1: a target is missed.`;

const named = process.argv.slice(2);
if (named.includes('--help')) {
  console.log(usage);
  process.exit(0);
}
const unknown = named.find((name) => !(name in parts));
if (unknown !== undefined) {
  console.error(`The benchmark has no part "${unknown}".\n\n${usage}`);
  process.exit(1);
}
const measured = header();
const summaries: string[] = [];
const sections: string[] = [];
const problems: string[] = [];
const isWhole = named.length === 0;
for (const [name, measure] of Object.entries(parts)) {
  if (!isWhole && !named.includes(name)) continue;
  const { summary, section, problems: missed } = await measure();
  summaries.push(summary);
  sections.push(section);
  problems.push(...missed);
}
const page = `# Results of \`npm run bench\`

${summaries.join('')}- [Capacity](capacity.md) says what that is in users, [README](README.md#how-to-read-it) how to read the tables.

${measured}
${sections.join('\n')}`;
console.log(page);
if (isWhole) writeFileSync(new URL('results.md', import.meta.url), page);
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;

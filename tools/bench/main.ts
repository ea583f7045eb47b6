import { writeFileSync } from 'node:fs';
import { markdownTable } from 'markdown-table';
import { functionsTable, measureDatabase } from './database.ts';
import { firstAnswer, peakMemory, requests } from './gateway.ts';
import { header } from './report.ts';
import { start } from './servers.ts';

// `npm run bench`: what the gateway costs beside others that answer the same. README.md says how to read it.

const gatewayParts = { requests, memory: peakMemory, start: firstAnswer };
const parts = [...Object.keys(gatewayParts), 'database'];
const chosen = process.argv.length > 2 ? process.argv.slice(2) : parts;

const usage = `Usage: npm run bench -- [${parts.join('] [')}]

Measures the parts that are named, or all of them. Only a run of all writes tools/bench/results.md.`;

if (chosen.includes('--help')) {
  console.log(usage);
  process.exit(0);
}
const unknown = chosen.find((name) => !parts.includes(name));
if (unknown !== undefined) {
  console.error(`"${unknown}" is no part of the benchmark.\n\n${usage}`);
  process.exit(1);
}

async function gatewaySection(): Promise<string> {
  await using supabase = await start('tools/bench/stub.ts');
  const rows: string[][] = [];
  for (const [name, measure] of Object.entries(gatewayParts)) {
    if (chosen.includes(name)) rows.push(...(await measure(supabase)));
  }
  return `## The gateway

Answers a second of processor time, latency, memory. Medians of all rounds; compared round by round, with quartiles.

${markdownTable([['What', 'Against', 'Gateway', 'Other', 'Compared', 'Target', 'Kept'], ...rows])}
`;
}

const databaseSection = async () => `## The SQL functions at 100,000 sounds

What a call takes in Postgres alone, without API and gateway, and beside reading the rows of the same page by their ids; a search
of one or two letters, which no index knows, beside reading all titles of the list.
\`npm run bench:scale\` tells more.

${functionsTable(await measureDatabase(() => {}))}
`;

const sections = [
  '# Results of `npm run bench`\n',
  header(),
  'README.md beside this file says what is compared, and how to read it.\n',
];
if (chosen.some((name) => name in gatewayParts)) sections.push(await gatewaySection());
if (chosen.includes('database')) sections.push(await databaseSection());
const report = sections.join('\n');
console.log(report);
if (parts.every((name) => chosen.includes(name)))
  writeFileSync(new URL('results.md', import.meta.url), report);

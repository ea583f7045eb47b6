import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import postgres from 'postgres';
import { startScratchDatabase } from '../dev/scratch-database.ts';
import { type Explainer, indexesRead, openExplainer, tablesScanned } from './explain.ts';
import { LARGE, load } from './load.ts';
import { SMALL_TABLES, type Statement, statements } from './statements.ts';

// `npm run bench:scale`: what each request costs the database when it is large, and how it finds its rows. A guarantee that
// does not hold is named, and ends the run with exit code 1.

const PAGES = 1_000;
const PAGE_SIZE = 50;
const PAGE_RATIO_MAX = 1.2;
const SEARCH_MS_MAX = 25;
const LOAD_SECONDS_MAX = 120;

interface Measured extends Statement {
  ms: number;
  plans: string[];
}

async function measure(explainer: Explainer, statement: Statement): Promise<Measured> {
  const plans = await explainer.plans(statement.caller, statement.sql);
  return { ...statement, plans, ms: await explainer.milliseconds(statement.caller, statement.sql) };
}

/** How many times what the first page costs a late one does; measured in turns, so that both meet the same machine. */
async function ratioOf(explainer: Explainer, first: Statement, late: Statement): Promise<number> {
  const times: [number[], number[]] = [[], []];
  for (let round = 0; round < 101; round++) {
    times[0].push(await explainer.milliseconds(first.caller, first.sql, 1));
    times[1].push(await explainer.milliseconds(late.caller, late.sql, 1));
  }
  const [one, other] = times.map((list) => list.sort((a, b) => a - b)[50] as number) as [number, number];
  return other / one;
}

function problemsOf({ name, index, ms, plans }: Measured): string[] {
  const scanned = tablesScanned(plans).filter((table) => !SMALL_TABLES.includes(table));
  return [
    ...scanned.map((table) => `${name} reads the whole table ${table}.`),
    ...(indexesRead(plans).some((read) => index.test(read))
      ? []
      : [`${name} does not use its index ${index}.`]),
    ...(name.includes('search=') && ms > SEARCH_MS_MAX
      ? [`${name} takes ${ms.toFixed(1)} ms, more than ${SEARCH_MS_MAX}.`]
      : []),
  ];
}

async function someRows(databaseUrl: string): Promise<{ cursor: string; sound: string }> {
  const sql = postgres(databaseUrl, { max: 1 });
  const [row] = await sql`
    select id, created_at from public.sounds where is_active
    order by sort_order, created_at desc offset ${(PAGES - 1) * PAGE_SIZE - 1} limit 1`;
  await sql.end();
  return { cursor: row?.['created_at'].toISOString(), sound: row?.['id'] };
}

function report(rows: Measured[], ratio: number, loadSeconds: number): string {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  const size = Object.entries(LARGE).map(([name, count]) => `${count.toLocaleString('en')} ${name}`);
  return `# The database when it is large

${size.join(', ')}; a catalogue with ${PAGES.toLocaleString('en')} pages and more. Made by \`npm run bench:scale\` on
${new Date().toISOString().slice(0, 10)} at ${commit}: PostgreSQL 17 with default settings, without waiting for the disk, on ${cpus().length} × ${cpus()[0]?.model.trim()}.
The plans are in [plans.md](plans.md).

- Loading took ${loadSeconds.toFixed(0)} s.
- Page ${PAGES.toLocaleString('en')} of \`GET /sounds\` costs ${ratio.toFixed(2)} times what page 1 costs.

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

const database = await startScratchDatabase();
try {
  const started = performance.now();
  await load(database.databaseUrl, LARGE, console.log);
  const loadSeconds = (performance.now() - started) / 1000;
  const { cursor, sound } = await someRows(database.databaseUrl);
  const explainer = await openExplainer(database.databaseUrl);
  const list = statements(cursor, sound);
  const rows: Measured[] = [];
  for (const statement of list) rows.push(await measure(explainer, statement));
  const ratio = await ratioOf(explainer, list[0] as Statement, list[1] as Statement);
  await explainer.end();

  const text = report(rows, ratio, loadSeconds);
  await writeFile(new URL('scale.md', import.meta.url), text);
  await writeFile(new URL('plans.md', import.meta.url), planBook(rows));
  console.log(text);
  const problems = rows.flatMap(problemsOf);
  if (ratio > PAGE_RATIO_MAX)
    problems.push(`Page ${PAGES} costs ${ratio.toFixed(2)} times what page 1 costs.`);
  if (loadSeconds > LOAD_SECONDS_MAX) problems.push(`Loading took more than ${LOAD_SECONDS_MAX} s.`);
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
} finally {
  await database.stop();
}

import { writeFileSync } from 'node:fs';
import { measureFunctions } from './database.ts';
import { median, quantile } from './measure.ts';
import { format, header, milliseconds, verdict, whole } from './report.ts';
import { load, type Request, requestOf } from './requests.ts';
import { type Server, start } from './servers.ts';

// `npm run bench`: what the gateway costs beside others that answer the same. README.md says how to read it.

/** A process differs from its twin for as long as it lives, so that rounds are spread over several of each. */
const sets = 3;
const roundsOfSet = 2;
const duration = 0.7; // of a load, in seconds
const mixedRequests = 200_000;
const starts = 7;

const scripts = { gateway: 'src/server.ts', bare: 'bench/bare.ts', usual: 'bench/usual.ts' };
const names = { bytes: 'Express, same bytes', calls: 'Express, same calls', usual: 'the usual way' };

/**
 * A request that the gateway and another answer in turn, and the figure of every round: answers a second, or the median
 * latency in milliseconds at one connection. The target is the least share of the other's answers, or the most that
 * may be added to its latency.
 */
type Row = Request & {
  against: keyof typeof names;
  target: number;
  alone: boolean;
  ours: number[];
  theirs: number[];
};

const row = (
  endpoint: string,
  gzip: boolean,
  against: Row['against'],
  target: number,
  alone = false,
): Row => {
  return { endpoint, gzip, against, target, alone, ours: [], theirs: [] };
};

const sound = '/sounds/7d9f1a52-4f0e-4b43-9a5e-000000000001';
const catalogue = ['GET /home', 'GET /sounds', 'GET /categories'];
const oneCall = ['GET /me/customer', 'GET /favorites', `POST ${sound}/play`];
const rows = [
  ...catalogue.map((endpoint) => row(endpoint, true, 'bytes', 0.45)),
  ...catalogue.map((endpoint) => row(endpoint, false, 'bytes', 0.45)),
  ...[...oneCall, `GET ${sound}`].map((endpoint) => row(endpoint, false, 'calls', 0.6)),
  ...catalogue.map((endpoint) => row(endpoint, true, 'usual', 2)),
  ...oneCall.map((endpoint) => row(endpoint, false, 'usual', 1.5)),
  ...oneCall.map((endpoint) => row(endpoint, false, 'calls', 0.5, true)),
];

async function requireSameAnswer(request: Request, servers: Server[]) {
  const { path, ...init } = requestOf(request);
  const answers = servers.map(async ({ url }) => (await fetch(url + path, init)).text());
  const [ours, theirs] = await Promise.all(answers);
  if (ours !== theirs) throw new Error(`${request.endpoint} is answered ${ours} and ${theirs}`);
}

/** Every round goes through all rows, so that whatever else the machine does meets all alike. */
async function measureSet(supabase: Server) {
  const gateway = await start(scripts.gateway, supabase);
  const others = {
    bytes: await start(scripts.bare, supabase),
    calls: await start(scripts.bare, supabase),
    usual: await start(scripts.usual, supabase),
  };
  for (let round = 0; round <= roundsOfSet; round++) {
    for (const row of rows) {
      const measure = async ({ url }: Server) =>
        row.alone
          ? (await load(url, [row], { duration, connections: 1 })).p50
          : (await load(url, [row], { duration })).perSecond;
      const other = others[row.against];
      if (round === 0) await requireSameAnswer(row, [gateway, other]);
      const [ours, theirs] = [await measure(gateway), await measure(other)];
      if (round === 0) continue; // to warm up
      row.ours.push(ours);
      row.theirs.push(theirs);
    }
  }
  for (const server of [gateway, ...Object.values(others)]) await server.stop();
}

/** In bytes, after the requests of all rows in turn. */
async function peakMemory(script: string, supabase: Server): Promise<number> {
  const server = await start(script, supabase);
  await load(server.url, rows, { amount: mixedRequests });
  const peak = await server.peakMemory();
  await server.stop();
  return peak;
}

/** From the start of the process to its first answer with data, in milliseconds. */
async function timeToFirstAnswer(supabase: Server): Promise<number> {
  const started = performance.now();
  const server = await start(scripts.gateway, supabase);
  await (await fetch(`${server.url}/api/v1/categories`)).text();
  const took = performance.now() - started;
  await server.stop();
  return took;
}

const percent = (value: number) => `${whole(100 * value)} %`;
const megabytes = (bytes: number) => `${whole(bytes / 2 ** 20)} MB`;

/** The median, and in brackets the quartiles. */
const spread = (values: number[], unit: (value: number) => string) =>
  `${unit(median(values))} (${unit(quantile(values, 0.25))} to ${unit(quantile(values, 0.75))})`;

function lineOf({ endpoint, gzip, against, target, alone, ours, theirs }: Row): string[] {
  const request = endpoint.replace(/[0-9a-f-]{36}/, '{id}') + (gzip ? ', gzip' : '');
  const rounds = ours.map((figure, round) => [figure, theirs[round] ?? Number.NaN] as const);
  if (alone) {
    const added = rounds.map(([mine, other]) => mine - other);
    const figures = [milliseconds(median(ours)), milliseconds(median(theirs)), spread(added, milliseconds)];
    const kept = verdict(median(added) <= target);
    return [`${request}, one connection`, names[against], ...figures, `at most ${target} ms more`, kept];
  }
  const shares = rounds.map(([mine, other]) => mine / other);
  const figures = [`${whole(median(ours))}/s`, `${whole(median(theirs))}/s`, spread(shares, percent)];
  const kept = verdict(median(shares) >= target);
  return [request, names[against], ...figures, `at least ${percent(target)}`, kept];
}

async function memoryLine(supabase: Server): Promise<string[]> {
  const ours = await peakMemory(scripts.gateway, supabase);
  const theirs = await peakMemory(scripts.bare, supabase);
  const figures = [megabytes(ours), megabytes(theirs), percent(ours / theirs)];
  const what = `Peak memory, ${whole(mixedRequests)} mixed requests`;
  return [what, 'Express, the same', ...figures, 'at most 130 %', verdict(ours / theirs <= 1.3)];
}

async function startLine(supabase: Server): Promise<string[]> {
  const times: number[] = [];
  while (times.length < starts) times.push(await timeToFirstAnswer(supabase));
  const took = median(times);
  return ['First answer', '', `${whole(took)} ms`, '', '', 'at most 800 ms', verdict(took <= 800)];
}

const head = header();
const supabase = await start('bench/stub.ts');
for (let set = 0; set < sets; set++) await measureSet(supabase);
const gateway = format({
  title: 'The gateway',
  note: 'Answers a second, latency, memory. Medians of all rounds; compared round by round, with quartiles.',
  head: ['What', 'Against', 'Gateway', 'Other', 'Compared', 'Target', 'Kept'],
  rows: [...rows.map(lineOf), await memoryLine(supabase), await startLine(supabase)],
});
await supabase.stop();
const report = [head, gateway, format(await measureFunctions())].join('\n');
writeFileSync(new URL('results.md', import.meta.url), report);
console.log(report);

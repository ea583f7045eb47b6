import { median, quantile } from 'simple-statistics';
import { milliseconds, verdict, whole } from './report.ts';
import { load, type Request, requestOf } from './requests.ts';
import { type Server, start } from './servers.ts';

/** A process differs from its twin for as long as it lives, so that rounds are spread over several of each. */
const sets = 3;
const roundsOfSet = 3;
const duration = 0.7; // of a load, in seconds
const warmUpRequests = 2_000;
const mixedRequests = 200_000;
const starts = 7;

const scripts = { gateway: 'src/server.ts', bare: 'tools/bench/bare.ts', usual: 'tools/bench/usual.ts' };
const names = { calls: 'Express, same calls', usual: 'the usual way' };

/**
 * A request that the gateway and another answer in turn, and both figures of every round: answers a second of processor
 * time, or the median latency in milliseconds at one connection.
 */
type Row = Request & {
  against: keyof typeof names;
  /** The least share of the other's answers, or the most that may be added to its latency. */
  target: { shareMin: number } | { addedMsMax: number };
  rounds: [ours: number, theirs: number][];
};

const sound = '/sounds/7d9f1a52-4f0e-4b43-9a5e-000000000001';
const ids = Array.from({ length: 12 }, (_, n) => sound.slice(8).replace(/1$/, n.toString(16)));
const catalogue = [
  'GET /home',
  'GET /sounds',
  'GET /sounds?sort=popular',
  'GET /sounds?q=singing%20bowl',
  `GET /sounds?ids=${ids}`,
  'GET /categories',
  'GET /catalogue/changes',
];
const files = `POST /sounds/files ${JSON.stringify({ ids })}`;
const oneCall = ['GET /me/customer', 'GET /favorites', `POST ${sound}/play`];

const compare = (endpoints: string[], row: Pick<Row, 'gzip' | 'against' | 'target'>): Row[] =>
  endpoints.map((endpoint) => ({ endpoint, ...row, rounds: [] }));

const rows = [
  ...compare(catalogue, { gzip: true, against: 'usual', target: { shareMin: 4 } }),
  ...compare([...oneCall, files], { gzip: false, against: 'usual', target: { shareMin: 1.9 } }),
  ...compare([...oneCall, `GET ${sound}`], { gzip: false, against: 'calls', target: { shareMin: 0.5 } }),
  ...compare(oneCall, { gzip: false, against: 'calls', target: { addedMsMax: 0.25 } }),
];

async function requireSameAnswer(request: Request, servers: Server[]) {
  const { path, ...init } = requestOf(request);
  const answers = servers.map(async ({ url }) => {
    const text = await (await fetch(url + path, init)).text();
    return text.replace(/"expires_at":\d+/g, ''); // another second may have begun
  });
  const [ours, theirs] = await Promise.all(answers);
  if (ours !== theirs) throw new Error(`${request.endpoint} is answered ${ours} and ${theirs}`);
}

async function figureOf(row: Row, { url, used }: Server): Promise<number> {
  if ('addedMsMax' in row.target) return (await load(url, [row], { duration, connections: 1 })).p50;
  const before = await used();
  const { answers } = await load(url, [row], { duration });
  return answers / ((await used()).processorSeconds - before.processorSeconds);
}

/** Every round goes through all rows, so that whatever else the machine does meets all alike. */
async function measureSet(supabase: Server) {
  await using gateway = await start(scripts.gateway, supabase);
  await using calls = await start(scripts.bare, supabase);
  await using usual = await start(scripts.usual, supabase);
  const others = { calls, usual };
  for (const row of rows) {
    const both = [gateway, others[row.against]];
    await requireSameAnswer(row, both);
    for (const { url } of both) await load(url, [row], { amount: warmUpRequests });
  }
  for (let round = 0; round < roundsOfSet; round++) {
    for (const row of rows)
      row.rounds.push([await figureOf(row, gateway), await figureOf(row, others[row.against])]);
  }
}

const percent = (value: number) => `${whole(100 * value)} %`;
const perSecond = (value: number) => `${whole(value)}/s`;
const megabytes = (bytes: number) => `${whole(bytes / 2 ** 20)} MB`;

/** The median, and in brackets the quartiles. */
const spread = (values: number[], unit: (value: number) => string) =>
  `${unit(median(values))} (${unit(quantile(values, 0.25))} to ${unit(quantile(values, 0.75))})`;

/** A row as the table has it: what, against what, both figures, how they compare, the target, whether it is kept. */
function lineOf({ endpoint, gzip, against, target, rounds }: Row): string[] {
  const request =
    endpoint
      .replace(/ \{.*/, '')
      .replace(/ids=.*/, 'ids=…')
      .replace(/[0-9a-f-]{36}/, '{id}') + (gzip ? ', gzip' : '');
  const medians = [median(rounds.map(([ours]) => ours)), median(rounds.map(([, theirs]) => theirs))];
  if ('shareMin' in target) {
    const shares = rounds.map(([ours, theirs]) => ours / theirs);
    const figures = [...medians.map(perSecond), spread(shares, percent)];
    const kept = verdict(median(shares) >= target.shareMin);
    return [request, names[against], ...figures, `at least ${percent(target.shareMin)}`, kept];
  }
  const added = rounds.map(([ours, theirs]) => ours - theirs);
  const figures = [...medians.map(milliseconds), spread(added, milliseconds)];
  const kept = verdict(median(added) <= target.addedMsMax);
  const targetText = `at most ${target.addedMsMax} ms more`;
  return [`${request}, one connection`, names[against], ...figures, targetText, kept];
}

/** The lines of all rows. */
export async function requests(supabase: Server): Promise<string[][]> {
  for (let set = 0; set < sets; set++) await measureSet(supabase);
  return rows.map(lineOf);
}

/** In bytes, after the requests of all rows in turn. */
async function peakOf(script: string, supabase: Server): Promise<number> {
  await using server = await start(script, supabase);
  await load(server.url, rows, { amount: mixedRequests });
  return (await server.used()).peakMemory; // before the server is stopped
}

/** The line of the peak memory: the median of a few processes, since V8 collects now sooner, now later. */
export async function peakMemory(supabase: Server): Promise<string[][]> {
  const peaks = { gateway: [] as number[], bare: [] as number[] };
  for (let set = 0; set < sets; set++) {
    peaks.gateway.push(await peakOf(scripts.gateway, supabase));
    peaks.bare.push(await peakOf(scripts.bare, supabase));
  }
  const ours = median(peaks.gateway);
  const theirs = median(peaks.bare);
  const figures = [megabytes(ours), megabytes(theirs), percent(ours / theirs)];
  const what = `Peak memory, ${whole(mixedRequests)} mixed requests`;
  return [[what, 'Express, the same', ...figures, 'at most 120 %', verdict(ours / theirs <= 1.2)]];
}

/** The line of the time from the start of the process to its first answer with data. */
export async function firstAnswer(supabase: Server): Promise<string[][]> {
  const times: number[] = [];
  while (times.length < starts) {
    const started = performance.now();
    await using server = await start(scripts.gateway, supabase);
    await (await fetch(`${server.url}/api/v1/categories`)).text();
    times.push(performance.now() - started);
  }
  const took = median(times);
  return [['First answer', '', `${whole(took)} ms`, '', '', 'at most 800 ms', verdict(took <= 800)]];
}

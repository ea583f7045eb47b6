import { markdownTable } from 'markdown-table';
import { median, quantile } from 'simple-statistics';
import { milliseconds, verdict, whole } from './report.ts';
import { load, nameOf, type Request, requestOf } from './requests.ts';
import { type Server, start } from './servers.ts';

/** Number of processes per server, because two processes of one script differ in speed. */
const sets = 3;
const roundsPerSet = 3;
const duration = 0.7; // of each load in seconds
const warmUpRequests = 1_000;

/**
 * A request that the gateway and `bare.ts` answer in turn. Each round has two figures: responses per second of
 * processor time, or the median latency in milliseconds at one connection.
 */
type Row = Request & {
  /** Minimum share of the responses of `bare.ts`, or maximum added latency. `why`: reason for a modest target. */
  target: ({ shareMin: number } | { addedMsMax: number }) & { why?: string };
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

const sharedReads = { shareMin: 1, why: 'identical reads share one call, and are compressed once' };
const bareCalls = { shareMin: 0.45, why: 'log, limits, verification and headers cost as much as the call' };
const unnoticed = { addedMsMax: 0.3, why: 'no phone notices less' };

const compare = (endpoints: string[], row: Pick<Row, 'gzip' | 'target'>): Row[] =>
  endpoints.map((endpoint) => ({ endpoint, ...row, rounds: [] }));

const rows = [
  ...compare(catalogue, { gzip: true, target: sharedReads }),
  ...compare([...oneCall, `GET ${sound}`, files], { gzip: false, target: bareCalls }),
  ...compare(oneCall, { gzip: false, target: unnoticed }),
];

/** Compares the responses of servers. @throws if they differ */
async function requireSameResponse(request: Request, servers: Server[]) {
  const { path, ...init } = requestOf(request);
  const responses = servers.map(async ({ url }) => {
    const text = await (await fetch(url + path, init)).text();
    return text.replace(/"expires_at":\d+/g, ''); // may differ by a second
  });
  const [ours, theirs] = await Promise.all(responses);
  if (ours !== theirs) throw new Error(`${request.endpoint}: the responses differ: ${ours} and ${theirs}`);
}

async function figureOf(row: Row, server: Server, supabase: Server): Promise<number> {
  if ('addedMsMax' in row.target) return (await load(server.url, row, supabase, { duration, connections: 1 })).p50;
  const before = await server.processorSeconds();
  const { responses } = await load(server.url, row, supabase, { duration });
  return responses / ((await server.processorSeconds()) - before);
}

/**
 * Compares the responses of both servers, then measures all rows in each round, so that a busy machine affects them
 * equally.
 * @throws if the servers respond differently
 */
export async function measureSet(supabase: Server, rounds = roundsPerSet) {
  await using gateway = await start('src/server.ts', supabase);
  await using bare = await start('tools/bench/bare.ts', supabase);
  for (const row of rows) {
    await requireSameResponse(row, [gateway, bare]);
    if (rounds > 0) for (const { url } of [gateway, bare]) await load(url, row, supabase, { amount: warmUpRequests });
  }
  for (let round = 0; round < rounds; round++)
    for (const row of rows)
      row.rounds.push([await figureOf(row, gateway, supabase), await figureOf(row, bare, supabase)]);
}

const percent = (value: number) => `${whole(100 * value)} %`;
const perSecond = (value: number) => `${whole(value)}/s`;

/** Writes the median, with the quartiles in brackets. */
const spread = (values: number[], unit: (value: number) => string) =>
  `${unit(median(values))} (${unit(quantile(values, 0.25))} to ${unit(quantile(values, 0.75))})`;

const targetText = (text: string, { why }: Row['target']) => (why === undefined ? text : `${text}: ${why}`);

function lineOf({ endpoint, gzip, target, rounds }: Row): string[] {
  const query = endpoint.includes('?') ? endpoint.replace(/.*\?/, '?').replace(/ids=.*/, 'ids=…') : '';
  const request = nameOf(endpoint) + query + (gzip ? ', gzip' : '');
  const medians = [median(rounds.map(([ours]) => ours)), median(rounds.map(([, theirs]) => theirs))];
  if ('shareMin' in target) {
    const shares = rounds.map(([ours, theirs]) => ours / theirs);
    const figures = [...medians.map(perSecond), spread(shares, percent)];
    const kept = verdict(median(shares) >= target.shareMin);
    return [request, ...figures, targetText(`at least ${percent(target.shareMin)}`, target), kept];
  }
  const added = rounds.map(([ours, theirs]) => ours - theirs);
  const figures = [...medians.map(milliseconds), spread(added, milliseconds)];
  const kept = verdict(median(added) <= target.addedMsMax);
  const most = targetText(`at most ${target.addedMsMax} ms more`, target);
  return [`${request}, one connection`, ...figures, most, kept];
}

const directCalls = `\
An app that calls Supabase directly saves the gateway, but each call runs. Beside plain tables behind the data API (1),
the processor time of all servers for a call through the gateway is 0.3 for a shared list, 1.3 for favorites, 1.4 for a
sound with its URL, 1.9 for a list that is not shared, 3.2 for a play and 3.3 for a search. This was measured once, with
the real PostgREST on another machine, and is not part of the run.`;

/** Sums up the rows for readers who only want to know whether the gateway is fast enough. */
function summaryOf(): string {
  const [loaded, single] = [true, false].map((isLoaded) =>
    rows.filter(({ target }) => 'shareMin' in target === isLoaded),
  );
  const ours = (loaded ?? []).map(({ rounds }) => median(rounds.map(([responses]) => responses)));
  const added = (single ?? []).map(({ rounds }) => median(rounds.map(([a, b]) => a - b)));
  return `\
- **A gateway** answers ${whole(Math.min(...ours))} to ${whole(Math.max(...ours))} requests a second and core. It adds ${milliseconds(Math.max(...added))} to a request.
`;
}

/**
 * Measures the gateway against `bare.ts`.
 * @returns a summary, a section of the page of results, and the missed targets
 */
export async function gatewaySection(): Promise<{ summary: string; section: string; problems: string[] }> {
  await using supabase = await start('tools/bench/stub.ts');
  for (let set = 0; set < sets; set++) await measureSet(supabase);
  const lines = rows.map(lineOf);
  const header = ['Request', 'Gateway', 'Express, same calls', 'Compared', 'Target', 'Kept'];
  const section = `## The gateway

Responses per second of processor time, and latency. Medians of all rounds; shares are compared round by round, with quartiles.

${markdownTable([header, ...lines])}

${directCalls}
`;
  const missed = lines.filter((line) => line.at(-1) !== verdict(true));
  const problems = missed.map(([request, , , compared, target]) => `${request}: ${compared} instead of ${target}.`);
  return { summary: summaryOf(), section, problems };
}

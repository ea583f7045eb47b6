import { spawnSync } from 'node:child_process';
import { freePort } from '../dev/free-port.ts';
import { spawnLeashed } from '../dev/leash.ts';
import { startGateway } from './gateway.ts';
import { Load } from './generator.ts';
import { type Figures, inTurn, medianOf, ratio } from './measure.ts';
import type { Process } from './processes.ts';
import { microseconds, spread, type Table } from './report.ts';
import { catalogue, nameOf, personal, requestsOf, type Target } from './targets.ts';
import type { User } from './users.ts';

const connections = 64;
const plan = { rounds: 5, roundMs: 300, warmUpMs: 2_000 };

/** One process differs from its twin by a tenth for as long as it lives; several pairs make up for that. */
const pairs = 3;
const variant = 'bench/variant.ts';
const acceptGzip = 'Accept-Encoding: gzip\r\n';

type Comparison = {
  layer: string;
  target: Target;
  headers?: string;
  env: Record<string, string>;
  adds?: true;
};

/** What differs between two gateways; without `adds` the layer is missing in the second. */
const comparisons = (redisUrl: string | null): Comparison[] => {
  const [home] = catalogue as [Target];
  const [customer, favorites] = personal() as [Target, Target];
  return [
    { layer: 'Request log', target: customer, env: { LOG_LEVEL: 'silent' } },
    { layer: 'Security headers (helmet)', target: customer, env: { LEAVE_OUT: 'helmet' } },
    { layer: 'Rate limit, in memory', target: customer, env: { LEAVE_OUT: 'limits' } },
    ...(redisUrl === null
      ? []
      : [
          {
            layer: 'Rate limit, on Redis instead',
            target: customer,
            env: { REDIS_URL: redisUrl },
            adds: true as const,
          },
        ]),
    { layer: 'Authentication', target: customer, env: { LEAVE_OUT: 'authentication' } },
    { layer: 'Compression', target: favorites, headers: acceptGzip, env: {} },
    { layer: 'Compression, shared', target: home, headers: acceptGzip, env: {} },
  ];
};

/** Two gateways that are started anew, so that both are equally warm. */
async function comparePair(
  { target, headers = '', env, adds }: Comparison,
  users: readonly User[],
  stub: Process,
) {
  const base = await startGateway(stub.port, { script: variant });
  const other = await startGateway(stub.port, { script: variant, env });
  const [lesser, greater] = adds ? [base, other] : [other, base];
  // Where nothing else differs, the second is only not asked for the layer.
  const wishes = Object.keys(env).length === 0 ? '' : headers;
  const loads = [
    await Load.open(lesser.port, requestsOf(target, users, wishes), connections),
    await Load.open(greater.port, requestsOf(target, users, headers), connections),
  ];
  const sides = loads.map((load, index) => ({
    process: [lesser, greater][index] as Process,
    run: (durationMs: number) => load.run(durationMs),
  }));
  const [less = [], more = []] = await inTurn(sides, plan);
  for (const load of loads) load.close();
  await base.stop();
  await other.stop();
  return { less, more };
}

async function compare(comparison: Comparison, users: readonly User[], stub: Process) {
  const less: Figures[] = [];
  const more: Figures[] = [];
  for (let pair = 0; pair < pairs; pair++) {
    const figures = await comparePair(comparison, users, stub);
    less.push(...figures.less);
    more.push(...figures.more);
  }
  return [
    comparison.layer,
    nameOf(comparison.target),
    microseconds(medianOf(less, 'cpuUs')),
    microseconds(medianOf(more, 'cpuUs')),
    spread(ratio(more, less, 'cpuUs')),
    spread(ratio(more, less)),
  ];
}

/** A Redis that keeps nothing, where there is one on this machine. */
async function startRedis() {
  const binary = ['redis-server', 'valkey-server'].find(
    (name) => spawnSync(name, ['--version']).status === 0,
  );
  if (binary === undefined) return null;
  const port = await freePort();
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', ''];
  const { stop } = spawnLeashed(binary, args, 'TERM', { stdout: 'ignore', stderr: 'inherit' });
  return { url: `redis://127.0.0.1:${port}`, stop };
}

/** What each layer costs, by leaving it out. */
export async function measureLayers(stub: Process, users: readonly User[]): Promise<Table> {
  const redis = await startRedis();
  const rows: string[][] = [];
  try {
    for (const comparison of comparisons(redis?.url ?? null))
      rows.push(await compare(comparison, users, stub));
  } finally {
    await redis?.stop();
  }
  return {
    title: 'What each layer costs',
    note:
      'CPU time of a request without and with the layer; that time, and the throughput, with it as a share of without.' +
      (redis === null ? ' Redis was not measured: there is no redis-server on this machine.' : ''),
    head: ['Layer', 'Endpoint', 'Without', 'With', 'CPU', 'Throughput'],
    rows,
  };
}

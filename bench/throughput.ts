import { startGateway } from './gateway.ts';
import { Load } from './generator.ts';
import { type Figures, groupsInTurn, median, medianOf, ratio, type Side } from './measure.ts';
import { type Process, start } from './processes.ts';
import { microseconds, milliseconds, spread, type Table, verdict, whole } from './report.ts';
import { catalogue, directly, nameOf, personal, requestsOf, type Target, throughGateway } from './targets.ts';
import type { User } from './users.ts';

type Servers = { gateway: Process; bare: Process };

const connections = 64;
const rounds = 15;

/** One process differs from its twin by a tenth for as long as it lives; several that are started anew make up for that. */
const processes = 3;

/** Connects when it is run first: servers close connections on which nothing comes. */
function loadOn(process: Process, target: Target, users: readonly User[]) {
  let load: Load | undefined;
  return {
    process,
    run: async (durationMs: number) => {
      load ??= await Load.open(process.port, requestsOf(target, users), connections);
      return load.run(durationMs);
    },
    close: () => load?.close(),
  };
}

type ClosableSide = Side & { close: () => unknown };

async function measureGroups(groups: readonly ClosableSide[][], rounds: number) {
  const figures = await groupsInTurn(groups, { rounds, roundMs: 400, warmUpMs: 1_500 });
  for (const side of groups.flat()) await side.close();
  return figures;
}

const startBare = (stub: Process) =>
  start('bench/bare.ts', { env: { SUPABASE_URL: `http://127.0.0.1:${stub.port}` } });

/** What measureGroups returns, its rounds spread over several gateways and bare Express apps. */
async function measureAnew(stub: Process, groupsOf: (servers: Servers) => Promise<ClosableSide[][]>) {
  const measured: Figures[][][][] = [];
  while (measured.length < processes) {
    const servers = { gateway: await startGateway(stub.port), bare: await startBare(stub) };
    measured.push(await measureGroups(await groupsOf(servers), rounds / processes));
    await servers.gateway.stop();
    await servers.bare.stop();
  }
  return (measured[0] ?? []).map((sides, row) =>
    sides.map((_, side) => measured.flatMap((figures) => figures[row]?.[side] ?? [])),
  );
}

/** @throws an Error when the two do not send the same bytes: then they could not be compared */
async function requireSameBytes({ gateway, bare }: Servers, [user]: readonly User[], { path }: Target) {
  const bodyOf = async ({ port }: Process) => {
    const headers = { Authorization: `Bearer ${user?.token}` };
    return (await fetch(`http://127.0.0.1:${port}/api/v1${path}`, { headers })).text();
  };
  const [ours, theirs] = await Promise.all([bodyOf(gateway), bodyOf(bare)]);
  if (ours !== theirs) throw new Error(`${path}: the gateway sends\n${ours}\nand bare Express\n${theirs}`);
}

/** Catalogue reads beside a bare Express route that sends the same bytes. */
export async function measureCatalogue(stub: Process, users: readonly User[]): Promise<Table> {
  const target = 0.45;
  const figures = await measureAnew(stub, async (servers) => {
    for (const read of catalogue) await requireSameBytes(servers, users, read);
    const { gateway, bare } = servers;
    return catalogue.map((read) => [loadOn(gateway, read, users), loadOn(bare, read, users)]);
  });
  const rows = catalogue.map((read, index) => {
    const [ours, express] = figures[index] ?? [];
    const share = ratio(ours, express);
    return [
      nameOf(read),
      whole(medianOf(ours)),
      whole(medianOf(express)),
      spread(share),
      microseconds(medianOf(ours, 'cpuUs')),
      microseconds(medianOf(express, 'cpuUs')),
      verdict(share.median >= target),
    ];
  });
  return {
    title: 'Catalogue reads',
    note: `Answers a second at ${connections} connections, beside a bare Express 5 route that sends the same bytes.`,
    head: ['Endpoint', 'Gateway', 'Express', 'Share', 'CPU each', 'Express', 'At least 45 %'],
    rows,
  };
}

/** The other reads beside the same upstream calls made with undici, and made by a bare Express app. */
export async function measurePersonal(stub: Process, users: readonly User[]): Promise<Table> {
  const target = 0.6;
  const url = `http://127.0.0.1:${stub.port}`;
  const reads = personal();
  const figures = await measureAnew(stub, async ({ gateway, bare }) =>
    reads.map((read) => [
      loadOn(gateway, read, users),
      directly(url, read, users, connections),
      directly(url, read, users, connections, 'fetch'),
      loadOn(bare, read, users),
    ]),
  );
  const rows = reads.map((read, index) => {
    const [ours, direct, fetched, express] = figures[index] ?? [];
    const share = ratio(ours, direct);
    return [
      nameOf(read),
      whole(medianOf(ours)),
      whole(medianOf(direct)),
      spread(share),
      spread(ratio(ours, fetched)),
      spread(ratio(express, direct)),
      microseconds(medianOf(ours, 'cpuUs')),
      verdict(share.median >= target),
    ];
  });
  return {
    title: 'Reads and writes of one caller',
    note:
      `Answers a second at ${connections} connections, beside the same upstream calls made directly with undici. ` +
      'For comparison: the share of the calls made with the fetch of undici; and the share of the direct calls that a ' +
      'bare Express 5 app reaches which makes them and does nothing else.',
    head: [
      'Endpoint',
      'Gateway',
      'Direct',
      'Share',
      'Share of fetch',
      'Bare Express',
      'CPU each',
      'At least 60 %',
    ],
    rows,
  };
}

/** What the gateway, and bare Express, add for somebody who calls alone; the same client calls them and Supabase. */
export async function measureLatency(users: readonly User[]): Promise<Table> {
  const stub = await start('bench/stub.ts', { env: { EXACT: 'true' } });
  const stubUrl = `http://127.0.0.1:${stub.port}`;
  const gateway = await startGateway(stub.port);
  const bare = await startBare(stub);
  const reads = [...catalogue, ...personal()];
  // One caller alone would not warm them up, nor have every user noted as seen.
  for (const process of [gateway, bare])
    for (const read of reads) {
      const load = loadOn(process, read, users);
      await load.run(1_500);
      load.close();
    }
  const targetMs = 0.6;
  const figures = await measureGroups(
    reads.map((read) => [
      directly(`http://127.0.0.1:${gateway.port}`, throughGateway(read), users, 1),
      directly(stubUrl, read, users, 1),
      directly(`http://127.0.0.1:${bare.port}`, throughGateway(read), users, 1),
    ]),
    rounds,
  );
  for (const process of [gateway, bare, stub]) await process.stop();
  const rows = reads.map((read, index) => {
    const [ours = [], direct = [], express = []] = figures[index] ?? [];
    const added = (those: readonly Figures[]) =>
      median(those.map(({ p50 }, round) => p50 - (direct[round]?.p50 ?? Number.NaN)));
    const oneCall = read.upstream.flat().length === 1;
    return [
      nameOf(read),
      milliseconds(medianOf(ours, 'p50')),
      milliseconds(medianOf(direct, 'p50')),
      milliseconds(added(ours)),
      catalogue.includes(read) ? 'sends bytes' : milliseconds(added(express)),
      milliseconds(medianOf(ours, 'p99')),
      milliseconds(medianOf(direct, 'p99')),
      oneCall ? verdict(added(ours) <= targetMs) : 'more calls',
    ];
  });
  return {
    title: 'Latency at one connection',
    note:
      'Beside the same upstream calls made directly by the same client. Supabase takes exactly 2 ms for each. For ' +
      'comparison: what a bare Express 5 app adds that makes the same calls.',
    head: ['Endpoint', 'p50', 'direct', 'added', 'Express adds', 'p99', 'direct', 'Adds at most 0.6 ms'],
    rows,
  };
}

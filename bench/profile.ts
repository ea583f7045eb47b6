import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGateway } from './gateway.ts';
import { Load } from './generator.ts';
import { start } from './processes.ts';
import { catalogue, nameOf, personal, requestsOf } from './targets.ts';
import { createUsers } from './users.ts';

// Where the gateway spends its time on each hot path, or on those named: shares by package, then by function.

type Frame = { functionName: string; url: string; lineNumber: number };

type Profile = {
  nodes: { id: number; children?: number[]; callFrame: Frame }[];
  samples: number[];
  timeDeltas: number[];
};

/** The first of them are left out: starting and warming up is no hot path. */
const [seconds, measuredSeconds] = [10, 7];
const shown = 25;

/** The package, or the file of ours, that a frame belongs to; undefined for Node and V8. */
const ownerOf = ({ url }: Frame) =>
  /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? /\/(src\/.*)$/.exec(url)?.[1];

const nameOfFrame = ({ functionName, url, lineNumber }: Frame) =>
  `${functionName || '(anonymous)'} ${url.replace(/.*\//, '')}:${lineNumber + 1}`;

/** What Node and V8 do is put down to the package that asked for it. */
function ownersOf(nodes: Profile['nodes']): Map<number, string> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const owners = new Map<number, string>();
  const visit = (id: number, inherited: string) => {
    const node = byId.get(id);
    if (node === undefined) return;
    const { functionName } = node.callFrame;
    const owner =
      functionName === '(garbage collector)' ? functionName : (ownerOf(node.callFrame) ?? inherited);
    owners.set(id, owner);
    for (const child of node.children ?? []) visit(child, owner);
  };
  visit(nodes[0]?.id ?? 0, 'Node itself');
  return owners;
}

function summarize({ nodes, samples, timeDeltas }: Profile) {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const owners = ownersOf(nodes);
  const byOwner = new Map<string, number>();
  const byFunction = new Map<string, number>();
  let busy = 0;
  let left = measuredSeconds * 1e6;
  for (let index = samples.length - 1; index >= 0 && left > 0; index--) {
    const id = samples[index] ?? 0;
    const frame = frames.get(id);
    const spent = timeDeltas[index] ?? 0;
    left -= spent;
    if (frame === undefined || ['(idle)', '(program)'].includes(frame.functionName)) continue;
    busy += spent;
    const [owner = '', name] = [owners.get(id), nameOfFrame(frame)];
    byOwner.set(owner, (byOwner.get(owner) ?? 0) + spent);
    byFunction.set(name, (byFunction.get(name) ?? 0) + spent);
  }
  const top = (shares: Map<string, number>) =>
    [...shares]
      .sort(([, a], [, b]) => b - a)
      .slice(0, shown)
      .map(([name, spent]) => `${((100 * spent) / busy).toFixed(1).padStart(6)} %  ${name}`)
      .join('\n');
  return `${top(byOwner)}\n\n${top(byFunction)}`;
}

const users = await createUsers(1_000);
const stub = await start('bench/stub.ts');
for (const target of [...catalogue, ...personal()]) {
  if (process.argv.length > 2 && !process.argv.includes(nameOf(target))) continue;
  const folder = await mkdtemp(join(tmpdir(), 'sounds-service-profile-'));
  const gateway = await startGateway(stub.port, { nodeOptions: ['--cpu-prof', `--cpu-prof-dir=${folder}`] });
  const load = await Load.open(gateway.port, requestsOf(target, users), 64);
  await load.run(seconds * 1000);
  load.close();
  await gateway.stop();
  const [file = ''] = await readdir(folder);
  console.log(`\n${nameOf(target)}\n`);
  console.log(summarize(JSON.parse(await readFile(join(folder, file), 'utf8'))));
  await rm(folder, { recursive: true });
}
await stub.stop();

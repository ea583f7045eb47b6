import { startGateway } from './gateway.ts';
import { Load } from './generator.ts';
import { median } from './measure.ts';
import type { Process } from './processes.ts';
import { type Table, verdict, whole } from './report.ts';
import { catalogue, personal, requestsOf } from './targets.ts';
import type { User } from './users.ts';

const requests = 1_000_000;
const starts = 7;
const megabytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0)} MB`;

/** Resident memory while every endpoint is called in turn, at every twentieth of the way. */
async function memoryOver(gateway: Process, users: readonly User[]): Promise<number[]> {
  const mixed = [...catalogue, ...personal()].flatMap((target) => requestsOf(target, users));
  // Neighbours ask for different things.
  const shuffled = mixed.map((_, index) => mixed[(index * 4_001) % mixed.length] as Buffer);
  const load = await Load.open(gateway.port, shuffled, 64);
  const resident: number[] = [];
  let answered = 0;
  while (answered < requests) {
    answered += (await load.run(500)).latencies.length;
    if (answered >= (requests / 20) * (resident.length + 1)) resident.push((await gateway.usage()).rss);
  }
  load.close();
  return resident;
}

/** From the start of the process to its first answer, in milliseconds. */
async function timeToFirstAnswer(stub: Process): Promise<number> {
  const started = performance.now();
  const gateway = await startGateway(stub.port);
  const response = await fetch(`http://127.0.0.1:${gateway.port}/api/v1/categories`);
  await response.text();
  const took = performance.now() - started;
  await gateway.stop();
  return took;
}

/** Memory under a long load, and the time that a start takes. */
export async function measureEndurance(stub: Process, users: readonly User[]): Promise<Table> {
  const times: number[] = [];
  for (let index = 0; index < starts; index++) times.push(await timeToFirstAnswer(stub));
  const gateway = await startGateway(stub.port);
  const idle = (await gateway.usage()).rss;
  const resident = await memoryOver(gateway, users);
  await gateway.stop();
  const half = resident.length / 2;
  const [earlier, later] = [median(resident.slice(half / 2, half)), median(resident.slice(-half / 2))];
  const highest = Math.max(...resident);
  const first = median(times);
  return {
    title: 'Memory and start',
    note: `Resident memory of the gateway over ${whole(requests)} requests of all kinds at 64 connections.`,
    head: ['What', 'Figure', 'Target', 'Kept'],
    rows: [
      ['Memory when idle', megabytes(idle), '', ''],
      ['Highest', megabytes(highest), '150 MB', verdict(highest < 150 * 2 ** 20)],
      ['Second quarter', megabytes(earlier), '', ''],
      ['Last quarter', megabytes(later), 'as the second', verdict(later < earlier * 1.1)],
      [`First answer, median of ${starts} starts`, `${first.toFixed(0)} ms`, '800 ms', verdict(first < 800)],
    ],
  };
}

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { startGateway } from './gateway.ts';
import { Load } from './generator.ts';
import { inTurn, medianOf, ratio } from './measure.ts';
import { milliseconds, spread, type Table, whole } from './report.ts';
import { catalogue, directly, nameOf, personal, requestsOf } from './targets.ts';
import type { User } from './users.ts';

const connections = 64;
const plan = { rounds: 5, roundMs: 600, warmUpMs: 1_000 };

type Stack = { apiUrl: string; sound: { id: string; audio_path: string; cover_image_path: string } };

/** The endpoints against the embedded Supabase on a real Postgres, beside the same calls made directly. */
export async function measureEmbedded(users: readonly User[]): Promise<Table> {
  const child = fork(new URL('stack.ts', import.meta.url), { execArgv: [] });
  const exited = once(child, 'exit');
  const rows: string[][] = [];
  try {
    child.send(users.map(({ id, email }) => ({ id, email })));
    const failed = exited.then(() => Promise.reject(new Error('The embedded Supabase did not start.')));
    const [{ apiUrl, sound }] = (await Promise.race([once(child, 'message'), failed])) as [Stack];
    const gateway = await startGateway(Number(new URL(apiUrl).port));
    for (const read of [...catalogue, ...personal(sound.id, sound.audio_path, sound.cover_image_path)]) {
      const load = await Load.open(gateway.port, requestsOf(read, users), connections);
      const direct = directly(apiUrl, read, users, connections);
      const [ours, theirs] = await inTurn([{ run: (ms) => load.run(ms) }, direct], plan);
      load.close();
      await direct.close();
      rows.push([
        nameOf(read),
        whole(medianOf(ours)),
        whole(medianOf(theirs)),
        spread(ratio(ours, theirs)),
        milliseconds(medianOf(ours, 'p50')),
        milliseconds(medianOf(theirs, 'p50')),
      ]);
    }
    await gateway.stop();
  } finally {
    if (child.connected) child.disconnect();
    await exited;
  }
  return {
    title: 'On a real Postgres',
    note:
      `Answers a second at ${connections} connections on the embedded Supabase, beside the same calls made directly. ` +
      'Its API takes most of the time of both; one run of a catalogue read answers many callers, so that the gateway is ' +
      'faster there than what it stands in front of.',
    head: ['Endpoint', 'Gateway', 'Direct', 'Share', 'p50', 'Direct'],
    rows,
  };
}

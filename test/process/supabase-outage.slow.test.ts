import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { describe, expect, type TestContext, test, vi } from 'vitest';
import { type Api, apiAt, bearer } from '../support/api.ts';
import { addSounds } from '../support/catalogue.ts';
import { watchLag } from '../support/lag.ts';
import { environment, residentMb, startListening } from '../support/server-process.ts';
import { newEmail, password, signUp } from '../support/test.ts';
import { timeoutMs } from '../support/timeout.ts';
import { startFragileStack } from './fragile-stack.ts';

/** A gateway process of its own in front of a stack that can be broken. */
async function startService({ onTestFinished }: TestContext) {
  const stack = await startFragileStack();
  const { apiUrl, publishableKey, secretKey } = stack;
  const server = await startListening({
    ...environment(),
    SUPABASE_URL: apiUrl,
    SUPABASE_PUBLISHABLE_KEY: publishableKey,
    SUPABASE_SECRET_KEY: secretKey,
  });
  onTestFinished(async () => {
    server.child.kill('SIGTERM');
    await server.exited;
    await stack.stop();
  });
  return { stack, server, api: apiAt(`${server.origin}/api/v1`) };
}

type Ended = { status: number; startedMs: number; seconds: number; what: string };

const pauseMs = 100;

/** Starts clients that send requests until they are stopped. Every answer is checked as in all other tests. */
function startTraffic(
  calls: Record<string, () => PromiseLike<{ status: number }>>,
  { onTestFinished }: TestContext,
) {
  const ended: Ended[] = [];
  let on = true;
  const clients = Object.entries(calls).map(async ([what, run]) => {
    while (on) {
      const startedMs = performance.now();
      const { status } = await run();
      ended.push({ status, startedMs, seconds: (performance.now() - startedMs) / 1000, what });
      await sleep(pauseMs);
    }
  });
  const stop = async () => {
    on = false;
    await Promise.all(clients);
  };
  onTestFinished(stop); // before what it calls is taken away
  return { ended, stop };
}

/** Everything that an app does for a signed-in user. */
async function appCalls(api: Api, databaseUrl: string) {
  const sql = postgres(databaseUrl, { max: 1 });
  const [sound] = await addSounds(sql, [{ title: 'A bowl' }, { title: 'Rain' }]);
  await sql.end();
  const email = newEmail();
  const { access_token: token } = await signUp(api, email);
  return {
    categories: () => api.get('/categories'),
    sounds: () => api.get('/sounds').auth(token, bearer),
    sound: () => api.get(`/sounds/${sound}`).auth(token, bearer),
    play: () => api.post(`/sounds/${sound}/play`).auth(token, bearer),
    home: () => api.get('/home').auth(token, bearer),
    favorites: () => api.get('/favorites').auth(token, bearer),
    favorite: () => api.post('/favorites').auth(token, bearer).send({ sound_id: sound }),
    customer: () => api.get('/me/customer').auth(token, bearer),
    signIn: () => api.post('/auth/signin').send({ email, password }),
  };
}

const until = (condition: () => boolean) => vi.waitFor(() => expect(condition()).toBe(true), timeoutMs);

/** Auth may take 11 seconds, data 5. Two deadlines in a row would take longer. */
const limitSeconds = (what: string) => (what === 'signIn' ? 12 : 6);

describe.concurrent('the gateway survives', () => {
  for (const outages of [
    ['a stopped Postgres', 'a frozen Postgres'],
    ['a killed Supabase API', 'a frozen Supabase API'],
  ] as const) {
    test(`${outages.join(', then ')}: answers within its deadlines meanwhile, and works again within 5 seconds of its return`, async (context) => {
      const { api, stack, server } = await startService(context);
      const lag = watchLag();
      const traffic = startTraffic(await appCalls(api, stack.databaseUrl), context);
      const works = () =>
        traffic.ended.length > 50 && traffic.ended.slice(-50).every(({ status }) => status < 300);
      // Not from the first request on: on a busy machine a stack that has just started may exceed the deadlines.
      await until(works).catch(() => {
        throw new Error(server.output.stdout.match(/^.*"level":50.*$/gm)?.join('\n'));
      });
      const memoryBefore = residentMb(server.child.pid);

      for (const outage of outages) {
        const giveBack: () => Promise<unknown> = await stack.breakages[outage]();
        const brokenMs = performance.now();
        const failed = () =>
          traffic.ended.filter(({ status, startedMs }) => status === 500 && startedMs > brokenMs);
        await until(() => new Set(failed().map((end) => end.what)).size === 9);
        await giveBack();
        const returnedMs = performance.now();
        await until(works);
        const lastFailure = traffic.ended.findLast(({ status }) => status >= 300);
        expect(((lastFailure?.startedMs ?? 0) - returnedMs) / 1000, outage).toBeLessThan(5 + lag());
      }
      await traffic.stop();

      for (const { status, seconds, what } of traffic.ended) {
        expect([200, 201, 500]).toContain(status);
        expect(seconds, what).toBeLessThan(limitSeconds(what) + lag());
      }
      expect(residentMb(server.child.pid) - memoryBefore).toBeLessThan(100);
    });
  }
});

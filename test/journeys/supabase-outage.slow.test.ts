import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { describe, expect, type TestContext, test, vi } from 'vitest';
import { type Api, apiAt, bearer } from '../support/api.ts';
import { addSounds } from '../support/catalogue.ts';
import { environment, residentMb, startListening } from '../support/server-process.ts';
import { newEmail, password, signUp } from '../support/test.ts';
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

type Ended = { status: number; startedMs: number; what: string };

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
      ended.push({ status, startedMs, what });
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

// Not expect.poll, which a concurrent test cannot use without its context.
const until = (condition: () => boolean) =>
  vi.waitFor(() => expect(condition()).toBe(true), { timeout: 30_000 });

describe.concurrent('the gateway survives', () => {
  for (const outages of [
    ['a stopped Postgres', 'a frozen Postgres'],
    ['a killed Supabase API', 'a frozen Supabase API'],
  ] as const) {
    // A stack starts, and each outage lasts until every call has failed: Auth has 11 seconds to.
    const timeout = 90_000;
    test(`${outages.join(', then ')}: every call fails with 500, and works again afterwards`, {
      timeout,
    }, async (context) => {
      const { api, stack, server } = await startService(context);
      const traffic = startTraffic(await appCalls(api, stack.databaseUrl), context);
      const works = () =>
        traffic.ended.length > 50 && traffic.ended.slice(-50).every(({ status }) => status < 300);
      await until(works);
      const memoryBefore = residentMb(server.child.pid);
      for (const outage of outages) {
        const giveBack: () => Promise<unknown> = await stack.breakages[outage]();
        const brokenMs = performance.now();
        const failed = () =>
          traffic.ended.filter(({ status, startedMs }) => status === 500 && startedMs > brokenMs);
        await until(() => new Set(failed().map((end) => end.what)).size === 9);
        await giveBack();
        await until(works);
      }
      await traffic.stop();
      for (const { status } of traffic.ended) expect([200, 201, 500]).toContain(status);
      expect(residentMb(server.child.pid) - memoryBefore).toBeLessThan(100);
    });
  }
});

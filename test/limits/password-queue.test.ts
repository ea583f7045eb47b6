import type { RequestListener, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, test, vi } from 'vitest';
import { createPasswordQueue } from '../../src/limits/password-queue.ts';
import { requestContext } from '../../src/request-context.ts';
import { timeLeftMs } from '../../src/supabase/fetch.ts';
import { sendSession, withSupabase } from '../support/fake-supabase.ts';
import { newEmail, password } from '../support/test.ts';
import { signIn, tally, times } from './bursts.ts';

/** Returns an Auth server that holds every call until `release`. */
function holdingAuth() {
  const held: ServerResponse[] = [];
  let isOpen = false;
  const behave: RequestListener = async (req, res) => {
    await text(req);
    if (isOpen) sendSession(res);
    else held.push(res);
  };
  const release = () => {
    isOpen = true;
    for (const res of held.splice(0)) sendSession(res);
  };
  return { held, behave, release };
}

/** Returns a function that enqueues calls, the running calls, and the errors of rejected calls. */
function callsOf(queue: ReturnType<typeof createPasswordQueue>) {
  const running: (() => void)[] = [];
  const rejected: unknown[] = [];
  const call = (ip: string, options?: { isTrusted?: boolean; gone?: AbortSignal }) =>
    queue(ip, () => new Promise<void>((resolve) => running.push(resolve)), options).catch((error) =>
      rejected.push(error),
    );
  return { running, rejected, call };
}

const busy = expect.objectContaining({
  code: 'rate_limited',
  headers: expect.objectContaining({ 'Retry-After': '3' }),
});

/** Ends all calls, including those that start meanwhile. */
async function drain(running: (() => void)[], calls: Promise<unknown>[]) {
  while (running.length > 0) {
    running.shift()?.();
    await new Promise(setImmediate);
  }
  await Promise.all(calls);
}

test('the deadline of a password call begins when the call starts, not when it is enqueued', async () => {
  const queue = createPasswordQueue(1);
  const first = Promise.withResolvers<void>();
  const ended = queue('192.0.2.1', () => first.promise);
  const waited = { id: 'x', trace: { id: '', traceparent: '', tracestate: undefined } };
  const left = requestContext.run({ ...waited, startedAt: performance.now() - 8_000 }, () =>
    queue('192.0.2.2', async () => timeLeftMs('auth')),
  );
  first.resolve();
  await ended;
  expect(await left).toBeGreaterThan(10_900);
});

test('a password call is rejected with Retry-After after it has waited for four seconds', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { running, rejected, call } = callsOf(createPasswordQueue(1));
  const calls = [call('192.0.2.1'), call('198.51.100.1')];
  await vi.advanceTimersByTimeAsync(3_999);
  expect(rejected).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(rejected).toEqual([busy]);
  await drain(running, calls);
  expect(rejected).toHaveLength(1);
  vi.useRealTimers();
});

test('the queue holds eight times as many calls as may run, and more only of trusted clients', async () => {
  const { running, rejected, call } = callsOf(createPasswordQueue(2));
  const calls = Array.from({ length: 17 }, (_, n) => call(`10.${n}.0.1`));
  await calls[16];
  expect(rejected).toEqual([busy]);
  calls.push(call('10.17.0.1', { isTrusted: true }));
  await drain(running, calls);
  expect(rejected).toHaveLength(1);
});

test.for([
  ['client', (n: number) => `2001:db8:1:1${n.toString(16).padStart(2, '0')}::1`, '2001:db8:2::1'],
  ['IPv6 /48', (n: number) => `2001:db8:1:${n.toString(16)}00::1`, '2001:db8:2::1'],
  ['IPv4 /24', (n: number) => `203.0.113.${n}`, '203.0.114.1'],
] as const)('one %s can use at most a quarter of the password queue', async ([, of, other]) => {
  const { running, rejected, call } = callsOf(createPasswordQueue(8));
  const calls = Array.from({ length: 60 }, (_, n) => call(of(n)));
  await Promise.resolve();
  expect(rejected).toHaveLength(44);
  calls.push(...Array.from({ length: 16 }, () => call(other)));
  await drain(running, calls);
  expect(rejected).toHaveLength(44);
});

test('a password call is cancelled if its client disconnects while it waits, not while it runs', async () => {
  const { running, rejected, call } = callsOf(createPasswordQueue(1));
  const [runs, waits] = [new AbortController(), new AbortController()];
  const calls = [call('192.0.2.1', { gone: runs.signal }), call('192.0.2.2', { gone: waits.signal })];
  runs.abort();
  waits.abort();
  await new Promise(setImmediate); // much shorter than four seconds
  expect(rejected).toHaveLength(1);
  running[0]?.();
  await calls[0];
  expect([rejected.length, running.length]).toEqual([1, 1]);
});

test('a sign-in succeeds after Retry-After, even if another client at its address sent 60', async () => {
  const { held, behave, release } = holdingAuth();
  await withSupabase(
    behave,
    async (api, { arrived }) => {
      const neighbour = times(60, () => signIn(api, newEmail()));
      await expect.poll(arrived).toBe(60);
      const person = newEmail();
      expect(await signIn(api, person)).toEqual({ status: 429, reason: 'limit_requests', retryAfter: 3 });
      expect(held).toHaveLength(8);
      release();
      expect(await signIn(api, person)).toMatchObject({ status: 200 });
      expect(tally((await neighbour).map(({ status }) => status))).toEqual({ 200: 16, 429: 44 });
    },
    { TRUST_PROXY: '1' },
  );
});

test('sign-ins that waited keep their request id at Auth, and do not delay a refresh', async () => {
  const { held, behave, release } = holdingAuth();
  const seen: unknown[] = [];
  await withSupabase(
    (req, res) => {
      if (req.url?.includes('refresh_token')) return sendSession(res);
      seen.push(req.headers['x-request-id']);
      return behave(req, res);
    },
    async (api) => {
      const ids = ['sign-in-0', 'sign-in-1', 'sign-in-2', 'sign-in-3'];
      const waiting = times(4, (n) =>
        api
          .post('/auth/signin')
          .set({ 'X-Request-Id': ids[n], 'X-Forwarded-For': `10.${n}.0.1` })
          .send({ email: newEmail(), password })
          .expect(200),
      );
      await expect.poll(() => held.length).toBe(1);
      await api.post('/auth/refresh').send({ refresh_token: 'a-refresh-token' }).expect(200);
      release();
      await waiting;
      expect(seen.toSorted()).toEqual(ids);
    },
    { PASSWORD_CALLS_AT_ONCE: '1', TRUST_PROXY: '1' },
  );
});

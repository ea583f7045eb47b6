import type { RequestListener, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, test, vi } from 'vitest';
import { createPasswordQueue } from '../../src/limits/password-queue.ts';
import { requestContext } from '../../src/request-context.ts';
import { timeLeftMs } from '../../src/supabase/fetch.ts';
import { sendSession, withSupabase } from '../support/fake-supabase.ts';
import { newEmail, password } from '../support/test.ts';
import { countingAuth, signIn, tally, times } from './bursts.ts';

/** Returns an Auth that holds every call until `release`. */
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

/** Returns calls of a queue that run until `end`, and the errors of those that were rejected. */
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

describe('The password queue', () => {
  test('gives a call its whole deadline when it starts, however long it waited', async () => {
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

  test('rejects a call with Retry-After once it has waited for four seconds', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { running, rejected, call } = callsOf(createPasswordQueue(1));
    const calls = [call('192.0.2.1'), call('198.51.100.1')];
    await vi.advanceTimersByTimeAsync(3_999);
    expect(rejected).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(rejected).toEqual([busy]);
    for (const end of running) end();
    await Promise.all(calls);
    expect(rejected).toHaveLength(1);
    vi.useRealTimers();
  });

  test('holds eight times as many calls as may run, and further ones of trusted clients alone', async () => {
    const { running, rejected, call } = callsOf(createPasswordQueue(2));
    const calls = Array.from({ length: 17 }, (_, n) => call(`10.${n}.0.1`));
    await calls[16];
    expect(rejected).toEqual([busy]);
    calls.push(call('10.17.0.1', { isTrusted: true }));
    while (running.length > 0) {
      running.shift()?.();
      await new Promise(setImmediate);
    }
    await Promise.all(calls);
    expect(rejected).toHaveLength(1);
  });

  test.for([
    ['client', (n: number) => `2001:db8:1:1${n.toString(16).padStart(2, '0')}::1`, '2001:db8:2::1'],
    ['IPv6 /48', (n: number) => `2001:db8:1:${n.toString(16)}00::1`, '2001:db8:2::1'],
    ['IPv4 /24', (n: number) => `203.0.113.${n}`, '203.0.114.1'],
  ] as const)('leaves three quarters of its places to others when one %s fills it', async ([, of, other]) => {
    const { running, rejected, call } = callsOf(createPasswordQueue(8));
    const calls = Array.from({ length: 60 }, (_, n) => call(of(n)));
    await Promise.resolve();
    expect(rejected).toHaveLength(44);
    calls.push(...Array.from({ length: 16 }, () => call(other)));
    await new Promise(setImmediate);
    expect(rejected).toHaveLength(44);
    while (running.length > 0) {
      running.shift()?.();
      await new Promise(setImmediate);
    }
    await Promise.all(calls);
    expect(running).toEqual([]);
  });

  test('drops a waiting call whose client has disconnected, and no call that runs', async () => {
    const { running, rejected, call } = callsOf(createPasswordQueue(1));
    const [runs, waits] = [new AbortController(), new AbortController()];
    const calls = [call('192.0.2.1', { gone: runs.signal }), call('192.0.2.2', { gone: waits.signal })];
    runs.abort();
    waits.abort();
    await calls[1];
    expect(rejected).toHaveLength(1);
    running[0]?.();
    await calls[0];
    expect(rejected).toHaveLength(1);
    expect(running).toHaveLength(1);
  });
});

describe('Sign-ins', () => {
  test.for([100, 2_000])(
    'get 200 or 429, and Auth at most 8 calls, when 300 come at once and Auth takes %i ms',
    async (delayMs) => {
      const auths = [countingAuth(delayMs), countingAuth(delayMs)];
      const bursts = auths.map(({ behave }, at) =>
        withSupabase(
          behave,
          async (api) => {
            const answers = await times(150, (n) => signIn(api, newEmail(), { from: `10.${n}.${at}.1` }));
            const {
              200: served = 0,
              429: limited = 0,
              ...others
            } = tally(answers.map(({ status }) => status));
            expect(others).toEqual({});
            expect(served).toBeGreaterThanOrEqual(8);
            expect(served + limited).toBe(150);
            for (const { status, retryAfter } of answers) if (status === 429) expect(retryAfter).toBe(3);
          },
          { TRUST_PROXY: '1' },
        ),
      );
      await Promise.all(bursts);
      for (const { seen } of auths) expect(seen.most).toBe(8);
    },
  );

  test('get 200 after Retry-After, although another client at the same address sent 60', async () => {
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

  test('keep their request id at Auth after waiting', async () => {
    const seen: (string | undefined)[] = [];
    await withSupabase(
      (req, res) => {
        seen.push(req.headers['x-request-id']?.toString());
        req.resume();
        sendSession(res);
      },
      async (api) => {
        const ids = Array.from({ length: 6 }, (_, n) => `sign-in-${n}`);
        await times(6, (n) =>
          api
            .post('/auth/signin')
            .set({ 'X-Request-Id': ids[n], 'X-Forwarded-For': `10.${n}.0.1` })
            .send({ email: newEmail(), password })
            .expect(200),
        );
        expect(seen.toSorted()).toEqual(ids);
      },
      { PASSWORD_CALLS_AT_ONCE: '1', TRUST_PROXY: '1' },
    );
  });

  test('do not delay a refresh, which hashes no password', async () => {
    const { held, behave, release } = holdingAuth();
    await withSupabase(
      async (req, res) => (req.url?.includes('refresh_token') ? sendSession(res) : behave(req, res)),
      async (api) => {
        const waiting = times(3, (n) => signIn(api, newEmail(), { from: `10.${n}.0.1` }));
        await expect.poll(() => held.length).toBe(1);
        await api.post('/auth/refresh').send({ refresh_token: 'a-refresh-token' }).expect(200);
        release();
        expect(tally((await waiting).map(({ status }) => status))).toEqual({ 200: 3 });
      },
      { PASSWORD_CALLS_AT_ONCE: '1', TRUST_PROXY: '1' },
    );
  });
});

import { expect, test, vi } from 'vitest';
import { requestContext } from '../../src/shared/request-context.ts';
import { createPasswordQueue, priorities } from '../../src/supabase/auth/password-queue.ts';
import { createPasswordChange } from '../../src/supabase/auth/passwords.ts';
import { timeLeftMs } from '../../src/supabase/fetch.ts';
import { times } from '../limits/bursts.ts';

/** Returns a function that enqueues calls, the running calls, and the errors of rejected calls. */
function callsOf(queue: ReturnType<typeof createPasswordQueue>['inPasswordQueue']) {
  const running: (() => void)[] = [];
  const rejected: unknown[] = [];
  const call = (ip: string, options?: Parameters<typeof queue>[2]) =>
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
  const { inPasswordQueue: queue } = createPasswordQueue(1);
  const first = Promise.withResolvers<void>();
  const ended = queue('192.0.2.1', () => first.promise);
  const waited = { id: 'x', trace: { id: '', traceparent: '', tracestate: undefined }, userAgent: undefined };
  const left = requestContext.run({ ...waited, startedAt: performance.now() - 8_000 }, () =>
    queue('192.0.2.2', async () => timeLeftMs('auth')),
  );
  first.resolve();
  await ended;
  expect(await left).toBeGreaterThan(10_900);
});

test('a password call is rejected with Retry-After after it has waited for four seconds', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { running, rejected, call } = callsOf(createPasswordQueue(1).inPasswordQueue);
  const calls = [call('192.0.2.1'), call('198.51.100.1')];
  await vi.advanceTimersByTimeAsync(3_999);
  expect(rejected).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(rejected).toEqual([busy]);
  await drain(running, calls);
  expect(rejected).toHaveLength(1);
  vi.useRealTimers();
});

test('the queue holds 8 × PASSWORD_CALLS_AT_ONCE calls, then only those that go first', async () => {
  const { running, rejected, call } = callsOf(createPasswordQueue(2).inPasswordQueue);
  const calls = Array.from({ length: 17 }, (_, n) => call(`10.${n}.0.1`));
  await calls[16];
  expect(rejected).toEqual([busy]);
  calls.push(call('10.17.0.1', { priority: priorities.passwordChange }));
  await drain(running, calls);
  expect(rejected).toHaveLength(1);
});

test.for([
  ['client', (n: number) => `2001:db8:1:1${n.toString(16).padStart(2, '0')}::1`, '2001:db8:2::1'],
  ['IPv6 /48', (n: number) => `2001:db8:1:${n.toString(16)}00::1`, '2001:db8:2::1'],
  ['IPv4 /24', (n: number) => `203.0.113.${n}`, '203.0.114.1'],
] as const)('one %s can use at most a quarter of the password queue', async ([, of, other]) => {
  const { running, rejected, call } = callsOf(createPasswordQueue(8).inPasswordQueue);
  const calls = Array.from({ length: 60 }, (_, n) => call(of(n)));
  await Promise.resolve();
  expect(rejected).toHaveLength(44);
  calls.push(...Array.from({ length: 16 }, () => call(other)));
  await drain(running, calls);
  expect(rejected).toHaveLength(44);
});

test.for<[string, (n: number) => string]>([
  ['client', () => '192.0.2.1'],
  ['IPv6 /48', (n) => `2001:db8:1:${n.toString(16)}00::1`],
  ['IPv4 /24', (n) => `203.0.113.${n}`],
])('calls that go first pass the share of their %s, at most a quarter of those that run', async ([, of]) => {
  const { running, rejected, call } = callsOf(createPasswordQueue(8).inPasswordQueue);
  const calls: Promise<unknown>[] = [times(60, (n) => call(of(n)))];
  await Promise.resolve();
  expect(rejected).toHaveLength(44);
  for (let n = 0; n < 3; n++) calls.push(call(of(n), { priority: priorities.passwordChange }));
  await Promise.resolve();
  expect(rejected).toHaveLength(45);
  calls.push(call('198.51.100.1', { priority: priorities.passwordChange }));
  await drain(running, calls);
  expect(rejected).toHaveLength(45);
});

test('trusted clients start first, then password changes, each within its bound', async () => {
  const { inPasswordQueue: queue } = createPasswordQueue(1);
  const started: string[] = [];
  const { passwordChange, trustedSignIn } = priorities;
  const call = (name: string, priority: 0 | 1 | 2 = 0, ip = '192.0.2.1'): Promise<unknown> =>
    queue(ip, () => Promise.resolve(started.push(name)), { priority });
  const calls = [call('runs'), call('waits'), call('change', passwordChange), call('beyond', passwordChange)];
  const networks = ['10.0.0.1', '10.1.0.1', '10.2.0.1', '10.3.0.1', '10.4.0.1', '10.5.0.1', '10.6.0.1'];
  for (const ip of networks) calls.push(call(ip, passwordChange, ip));
  calls.push(call('owner', trustedSignIn), call('last', 0, '10.0.0.1'));
  await Promise.allSettled(calls);
  expect(started).toEqual(['runs', 'owner', 'change', ...networks, 'waits', 'last']);
});

test('a rejected password change in a full queue keeps its error, so that the limit counts it', async () => {
  const { inPasswordQueue } = createPasswordQueue(1);
  const { running, call } = callsOf(inPasswordQueue);
  const calls = Array.from({ length: 8 }, (_, n) => call(`10.${n}.0.1`));
  const setPassword = createPasswordChange(() => Promise.reject(new Error('weak')), inPasswordQueue);
  const changed = expect(setPassword('token', {}, '192.0.2.1')).rejects.toThrow('weak');
  await drain(running, calls);
  await changed;
});

test('the queue counts as full while calls wait for three seconds', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const { inPasswordQueue, isFullFor } = createPasswordQueue(1);
  const { running, call } = callsOf(inPasswordQueue);
  const full: boolean[] = [];
  const calls = [call('10.0.0.1'), call('10.1.0.1')];
  for (const waitMs of [2_999, 3_000]) {
    await vi.advanceTimersByTimeAsync(waitMs);
    running.shift()?.(); // the next call starts after this wait
    await vi.advanceTimersByTimeAsync(0);
    calls.push(call('10.2.0.1'));
    full.push(isFullFor('192.0.2.1'));
  }
  await drain(running, calls);
  vi.useRealTimers();
  expect([...full, isFullFor('192.0.2.1')]).toEqual([false, true, false]);
});

test('the queue counts as full while only calls that go first start', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const { inPasswordQueue, isFullFor } = createPasswordQueue(1);
  const { running, rejected, call } = callsOf(inPasswordQueue);
  const calls = [call('10.0.0.1'), call('10.1.0.1'), call('10.2.0.1', { priority: priorities.passwordChange })];
  await vi.advanceTimersByTimeAsync(3_900);
  running.shift()?.();
  await vi.advanceTimersByTimeAsync(100);
  expect(rejected).toEqual([busy]);
  calls.push(call('10.3.0.1'));
  const isFull = isFullFor('192.0.2.1');
  await drain(running, calls);
  vi.useRealTimers();
  expect(isFull).toBe(true);
});

test('a call whose client disconnects before it is enqueued never starts, and frees its place', async () => {
  const { running, rejected, call } = callsOf(createPasswordQueue(1).inPasswordQueue);
  const gone = AbortSignal.abort();
  const calls = [call('10.0.0.1'), call('192.0.2.1', { gone }), call('192.0.2.1', { gone })];
  await new Promise(setImmediate);
  expect(rejected).toEqual([busy, busy]);
  calls.push(call('192.0.2.1'), call('192.0.2.1'));
  await drain(running, calls);
  expect(rejected).toHaveLength(2);
});

test('a password call is cancelled if its client disconnects while it waits, not while it runs', async () => {
  const { running, rejected, call } = callsOf(createPasswordQueue(1).inPasswordQueue);
  const [runs, waits] = [new AbortController(), new AbortController()];
  const calls = [call('192.0.2.1', { gone: runs.signal }), call('192.0.2.2', { gone: waits.signal })];
  runs.abort();
  waits.abort();
  await new Promise(setImmediate); // does not wait for the limit of four seconds
  expect(rejected).toHaveLength(1);
  running[0]?.();
  await calls[0];
  expect([rejected.length, running.length]).toEqual([1, 1]);
});

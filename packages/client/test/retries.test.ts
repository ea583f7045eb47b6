import { expect } from 'vitest';
import { addSounds } from '../../../test/support/catalogue.ts';
import type { Fault } from '../../../test/support/network.ts';
import { newEmail, password } from '../../../test/support/test.ts';
import { SoundsError, type Wait } from '../src/index.ts';
import { errorAnswer, faultsOf, nameOf, test, withoutRepeats } from './device.ts';
import { retryTests } from './everywhere/retries.ts';

retryTests(test);

const tooMany = (seconds: number, headers = {}) =>
  errorAnswer(429, 'rate_limited', { 'Retry-After': String(seconds), ...headers });

test('a repeat is announced to onWait, and leaves when the pause is over', async ({ start }) => {
  const waits: (Wait & { ms: number })[] = [];
  const onWait = (wait: Wait) => waits.push({ ...wait, ms: wait.until.getTime() - Date.now() });
  const device = await start({ onWait });
  const faults = faultsOf('POST /auth/signup', tooMany(1));
  const later = faultsOf('GET /me', 'cut', tooMany(3));
  const left: number[] = [];
  device.network.before = (request) => {
    if (['POST /auth/signup', 'GET /me'].includes(nameOf(request))) left.push(Date.now());
    return faults(request) ?? later(request);
  };
  await device.signUp();
  await device.api.me();
  expect(waits.map(({ reason }) => reason)).toEqual(['limited', 'retrying', 'limited']);
  expect(waits.map(({ ms }) => ms >= 990)).toEqual([true, true, true]);
  expect(waits[2]?.ms).toBeGreaterThan(2_990);
  const repeats = [1, 3, 4].map((n) => left[n] ?? 0);
  for (const [n, { until }] of waits.entries())
    expect(repeats[n]).toBeGreaterThanOrEqual(until.getTime() - 5); // timers may round down
});

test('a request is not repeated beyond the time limit', async ({ device }) => {
  const headers = { 'X-Request-Id': 'a-request', 'X-Error-Reason': 'limit_mails' };
  device.network.before = faultsOf('POST /auth/recover', tooMany(1800, headers));
  const error = await device.api.auth.recover({ email: newEmail() }).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(SoundsError);
  expect(error).toMatchObject({
    status: 429,
    code: 'rate_limited',
    reason: 'limit_mails',
    field: null,
    message: 'Made up.',
    requestId: 'a-request',
    retryAfter: 1800,
  });
  expect(device.sent).toEqual(['POST /auth/recover']);
});

test('a request without an answer fails with no_answer when the time limit is over', async ({ device }) => {
  const hurried = await device.again(withoutRepeats);
  const error = { name: 'SoundsError', status: 0, code: 'no_answer', requestId: null };
  for (const fault of [new Promise<Fault>(() => {}), 'cut' as const]) {
    device.network.before = () => fault;
    await expect(hurried.me()).rejects.toMatchObject(error);
  }
  expect(device.sent).toEqual(['GET /me', 'GET /me']);
});

test('a rejected request is not repeated, and the error has the details of the response', async ({
  device,
}) => {
  await expect(device.api.sounds.page({ limit: 0 })).rejects.toMatchObject({
    status: 400,
    code: 'invalid_request',
    message: expect.stringContaining('limit'),
    requestId: expect.stringMatching(/./),
    retryAfter: null,
  });
  const wrong = { email: newEmail(), password };
  await expect(device.api.auth.signIn(wrong)).rejects.toMatchObject({ status: 401 });
  expect(device.sent).toEqual(['GET /sounds', 'POST /auth/signin']); // no refresh for a wrong password
});

test('a signal ends a call before it begins, in flight and while it waits', async ({ start }) => {
  const reason = new Error('The screen is closed.');
  let caller = new AbortController();
  const { api, network, sent, signUp } = await start({ onWait: () => caller.abort(reason) });
  await signUp();
  await expect(api.me({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  expect(sent).toEqual([]);

  network.before = () => {
    caller.abort(reason);
    return new Promise(() => {});
  };
  await expect(api.me({ signal: caller.signal })).rejects.toBe(reason);
  caller = new AbortController();
  network.before = () => tooMany(50);
  await expect(api.me({ signal: caller.signal })).rejects.toBe(reason);
  expect(sent).toEqual(['GET /me', 'GET /me']);
});

test('a signal ends a list between two sounds', async ({ device, sql }) => {
  await addSounds(sql, [{}, {}]);
  const caller = new AbortController();
  const read = async () => {
    for await (const _ of device.api.sounds.list({ limit: 1 }, { signal: caller.signal })) caller.abort();
  };
  await expect(read()).rejects.toMatchObject({ name: 'AbortError' });
  expect(device.sent).toEqual(['GET /sounds']);
});

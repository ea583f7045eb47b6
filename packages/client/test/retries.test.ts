import { describe, expect } from 'vitest';
import { addSound } from '../../../test/support/catalogue.ts';
import type { Fault } from '../../../test/support/network.ts';
import { newEmail, password, test } from '../../../test/support/test.ts';
import { SoundsError, type Wait } from '../src/index.ts';
import { errorAnswer, faultsOf, startDevice } from './device.ts';

import { departures, retryTests } from './everywhere/retries.ts';

describe('a request that fails, in Node', () => retryTests(startDevice));

describe('a request that fails', () => {
  test('a request is repeated after a 500', async ({ gateway }) => {
    const device = await startDevice(gateway.url);
    const { user } = await device.signUp();
    device.network.before = faultsOf('GET /me', errorAnswer(500, 'server_error'));
    expect(await device.api.me()).toMatchObject({ id: user.id });
  });

  test('every request is repeated after the Retry-After of a 429', async ({ gateway }) => {
    const device = await startDevice(gateway.url);
    const tooMany = errorAnswer(429, 'rate_limited', { 'Retry-After': '3' });
    device.network.before = faultsOf('POST /auth/signup', tooMany);
    const left = departures(device, 'POST /auth/signup');
    await device.api.auth.signUp({ email: newEmail(), password });
    expect(left()).toHaveLength(2);
    expect(left()[1]).toBeGreaterThan(3);
  });

  test('onWait is called with the reason and the end of each wait', async ({ gateway }) => {
    const waits: Wait[] = [];
    const device = await startDevice(gateway.url, { onWait: (wait) => waits.push(wait) });
    await device.signUp();
    const tooMany = errorAnswer(429, 'rate_limited', { 'Retry-After': '1' });
    device.network.before = faultsOf('GET /me', 'cut', tooMany);
    const before = Date.now();
    await device.api.me();
    expect(waits.map(({ reason }) => reason)).toEqual(['retrying', 'limited']);
    for (const { until } of waits) expect(until.getTime()).toBeGreaterThanOrEqual(before + 1000);
  });

  test('a request is not repeated beyond the time limit', async ({ gateway }) => {
    const device = await startDevice(gateway.url);
    await device.signUp();
    const tooMany = errorAnswer(429, 'rate_limited', {
      'Retry-After': '1800',
      'X-Request-Id': 'a-request',
      'X-Error-Reason': 'limit_mails',
    });
    device.network.before = faultsOf('POST /auth/recover', tooMany);
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

  test('a request fails with no_answer when the time limit is over', async ({ gateway }) => {
    const device = await startDevice(gateway.url);
    await device.signUp();
    const hurried = await device.again({ timeLimitMs: 2500 });
    device.network.before = () => new Promise(() => {}); // an answer never comes
    const began = performance.now();
    const error = { name: 'SoundsError', status: 0, code: 'no_answer', requestId: null };
    await expect(hurried.me()).rejects.toMatchObject(error);
    expect(performance.now() - began).toBeGreaterThan(2500);
    device.network.before = () => 'cut';
    device.sent.length = 0;
    await expect(hurried.me()).rejects.toMatchObject(error);
    expect(device.sent.length).toBeGreaterThanOrEqual(1);
    expect(device.sent.length).toBeLessThanOrEqual(2);
  });

  test('a rejected request is not repeated, and the error has the details of the response', async ({
    gateway,
  }) => {
    const device = await startDevice(gateway.url);
    await device.signUp();
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
});

describe('the signal of a call', () => {
  test('a signal ends a call before it begins, in flight and while it waits', async ({ gateway }) => {
    const device = await startDevice(gateway.url);
    await device.signUp();
    const reason = new Error('The screen is closed.');
    await expect(device.api.me({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(device.sent).toEqual([]);

    for (const fault of [
      new Promise<Fault>(() => {}),
      errorAnswer(429, 'rate_limited', { 'Retry-After': '50' }),
    ]) {
      const caller = new AbortController();
      device.network.before = () => {
        setTimeout(() => caller.abort(reason), 100);
        return fault;
      };
      await expect(device.api.me({ signal: caller.signal })).rejects.toBe(reason);
    }
    expect(device.sent).toEqual(['GET /me', 'GET /me']);
  });

  test('a signal ends a list between two sounds', async ({ gateway, sql }) => {
    await addSound(sql);
    await addSound(sql);
    const device = await startDevice(gateway.url);
    await device.signUp();
    const caller = new AbortController();
    const read = async () => {
      for await (const _ of device.api.sounds.list({ limit: 1 }, { signal: caller.signal })) caller.abort();
    };
    await expect(read()).rejects.toMatchObject({ name: 'AbortError' });
    expect(device.sent).toEqual(['GET /sounds']);
  });
});

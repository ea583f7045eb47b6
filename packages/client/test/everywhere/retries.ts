import { expect } from 'vitest';
import { addSound } from '../../../../test/support/catalogue.ts';
import type { Fault } from '../../../../test/support/network.ts';
import { newEmail, password, test } from '../../../../test/support/test.ts';
import { errorAnswer, faultsOf, nameOf, type Start, type startDevice } from '../device.ts';

type Device = Awaited<ReturnType<typeof startDevice>>;

/** When each request of a name left, in seconds after the first. */
export function departures({ network, sent }: Device, name: string): () => number[] {
  const times: number[] = [];
  const { before } = network;
  network.before = (request) => {
    if (nameOf(request) === name) times.push(performance.now() / 1000);
    return before(request);
  };
  sent.length = 0;
  return () => times.map((time) => time - (times[0] ?? 0));
}

export function retryTests(startDevice: Start) {
  test('a request is repeated after a broken connection and the 502 of a proxy', async ({ gateway }) => {
    const device = await startDevice(gateway.url);
    await device.signUp();
    device.network.before = faultsOf('GET /me', 'cut', 502);
    const left = departures(device, 'GET /me');
    await device.api.me();
    const [, second = 0, third = 0] = left();
    expect(left()).toHaveLength(3);
    expect(second).toBeGreaterThan(1);
    expect(third - second).toBeGreaterThan(2);
  });

  test('a request that must not take effect twice is not repeated', async ({ gateway }) => {
    const device = await startDevice(gateway.url);
    const { email } = await device.signUp();
    const failed = { name: 'SoundsError' };
    for (const fault of ['cut', 502, errorAnswer(500, 'server_error')] satisfies Fault[]) {
      device.network.before = () => fault;
      device.sent.length = 0;
      await expect(device.api.auth.signUp({ email: newEmail(), password })).rejects.toMatchObject(failed);
      const code = { type: 'recovery' as const, email, code: '123456' };
      await expect(device.api.auth.verify(code)).rejects.toMatchObject(failed);
      expect(device.sent).toEqual(['POST /auth/signup', 'POST /auth/verify']);
    }
  });

  test('a request is repeated when its response breaks off', async ({ gateway, sql }) => {
    await addSound(sql);
    const device = await startDevice(gateway.url);
    await device.signUp();
    const broken: Fault = {
      status: 200,
      headers: {
        'Content-Type': 'application/json; charset=utf-8',
        'Content-Length': '1000',
        Connection: 'close',
      },
      body: '{"data": [',
    };
    device.network.before = faultsOf('GET /sounds', broken);
    expect((await device.api.sounds.page({ limit: 1 })).data).toHaveLength(1);
  });
}

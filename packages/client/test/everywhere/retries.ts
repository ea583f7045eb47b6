import { expect } from 'vitest';
import { addSound } from '../../../../test/support/catalogue.ts';
import type { Fault } from '../../../../test/support/network.ts';
import { newEmail, password } from '../../../../test/support/test.ts';
import { type DeviceTest, errorAnswer, faultsOf } from '../device.ts';

/** A response that breaks off. */
const broken: Fault = {
  status: 200,
  headers: {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': '1000',
    Connection: 'close',
  },
  body: '{"data": [',
};

export function retryTests(test: DeviceTest) {
  test('a read is repeated after each fault of the network, a proxy and the service', async ({
    device,
    sql,
  }) => {
    await addSound(sql);
    device.network.before = faultsOf('GET /sounds', 'cut', 502);
    expect((await device.api.sounds.page({ limit: 1 })).data).toHaveLength(1);
    device.network.before = faultsOf('GET /sounds', broken, errorAnswer(500, 'server_error'));
    expect((await device.api.sounds.page({ limit: 1 })).data).toHaveLength(1);
    expect(device.sent).toEqual(Array(6).fill('GET /sounds'));
  });

  test('a request that must not take effect twice is not repeated', async ({ device }) => {
    const { api, network, sent, account } = device;
    const failed = { name: 'SoundsError' };
    for (const fault of ['cut', 502, errorAnswer(500, 'server_error')] satisfies Fault[]) {
      network.before = () => fault;
      sent.length = 0;
      await expect(api.auth.signUp({ email: newEmail(), password })).rejects.toMatchObject(failed);
      const code = { type: 'recovery' as const, email: account.email, code: '123456' };
      await expect(api.auth.verify(code)).rejects.toMatchObject(failed);
      expect(sent).toEqual(['POST /auth/signup', 'POST /auth/verify']);
    }
  });
}

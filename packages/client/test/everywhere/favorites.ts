import { expect } from 'vitest';
import { addSounds } from '../../../../test/support/catalogue.ts';
import {
  type Account,
  type Device,
  type DeviceTest,
  nameOf,
  startDevice,
  withoutRepeats,
} from '../device.ts';

export const idsOf = async ({ api }: Device) =>
  (await Array.fromAsync(api.favorites.list())).map(({ sound_id }) => sound_id);

/** The favorites of an account at the service. */
export async function known(gatewayUrl: string, account: Account) {
  const other = await startDevice(gatewayUrl);
  await other.api.auth.signIn(account);
  return idsOf(other);
}

export const waiting = ({ store }: Device) =>
  [...store.items]
    .filter(([key]) => key.startsWith('sounds.favorites.'))
    .map(([, value]) => JSON.parse(value));

export const changes = ({ sent }: Device) => sent.filter((name) => /^(POST|DELETE) .favorites/.test(name));

export function favoriteTests(test: DeviceTest) {
  test('changes without a network are listed, survive a restart and are sent later', async ({
    device,
    gateway,
    sql,
  }) => {
    const { account } = device;
    const [kept, removed, added] = (await addSounds(sql, [{}, {}, {}])) as [string, string, string];
    for (const id of [kept, removed]) await device.api.favorites.add(id);
    await device.api.favorites.flush();
    device.network.before = (request) =>
      changes({ sent: [nameOf(request)] } as Device).length ? 'cut' : undefined;
    const { favorites } = await device.again(withoutRepeats); // the app was started again
    await favorites.remove(removed);
    await favorites.add(added);
    await favorites.add(removed);
    await favorites.remove(removed);
    await expect(favorites.flush()).rejects.toMatchObject({ code: 'no_answer' });
    expect(waiting(device)).toEqual([{ [removed]: false, [added]: true }]);
    expect(await idsOf(device)).toEqual([added, kept]);
    expect((await known(gateway.url, account)).toSorted()).toEqual([kept, removed].toSorted());

    device.network.before = () => undefined;
    await device.api.favorites.flush();
    expect(waiting(device)).toEqual([]);
    expect(await known(gateway.url, account)).toEqual([added, kept]);
  });
}

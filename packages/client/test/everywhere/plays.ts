import { expect } from 'vitest';
import { addSound } from '../../../../test/support/catalogue.ts';
import { type Device, type DeviceTest, faultsOf, withoutRepeats } from '../device.ts';

export const countOf = async ({ api }: Device, id: string) => (await api.sounds.get(id)).play_count;

export function playTests(test: DeviceTest) {
  test('plays without a network survive a restart and are counted once', async ({ device, sql }) => {
    const id = await addSound(sql);
    device.network.before = () => 'cut';
    const offline = await device.again(withoutRepeats);
    await offline.plays.record(id, new Date(Date.now() - 86_400_000));
    await offline.plays.record(id);
    await expect(offline.plays.flush()).rejects.toMatchObject({ code: 'no_answer' });
    device.network.before = () => undefined;
    device.network.after = faultsOf('POST /plays', 'cut');
    const restarted = await device.again();
    await restarted.plays.flush();
    expect(await countOf(device, id)).toBe(2);
    expect([...device.store.items.keys()].filter((key) => key.startsWith('sounds.plays.'))).toEqual([]);
  });

  test('plays are counted on a device whose clock is two hours ahead', async ({ start, sql }) => {
    const device = await start();
    await device.setClock(2 * 3_600_000);
    await device.signUp();
    const id = await addSound(sql);
    await device.api.plays.record(id, new Date(device.now()));
    await device.api.plays.flush();
    expect(await countOf(device, id)).toBe(1);
  });
}

import { describe, expect } from 'vitest';
import { addSound } from '../../../test/support/catalogue.ts';
import { newEmail, password } from '../../../test/support/test.ts';
import { errorAnswer, nameOf, test, withoutRepeats } from './device.ts';
import { changes, favoriteTests, idsOf, known, waiting } from './everywhere/favorites.ts';

favoriteTests(test);

describe('favorites', () => {
  test('add and remove are sent at once, and list returns favorites with their sounds', async ({
    device,
    gateway,
    sql,
  }) => {
    const { account } = device;
    const id = await addSound(sql, { title: 'A bowl' });
    await device.api.favorites.add(id);
    expect(await Array.fromAsync(device.api.favorites.list())).toMatchObject([
      { sound_id: id, sounds: { id, title: 'A bowl' } },
    ]);
    await expect.poll(() => waiting(device)).toEqual([]);
    expect(await known(gateway.url, account)).toEqual([id]);
    await device.api.favorites.remove(id);
    expect(await idsOf(device)).toEqual([]);
    await expect.poll(() => known(gateway.url, account)).toEqual([]);
  });

  test('a change during the request of an earlier one is sent, too', async ({ device, gateway, sql }) => {
    const { account } = device;
    const id = await addSound(sql);
    let changed: Promise<void> | undefined;
    device.network.before = async (request) => {
      if (nameOf(request) === 'POST /favorites') changed ??= device.api.favorites.remove(id);
      await changed;
      return undefined;
    };
    await device.api.favorites.add(id);
    await expect.poll(() => waiting(device)).toEqual([]);
    expect(changes(device)).toEqual(['POST /favorites', `DELETE /favorites/${id}`]);
    expect(await known(gateway.url, account)).toEqual([]);
  });

  test('changes that the service rejects are dropped, and flush throws the reason once', async ({
    device,
    gateway,
    sql,
  }) => {
    const { account } = device;
    const [gone, rejected, id] = [crypto.randomUUID(), await addSound(sql), await addSound(sql)];
    device.network.before = ({ body }) =>
      body.includes(rejected) ? errorAnswer(400, 'invalid_request') : undefined;
    for (const each of [gone, rejected, id]) await device.api.favorites.add(each);
    await expect(device.api.favorites.flush()).rejects.toMatchObject({ status: 400 });
    expect(waiting(device)).toEqual([]);
    await device.api.favorites.flush();
    expect(await known(gateway.url, account)).toEqual([id]);
  });

  test('list leaves out an unsent favorite whose sound is gone', async ({ device, sql }) => {
    const id = await addSound(sql);
    const offline = await device.again(withoutRepeats);
    device.network.before = ({ method }) => (method === 'POST' ? 'cut' : undefined);
    await offline.favorites.add(crypto.randomUUID());
    await offline.favorites.add(id);
    expect(await idsOf(device)).toEqual([id]);
  });

  test('changes of one user are never sent with the token of another', async ({ device, gateway, sql }) => {
    const first = device.account;
    const id = await addSound(sql);
    device.network.before = () => 'cut';
    const offline = await device.again(withoutRepeats);
    await offline.favorites.add(id);
    await offline.auth.signOut();
    device.network.before = () => undefined;

    const second = await device.signUp();
    expect(await idsOf(device)).toEqual([]);
    await device.api.favorites.flush();
    expect(await known(gateway.url, second)).toEqual([]);
    expect(await known(gateway.url, first)).toEqual([]);
    await device.api.auth.signOut();
    await device.api.auth.signIn(first);
    await device.again(); // sends what waits
    await expect.poll(() => known(gateway.url, first)).toEqual([id]);
  });

  test('add rejects while nobody is signed in', async ({ start }) => {
    const { api, sent } = await start();
    await expect(api.favorites.add(crypto.randomUUID())).rejects.toMatchObject({ status: 401 });
    await expect(api.auth.signIn({ email: newEmail(), password })).rejects.toMatchObject({ status: 401 });
    await api.favorites.flush();
    expect(sent).toEqual(['POST /auth/signin']);
  });
});

import { expect, onTestFinished } from 'vitest';
import { addSound, addSounds } from '../../../test/support/catalogue.ts';
import { startGateway } from '../../../test/support/gateway.ts';
import {
  type Device,
  errorAnswer,
  nameOf,
  pass,
  startDevice,
  successAnswer,
  test,
  windowsOf,
  withoutRepeats,
} from './device.ts';

const idsOf = async ({ api }: Pick<Device, 'api'>) =>
  (await Array.fromAsync(api.favorites.list())).map(({ sound_id }) => sound_id);

/** Returns the favorites of an account at the service. */
async function known(gateway: { url: string }, account: { email: string; password: string }) {
  const other = await startDevice(gateway.url);
  await other.api.auth.signIn(account);
  return idsOf(other);
}

const waiting = ({ store, keys }: Device) =>
  keys('sounds.favorites.').map((key) => JSON.parse(store.items.get(key) ?? ''));

test('a change is sent at once, or after the change that is being sent', async ({ device, gateway, sql }) => {
  const { api, network, sent, account } = device;
  const [id, other] = (await addSounds(sql, [{ title: 'A bowl' }, {}])) as [string, string];
  await api.favorites.add(id);
  const [favorite] = await Array.fromAsync(api.favorites.list());
  expect(favorite).toMatchObject({ sound_id: id, sounds: { id, title: 'A bowl' } });
  await expect.poll(() => waiting(device)).toEqual([]);
  expect(await known(gateway, account)).toEqual([id]);

  let changed: Promise<void> | undefined;
  network.before = async (request) => {
    if (nameOf(request) === 'POST /favorites') changed ??= api.favorites.remove(other);
    await changed;
    return undefined;
  };
  sent.length = 0;
  await api.favorites.add(other);
  await expect.poll(() => waiting(device)).toEqual([]);
  expect(sent).toEqual(['POST /favorites', `DELETE /favorites/${other}`]);
  expect(await known(gateway, account)).toEqual([id]);
});

test('unsent changes are listed, survive a restart and are sent later', async ({ device, gateway, sql }) => {
  const [kept, removed, added] = (await addSounds(sql, [{}, {}, {}])) as [string, string, string];
  for (const id of [kept, removed]) await device.api.favorites.add(id);
  await device.api.favorites.flush();
  device.network.before = (request) => (/^(POST|DELETE) .favorites/.test(nameOf(request)) ? 'cut' : undefined);
  const { favorites } = device.again(withoutRepeats);
  await favorites.remove(removed);
  for (const id of [added, crypto.randomUUID(), 'no id', removed]) await favorites.add(id);
  await favorites.remove(removed);
  await expect(favorites.flush()).rejects.toMatchObject({ code: 'no_answer' });
  expect(waiting(device)).toMatchObject([{ [removed]: false, [added]: true }]);
  expect(await idsOf(device)).toEqual([added, kept]); // without the favorite whose sound does not exist
  expect((await known(gateway, device.account)).toSorted()).toEqual([kept, removed].toSorted());

  device.network.before = pass;
  const caller = new AbortController();
  const again = device.again(); // sends unsent changes
  const aborted = again.favorites.flush({ signal: caller.signal }); // waits until `again` has sent them
  caller.abort();
  await expect(aborted).rejects.toMatchObject({ name: 'AbortError' });
  await expect.poll(() => waiting(device)).toEqual([]);
  expect(await known(gateway, device.account)).toEqual([added, kept]);
});

test('changes that the service refuses are dropped, and flush throws the reason once', async ({
  device,
  gateway,
  sql,
}) => {
  const { favorites } = device.api;
  const [gone, refused, id] = [crypto.randomUUID(), await addSound(sql), await addSound(sql)];
  const tooMany = errorAnswer(400, 'invalid_request', { 'X-Error-Reason': 'too_many_favorites' });
  device.network.before = ({ body }) => (body.includes(refused) ? tooMany : undefined);
  for (const each of ['no id', gone, refused, id]) await favorites.add(each);
  await favorites.remove('not this either');
  await expect(favorites.flush()).rejects.toMatchObject({ status: 400 });
  expect(waiting(device)).toEqual([]);
  await favorites.flush();
  expect(await known(gateway, device.account)).toEqual([id]);
});

test('a change whose error says nothing about it is kept, and does not hold up the others', async ({
  device,
  gateway,
  sql,
}) => {
  const [kept, id] = (await addSounds(sql, [{}, {}])) as [string, string];
  device.network.before = () => 'cut';
  const { favorites } = device.again(withoutRepeats);
  for (const each of [kept, id]) await favorites.add(each);
  await expect(favorites.flush()).rejects.toMatchObject({ code: 'no_answer' });
  const errors: [number, string, string?][] = [
    [400, 'invalid_request', 'https_required'],
    [400, 'invalid_request', 'validation'], // without a field
    [400, 'invalid_request', 'a_reason_of_tomorrow'],
    [404, 'not_found', 'no_such_path'],
    [405, 'not_found', 'no_such_method'],
    [418, 'a_code_of_tomorrow'],
    [500, 'server_error'],
  ];
  for (const [status, code, reason = ''] of errors) {
    const fault = errorAnswer(status, code, { 'X-Error-Reason': reason });
    device.network.before = ({ body }) => (body.includes(kept) ? fault : undefined);
    await expect(favorites.flush(), `${status} ${reason}`).rejects.toMatchObject({ status, code });
    expect(waiting(device)).toEqual([{ [kept]: true }]);
  }
  expect(await known(gateway, device.account)).toEqual([id]);
  device.network.before = pass;
  await favorites.flush();
  expect(await known(gateway, device.account)).toEqual([kept, id]);
});

test('changes of one user are never sent with the token of another', async ({ device, gateway, sql }) => {
  const { auth, favorites } = device.api;
  const { account: first, network, sent } = device;
  const [id, waiting] = (await addSounds(sql, [{}, {}])) as [string, string];
  const switched = Promise.withResolvers<void>();
  network.before = async (request) => {
    if (nameOf(request) !== 'POST /favorites') return;
    network.before = pass;
    await switched.promise;
    return successAnswer({ data: { ok: true } }, 201);
  };
  await favorites.add(id);
  await favorites.add(waiting);
  await expect.poll(() => sent).toContain('POST /favorites');
  await auth.signOut();

  sent.length = 0;
  await expect(auth.signIn({ ...first, password: 'a guess' })).rejects.toMatchObject({ status: 401 });
  await favorites.flush();
  expect(sent).toEqual(['POST /auth/signin']);
  const second = await device.signUp();
  switched.resolve();
  expect(await idsOf(device)).toEqual([]);
  await favorites.flush();
  for (const account of [second, first]) expect(await known(gateway, account)).toEqual([]);
  await auth.signOut();
  await auth.signIn(first); // sends unsent changes
  await expect.poll(() => known(gateway, first)).toEqual([waiting]);
});

/** Stores changes that are not sent. */
async function addOffline({ network, again, sent }: Device, ids: string[]) {
  network.before = () => 'cut';
  const { favorites } = again(withoutRepeats);
  for (const id of ids) await favorites.add(id);
  await expect(favorites.flush()).rejects.toMatchObject({ code: 'no_answer' });
  network.before = pass;
  sent.length = 0;
}

test('many changes leave a third of the requests to the user, and look up sounds together', async ({ sql }) => {
  const gateway = await startGateway({ RATE_LIMIT_PER_MINUTE: '30' });
  onTestFinished(gateway.close);
  const device = await startDevice(gateway.url);
  const account = await device.signUp();
  const ids = await addSounds(sql, Array(40).fill({}));
  await addOffline(device, ids);
  const api = device.again({ timeLimitMs: 10_000 });
  expect((await Array.fromAsync(api.favorites.list())).map(({ sound_id }) => sound_id)).toEqual(ids.toReversed());
  expect(device.sent.filter((name) => name.startsWith('GET /sounds'))).toEqual(['GET /sounds']);
  await api.favorites.flush();
  const posts = device.sent.filter((name) => name === 'POST /favorites').length;
  expect(posts).toBeGreaterThan(10);
  expect(Object.keys(waiting(device)[0])).toHaveLength(40 - posts);
  const left = 30 - device.sent.length;
  expect(left).toBe(10);
  await Promise.all(Array.from({ length: left }, () => api.me()));
  expect(account.user.id).toBe((await api.auth.user())?.id);
});

test('changes beyond the time limit of flush are sent when the service allows more requests', async ({ device }) => {
  await addOffline(
    device,
    Array.from({ length: 12 }, () => crypto.randomUUID()),
  );
  device.network.before = windowsOf('POST /favorites', 9, 3, () => ({ data: { ok: true } }));
  await device.again(withoutRepeats).favorites.flush();
  expect(device.sent.filter((name) => name === 'POST /favorites').length).toBeLessThan(12);
  await expect.poll(() => waiting(device), { timeout: 10_000 }).toEqual([]);
});

import { expect } from 'vitest';
import { addSounds } from '../../../test/support/catalogue.ts';
import type { Options } from '../src/index.ts';
import { createLists, type Lists, type ListToSave } from '../src/lists.ts';
import { errorAnswer, faultsOf, nameOf, pass, successAnswer, test, withoutRepeats } from './device.ts';
import { cutLists, item, newList, shortLimit, startLists, textsOf, unsent } from './list-device.ts';

/** Answer of a proxy. */
const maintenance = { status: 200, headers: { 'Content-Type': 'application/json' }, body: '{"status":"maintenance"}' };

async function change(lists: Lists, edit: (list: ListToSave) => Partial<ListToSave>) {
  const [list] = await lists.all();
  if (list) await lists.save({ ...list, ...edit(list) });
}

test('edits of two devices without a network are merged, and previews need no network', async ({
  device,
  start,
  sql,
}) => {
  const other = await start();
  await other.api.auth.signIn(device.account);
  const [rain = '', wind = '', sea = ''] = await addSounds(
    sql,
    ['Rain', 'Wind', 'Sea'].map((title) => ({ title })),
  );
  const [mine, theirs] = [startLists(device), startLists(other)];
  let changes = 0;
  mine.subscribe(() => {
    changes += 1;
  });
  await mine.save(newList({ name: ' Night ', items: [item(rain)] }));
  await mine.flush();
  expect(await textsOf(mine)).toEqual(['Night 1: Rain']);
  expect(changes).toBeGreaterThan(1);
  await theirs.sync();

  for (const each of [device, other]) cutLists(each);
  await change(mine, ({ items }) => ({ items: [...items, item(wind)] }));
  await change(theirs, ({ items }) => ({ name: 'Late', items: [...items, item(sea)] }));
  const offline = startLists(device, device.again(withoutRepeats));
  await expect(offline.flush()).rejects.toMatchObject({ code: 'no_answer' });
  const [list] = await startLists(device).all();
  expect(list).toMatchObject({ version: 1, items: [{ sounds: { title: 'Rain' } }, item(wind)] });

  other.network.before = pass;
  await theirs.flush();
  device.network.before = faultsOf('PUT /lists', maintenance);
  await mine.flush(); // repeats it
  await theirs.sync();
  for (const lists of [mine, theirs]) expect(await textsOf(lists)).toEqual(['Late 3: Rain Sea Wind']);
  for (const each of [device, other]) expect(unsent(each)).toEqual([]);

  device.network.before = async (request) => {
    // Another device is faster each time.
    if (nameOf(request) === 'PUT /lists')
      await sql`update public.lists set version = version + 1, name = name || '!' where id = ${list?.id ?? ''}`;
    return undefined;
  };
  await change(mine, ({ items }) => ({ items: items.slice(0, 2) }));
  await expect(mine.flush()).rejects.toMatchObject({ code: 'no_answer' });
  expect(unsent(device)).toHaveLength(1);
  device.network.before = pass;
  await mine.flush();
  expect(await textsOf(mine)).toEqual([expect.stringMatching(/^Late!+ \d+: Rain Sea$/)]);

  await theirs.remove(list?.id ?? '');
  await theirs.flush();
  await change(mine, () => ({ name: 'Later' })); // of a list that was removed
  await mine.flush();
  expect([await mine.all(), unsent(device)]).toEqual([[], []]);
});

test('an edit is based on the state that all gave, also in another tab or after a newer copy', async ({
  device,
  sql,
}) => {
  const [rain = '', wind = '', sea = ''] = await addSounds(
    sql,
    ['Rain', 'Wind', 'Sea'].map((title) => ({ title })),
  );
  const [first, second] = [startLists(device), startLists(device)];
  await first.save(newList({ items: [item(rain)] }));
  await first.flush();
  const [seen] = await second.all();
  if (!seen) throw new Error('The list is missing.');
  cutLists(device);
  await change(first, ({ items }) => ({ items: [...items, item(wind)] }));
  await second.save({ ...seen, name: 'Late', items: [item(sea), ...seen.items] });
  const [list] = await first.all();
  expect(list?.items.map(({ sound_id }) => sound_id)).toEqual([sea, rain, wind]);
  const [{ updated_at: _, ...newest } = seen] = await first.all();
  await first.save({ ...newest, items: newest.items.filter(({ sound_id }) => sound_id !== sea) });

  device.network.before = pass;
  await first.flush();
  expect(await textsOf(first)).toEqual([expect.stringMatching(/^Late \d: Rain Wind$/)]);
  await second.save({ ...seen, name: 'Late', items: [] }); // removes only what it had seen
  await second.flush();
  expect(await textsOf(second)).toEqual([expect.stringMatching(/^Late \d: Wind$/)]);
});

test('a list is what the app saved last, also without calling all between two saves', async ({ device }) => {
  const lists = startLists(device);
  const list = newList({ is_mix: true });
  const [rain, wind] = [crypto.randomUUID(), crypto.randomUUID()];
  const volumes = async () => (await lists.all()).map(({ items }) => items.map(({ volume }) => volume));
  cutLists(device);
  for (const items of [[item(rain)], [item(rain), item(wind)], [item(rain)]]) await lists.save({ ...list, items });
  expect(await volumes()).toEqual([[null]]);
  const [shown] = await lists.all();
  if (!shown) throw new Error('The list is missing.');
  for (const volume of [0.8, null]) await lists.save({ ...shown, items: [item(rain, volume)] }); // moves a slider back
  expect(await volumes()).toEqual([[null]]);
});

test('a removal by an id in capitals arrives, and an edit without an answer holds up no other', async ({ device }) => {
  const lists = startLists(device);
  const [first, second] = [newList({ name: 'First' }), newList({ name: 'Second' })];
  await lists.save(first);
  await lists.flush();
  cutLists(device);
  await lists.remove(first.id.toUpperCase());
  await lists.save({ ...first, version: 1 }); // of a list that was removed
  expect(await lists.all()).toEqual([]);
  device.network.before = pass;
  await lists.flush();
  expect(unsent(device)).toEqual([]);

  cutLists(device);
  const kept = newList({ name: 'Kept' });
  for (const list of [kept, second]) await lists.save(list);
  const saved = { ...second, version: 1, updated_at: new Date().toISOString() };
  const inPart = { id: kept.id, status: 'changed', list: null };
  const answer = successAnswer({ data: [inPart, { id: second.id, status: 'saved', list: saved }] });
  device.network.before = (request) => (nameOf(request) === 'PUT /lists' ? answer : undefined);
  await expect(lists.flush()).rejects.toMatchObject({ code: 'no_answer' });
  expect(await textsOf(lists)).toEqual(['Kept 0: ', 'Second 1: ']);
  await lists.sync(); // although the edit stays
  expect(await textsOf(lists)).toEqual(['Kept 0: ']);

  cutLists(device);
  for (let count = 0; count < 5; count += 1) await lists.save(newList({ name: 'More' })); // more than one request
  device.network.before = ({ body }) => (body.includes('Kept') ? errorAnswer(404, 'not_found') : undefined);
  await expect(lists.flush()).rejects.toMatchObject({ status: 404 });
  expect((await lists.all()).filter(({ version }) => version === 1)).toHaveLength(1);
  device.network.before = pass;
  await lists.flush();
  expect(unsent(device)).toEqual([]);
});

test('a removal that is repeated while the first one is on its way is done, too', async ({ device }) => {
  const lists = startLists(device);
  const list = newList();
  await lists.save(list);
  await lists.flush();
  device.network.before = async (request) => {
    if (nameOf(request) !== 'PUT /lists') return undefined;
    device.network.before = pass;
    await lists.remove(list.id);
    return undefined;
  };
  await lists.remove(list.id);
  await lists.flush();
  await lists.flush();
  expect(unsent(device)).toEqual([]);
});

test('unsent edits wait for their user, and deleteAccount removes them', async ({ device }) => {
  const { account } = device;
  const offlineStore: NonNullable<Options['offlineStore']> = device.store;
  const api = device.again({ ...shortLimit, offlineStore });
  const lists = createLists({ api, store: device.store, offlineStore });
  await lists.save(newList());
  await lists.flush();
  device.network.before = (request) => (nameOf(request) === 'PUT /lists' ? errorAnswer(404, 'not_found') : undefined);
  await change(lists, () => ({ name: 'Offline' }));
  await expect(lists.flush()).rejects.toMatchObject({ status: 404 });
  await api.auth.signOut();
  await lists.flush(); // tells nothing of a former user
  await expect(lists.all()).rejects.toMatchObject({ reason: 'session_ended' });
  await expect.poll(() => device.keys('sounds.copy.')).toEqual([]);
  device.network.before = pass;
  await api.auth.signUp({ email: `${crypto.randomUUID()}@example.com`, password: account.password });
  await lists.sync();
  expect(await lists.all()).toEqual([]);
  await api.auth.signIn(account);
  await lists.sync();
  expect(await textsOf(lists)).toEqual(['Offline 2: ']);

  cutLists(device);
  await lists.save(newList());
  await api.auth.deleteAccount();
  await expect
    .poll(() => device.keys('').filter((key) => key.includes('lists') && key.includes(account.user?.id ?? '')))
    .toEqual([]);
});

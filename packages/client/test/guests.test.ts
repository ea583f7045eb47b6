import { expect } from 'vitest';
import { addSounds } from '../../../test/support/catalogue.ts';
import { allowsGuests, noGuests } from '../../../test/support/project.ts';
import { newEmail, password, type Sql } from '../../../test/support/test.ts';
import { createEntries } from '../src/entries.ts';
import { createLists } from '../src/lists.ts';
import type { Session } from '../src/stored-session.ts';
import {
  test as base,
  type Device,
  errorAnswer,
  faultsOf,
  nameOf,
  pass,
  startDevice,
  withoutRepeats,
} from './device.ts';
import { newList, textsOf } from './list-device.ts';

const adoption = 'POST /me/guest';

/** Test function with a device of a guest. */
const test = base.extend<{ guest: Device }>({
  guest: async ({ gateway, skip }, use) => {
    skip(!(await allowsGuests(gateway.url)), noGuests);
    const device = await startDevice(gateway.url);
    await device.api.auth.continueAsGuest();
    await use(device);
  },
});

const newAccount = () => ({ email: newEmail(), password });
const typesOf = ({ events }: Device) => events.map(({ type }) => type);
const historyOf = async (sql: Sql, { id }: { id: string }) =>
  await sql`select sound_id, plays::int from public.history where user_id = ${id}`;

test('continueAsGuest makes one guest of a device, also for calls at once and after a restart', async ({ guest }) => {
  const { api, again, sent } = guest;
  const user = await api.auth.user();
  expect(user).toEqual({ id: expect.any(String), email: null, isGuest: true });
  await api.auth.signOut();
  const [first, second] = await Promise.all([api.auth.continueAsGuest(), api.auth.continueAsGuest()]);
  expect(second).toEqual(first);
  expect(first.id).not.toBe(user?.id);
  expect(await again().auth.continueAsGuest()).toEqual(first);
  expect(sent.filter((name) => name === 'POST /auth/guest')).toHaveLength(2);
});

test('a sign-in while a guest is made stays, because the device needs no guest then', async ({ guest }) => {
  const { api, network, events } = guest;
  await api.auth.signOut();
  const account = newAccount();
  network.after = async ({ path }) => {
    if (path.endsWith('/auth/guest')) await api.auth.signUp(account);
    return undefined;
  };
  events.length = 0;
  const user = await api.auth.continueAsGuest();
  expect(user.email).toBe(account.email);
  expect([await api.auth.user(), typesOf(guest)]).toEqual([user, ['signedIn']]);
});

test('a sign-up adopts the guest, and sends what the guest has not sent', async ({ guest, sql }) => {
  const { api, network, events, store } = guest;
  const [liked = '', played = ''] = await addSounds(sql, [{}, {}]);
  const lists = createLists({ api, store });
  await api.favorites.add(liked);
  await api.favorites.flush();
  network.before = ({ path }) => (/plays|progress|lists/.test(path) ? 'cut' : undefined);
  await lists.save({ id: crypto.randomUUID(), name: 'Night', is_mix: false, items: [], version: 0 });
  await api.plays.record(played);
  await api.progress.save(played, 30);
  network.before = () => undefined;
  events.length = 0;

  const { user } = await api.auth.signUp(newAccount());
  await expect.poll(() => typesOf(guest)).toEqual(['signedIn', 'adopted']);
  const savedLists = () => sql`select name from public.lists where user_id = ${user.id}`;
  await expect.poll(savedLists).toEqual([{ name: 'Night' }]); // without another call of the app
  await expect
    .poll(async () => (await lists.all()).map(({ name, version }) => [name, version]))
    .toEqual([['Night', 1]]);
  await Promise.all([api.plays.flush(), api.progress.flush()]);
  expect(await historyOf(sql, user)).toEqual([{ sound_id: played, plays: 1 }]);
  expect(await sql`select position_sec from public.progress where user_id = ${user.id}`).toEqual([
    { position_sec: 30 },
  ]);
  expect(await sql`select sound_id from public.favorites where user_id = ${user.id}`).toEqual([{ sound_id: liked }]);
  await expect.poll(async () => (await api.offline.favorites()).map(({ sound_id }) => sound_id)).toEqual([liked]);
  expect(guest.keys('sounds.guests')).toEqual([]);
});

test('an adoption that fails ten times loses nothing, and no other user adopts the guest', async ({ guest, sql }) => {
  const { api, again, network, keys, sent } = guest;
  const [sound = ''] = await addSounds(sql, [{}]);
  await api.plays.record(sound);
  await api.plays.flush();
  const account = newAccount();
  // The client does not repeat these by itself.
  const faults = [errorAnswer(400, 'invalid_request'), errorAnswer(404, 'not_found')] as const;
  let failures = 0;
  network.before = (request) => (request.path.endsWith('/me/guest') ? faults[failures++ % 2] : undefined);
  const { user } = await api.auth.signUp(account);
  const [waiting] = keys('sounds.guests');
  expect(waiting).toBe(`sounds.guests.${user.id}`);
  for (let attempts = 1; attempts < 10; attempts++) {
    await expect.poll(() => failures).toBe(attempts);
    again(); // as after a restart
  }
  await expect.poll(() => failures).toBe(10);
  await api.auth.signOut();

  network.before = () => undefined;
  sent.length = 0;
  const { user: other } = await api.auth.signUp(newAccount());
  await api.plays.flush();
  await api.auth.signOut();
  expect(sent).not.toContain(adoption);
  expect(keys('sounds.guests')).toEqual([waiting]);

  await api.auth.signIn(account);
  await expect.poll(() => keys('sounds.guests')).toEqual([]);
  expect(await historyOf(sql, user)).toEqual([{ sound_id: sound, plays: 1 }]);
  expect(await historyOf(sql, other)).toEqual([]);
});

test('an adoption whose response was lost is done when the guest is gone', async ({ guest, sql }) => {
  const { api, network } = guest;
  const [sound = ''] = await addSounds(sql, [{}]);
  await api.plays.record(sound);
  await api.plays.flush();
  network.after = faultsOf(adoption, 'cut');
  const { user } = await api.auth.signUp(newAccount());
  await expect.poll(() => typesOf(guest)).toContain('adopted');
  expect(guest.sent.filter((name) => name === adoption)).toHaveLength(2);
  expect(guest.keys('sounds.guests')).toEqual([]);
  expect(await historyOf(sql, user)).toEqual([{ sound_id: sound, plays: 1 }]);
});

test('a guest whose session is over costs no refresh of the user, and holds up no other guest', async ({ guest }) => {
  const { api, again, network, keys, store, events, sent } = guest;
  const account = newAccount();
  network.before = (request) => (nameOf(request) === adoption ? errorAnswer(404, 'not_found') : undefined);
  const { user } = await api.auth.signUp(account);
  await expect.poll(() => typesOf(guest)).toContain('notAdopted');
  await api.auth.signOut();
  const second = await api.auth.continueAsGuest();
  await api.auth.signIn(account);
  const waiting = () => createEntries<Session>(store, 'guests').read(user.id);
  await expect.poll(async () => Object.keys(await waiting())).toHaveLength(2);
  await expect.poll(() => events.filter(({ type }) => type === 'notAdopted')).toHaveLength(3); // one, then both

  await createEntries<Session>(store, 'guests').update(user.id, (guests) => {
    for (const [id, session] of Object.entries(guests))
      if (id !== second.id) guests[id] = { ...session, access_token: 'over', refresh_token: 'over' };
  });
  network.before = faultsOf(adoption);
  sent.length = 0;
  events.length = 0;
  again();
  await expect.poll(() => keys('sounds.guests')).toEqual([]);
  await expect.poll(() => typesOf(guest)).toEqual(['adopted']);
  expect(sent.filter((name) => name === adoption)).toHaveLength(2);
  expect(sent.filter((name) => name === 'POST /auth/refresh')).toHaveLength(1); // of the guest
});

test('unsent changes of a guest take nothing from the account, and wait for room', async ({ guest, device, sql }) => {
  const { api, again, network, keys, store } = guest;
  const owner = device.account.user.id;
  const [common = '', ofGuest = ''] = await addSounds(sql, [{}, {}]);
  await device.api.favorites.add(common);
  await device.api.favorites.flush();
  await sql`
    insert into public.lists (user_id, id, name, is_mix, items)
    select ${owner}, gen_random_uuid(), 'List ' || n, false, '[]' from generate_series(1, 199) as n`;
  const lists = createLists({ api, store });
  const saved = ['First', 'Second'].map((name) => newList({ name }));
  for (const list of saved) {
    await lists.save(list);
    await lists.flush();
  }
  for (const id of [common, ofGuest]) await api.favorites.add(id);
  await api.favorites.flush();

  network.before = ({ method }) => (/DELETE|PUT/.test(method) ? 'cut' : undefined);
  const offline = again(withoutRepeats);
  const offlineLists = createLists({ api: offline, store });
  for (const list of saved) await offlineLists.save({ ...list, version: 1, name: `${list.name} later` });
  await expect(offlineLists.flush()).rejects.toMatchObject({ code: 'no_answer' });
  for (const id of [common, ofGuest, 'no UUID']) await offline.favorites.remove(id);
  await expect(offline.favorites.flush()).rejects.toMatchObject({ code: 'no_answer' });

  network.before = ({ method }) => (method === 'DELETE' ? errorAnswer(400, 'invalid_request') : undefined);
  await api.auth.signIn(device.account);
  await expect.poll(() => typesOf(guest)).toContain('notAdopted');
  expect(keys('sounds.favorites.')).toHaveLength(1);
  network.before = pass;
  again();
  await expect.poll(() => typesOf(guest)).toContain('adopted');
  await api.favorites.flush();
  expect(keys('sounds.favorites.')).toEqual([]);
  expect(await sql`select sound_id from public.favorites where user_id = ${owner}`).toEqual([{ sound_id: common }]);
  // The adoption has moved the newest list of the guest.
  await expect(lists.flush()).rejects.toMatchObject({ reason: 'too_many' });
  const later = (await textsOf(lists)).filter((text) => /later/.test(text));
  expect(later.sort()).toEqual(['First later 0: ', 'Second later 2: ']);
});

test('deleteAccount removes guests who wait for the user, and what they have not sent', async ({ guest }) => {
  const { api, again, network, keys } = guest;
  network.before = (request) => {
    if (nameOf(request) === adoption) return errorAnswer(404, 'not_found');
    return request.path.endsWith('/favorites') ? 'cut' : undefined;
  };
  await again(withoutRepeats).favorites.add(crypto.randomUUID());
  await api.auth.signUp(newAccount());
  await expect.poll(() => typesOf(guest)).toContain('notAdopted');
  const kept = () => [...keys('sounds.favorites.'), ...keys('sounds.guests.')];
  expect(kept()).toHaveLength(2);
  await api.auth.deleteAccount();
  expect(kept()).toEqual([]);
});

test('changes during the adoption are kept, but remove nothing of the account', async ({ guest }) => {
  const { api, network, store, keys } = guest;
  const [sent, removed, late] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()];
  const changes = createEntries<boolean>(store, 'favorites');
  const guestId = (await api.auth.user())?.id ?? '';
  const change = (id: string, isFavorite: boolean) =>
    changes.update(guestId, (entries) => {
      entries[id] = isFavorite;
    });
  network.before = ({ path }) => (/favorites/.test(path) ? 'cut' : undefined);
  await api.favorites.add(sent);
  const [outbox = ''] = keys('sounds.favorites.');
  network.after = async (request) => {
    if (nameOf(request) === adoption) await change(removed, false);
    return undefined;
  };
  let adding: Promise<void> | undefined;
  store.before = (method, key) => {
    // Begins when the client writes those of the user.
    if (method === 'setItem' && /favorites/.test(key) && key !== outbox) adding ??= change(late, true);
  };
  const { user } = await api.auth.signUp(newAccount());
  await expect.poll(() => keys('sounds.guests')).toEqual([]);
  await adding;
  expect(await changes.read(user.id)).toEqual({ [sent]: true });
  expect(await changes.read(guestId)).toEqual({ [late]: true });
});

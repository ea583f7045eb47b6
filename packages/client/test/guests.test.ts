import { expect, inject } from 'vitest';
import { addSounds } from '../../../test/support/catalogue.ts';
import { newEmail, password, type Sql } from '../../../test/support/test.ts';
import { test as base, type Device, errorAnswer, faultsOf, startDevice } from './device.ts';

const adoption = 'POST /me/guest';

/** Test function with a device of a guest. */
const test = base.extend<{ guest: Device }>({
  guest: async ({ gateway, skip }, use) => {
    skip(!inject('stack').embedded, 'The project has guests switched off.');
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

test('a sign-up adopts the guest, and sends what the guest has not sent', async ({ guest, sql }) => {
  const { api, network, events } = guest;
  const [liked = '', played = ''] = await addSounds(sql, [{}, {}]);
  await api.favorites.add(liked);
  await api.favorites.flush();
  network.before = ({ path }) => (/plays|progress/.test(path) ? 'cut' : undefined);
  await api.plays.record(played);
  await api.progress.save(played, 30);
  network.before = () => undefined;
  events.length = 0;

  const { user } = await api.auth.signUp(newAccount());
  await expect.poll(() => typesOf(guest)).toEqual(['signedIn', 'adopted']);
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

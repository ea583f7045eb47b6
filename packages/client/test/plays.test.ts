import { expect, vi } from 'vitest';
import { addSound, addSounds } from '../../../test/support/catalogue.ts';
import { type Device, faultsOf, pass, test, withoutRepeats } from './device.ts';

const countOf = async ({ api }: Device, id: string) => (await api.sounds.get(id)).play_count;

test('plays within five seconds are sent in one request', async ({ device, sql }) => {
  const ids = await addSounds(sql, [{}, {}, {}]);
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  for (const id of ids) await device.api.plays.record(id);
  vi.advanceTimersByTime(4_999);
  await device.api.me(); // a play that is not delayed would be sent meanwhile
  const early = [...device.sent];
  vi.advanceTimersByTime(1);
  vi.useRealTimers();
  expect(early).toEqual(['GET /me']);
  await expect.poll(() => device.keys('sounds.plays.')).toEqual([]);
  expect(device.sent).toEqual(['GET /me', 'POST /plays']);
  for (const id of ids) expect(await countOf(device, id)).toBe(1);
});

test('plays without a network are counted once later, and a refused one is told', async ({ device, sql }) => {
  const id = await addSound(sql);
  device.network.before = () => 'cut';
  const offline = device.again(withoutRepeats);
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);
  for (const days of [-1, 0, 365, 0]) await offline.plays.record(id, inDays(days));
  await offline.plays.record('no id');
  await expect(offline.plays.flush()).rejects.toMatchObject({ code: 'no_answer' });
  device.network.before = pass;
  // The service accepts the third request, and its response is lost.
  device.network.after = faultsOf('POST /plays', undefined, undefined, 'cut');
  await expect(device.again().plays.flush()).rejects.toMatchObject({ reason: 'validation', field: 'plays' });
  expect(await countOf(device, id)).toBe(3);
  expect(device.keys('sounds.plays.')).toEqual([]);
});

test('unsent plays are sent after the next sign-in and appear in the history', async ({ device, sql }) => {
  const { auth, history, export: exportAccount } = device.api;
  const [first, second] = (await addSounds(sql, [{}, {}])) as [string, string];
  const offline = device.again(withoutRepeats);
  device.network.before = () => 'cut';
  for (const id of [first, second]) await offline.plays.record(id);
  await offline.auth.signOut();
  device.network.before = pass;

  await auth.signIn(device.account);
  const played = async () => (await Array.fromAsync(history.list())).map(({ sound_id }) => sound_id).sort();
  await expect.poll(() => device.keys('sounds.plays.')).toEqual([]);
  expect(await played()).toEqual([first, second].sort());
  expect((await exportAccount()).history).toHaveLength(2);
  await history.remove(first);
  expect(await played()).toEqual([second]);
  await history.clear();
  expect(await played()).toEqual([]);
});

test('a play is counted although the clock was wrong when the user signed in', async ({ device, sql }) => {
  const { network, sent, api } = device;
  const [first, second] = (await addSounds(sql, [{}, {}])) as [string, string];
  const restarted = (minutes: number) => {
    device.change({ clock_ahead_ms: minutes * 60_000 }); // as if the clock had been corrected since the sign-in
    return device.again(withoutRepeats);
  };
  network.before = () => 'cut';
  const behind = restarted(-10);
  const now = Date.now();
  await behind.plays.record(first, new Date(now - 30_000));
  await behind.plays.record(second);
  network.before = pass;
  sent.length = 0;
  await behind.plays.flush();
  expect(sent).toEqual(['POST /plays', 'POST /plays']);
  const played = await Array.fromAsync(api.history.list());
  expect(played.map(({ sound_id }) => sound_id)).toEqual([second, first]);
  for (const [n, { last_played_at }] of played.entries())
    expect(Math.abs(Date.parse(last_played_at) - now + n * 30_000)).toBeLessThan(10_000);

  const measured = restarted(-10);
  await measured.customer.update({});
  await measured.plays.record(first);
  sent.length = 0;
  await measured.plays.flush();
  expect(sent).toEqual(['POST /plays']); // the response to the update has corrected the clock
  expect(await countOf(device, first)).toBe(2);
  expect(device.keys('sounds.plays.')).toEqual([]);
});

import { expect } from 'vitest';
import { addSound } from '../../../test/support/catalogue.ts';
import { password } from '../../../test/support/test.ts';
import { test, withoutRepeats } from './device.ts';
import { countOf, playTests } from './everywhere/plays.ts';

playTests(test);

test('an invalid play is dropped, and all others are counted', async ({ device, sql }) => {
  const id = await addSound(sql);
  const offline = await device.again(withoutRepeats);
  device.network.before = () => 'cut';
  const year = new Date(Date.now() + 365 * 86_400_000);
  for (const play of [[id], ['no id'], [id], [id, year], [id]] as [string, Date?][])
    await offline.plays.record(...play);
  await expect(offline.plays.flush()).rejects.toMatchObject({ code: 'no_answer' });
  device.network.before = () => undefined;
  await device.api.plays.flush();
  expect(await countOf(device, id)).toBe(3);
  expect([...device.store.items.keys()].filter((key) => key.startsWith('sounds.plays.'))).toEqual([]);
});

test('plays of five seconds are sent in one request', async ({ device, sql }) => {
  const ids = [await addSound(sql), await addSound(sql), await addSound(sql)];
  for (const id of ids) await device.api.plays.record(id);
  // The request leaves after five seconds, which is the default time of a poll.
  await expect.poll(() => countOf(device, ids[2] ?? ''), { timeout: 15_000 }).toBe(1);
  expect(device.sent.filter((name) => name === 'POST /plays')).toHaveLength(1);
});

test('waiting plays are sent after the next sign-in and appear in the history', async ({ device, sql }) => {
  const { email } = device.account;
  const [first, second] = [await addSound(sql), await addSound(sql)];
  const offline = await device.again(withoutRepeats);
  device.network.before = () => 'cut';
  for (const id of [first, second]) await offline.plays.record(id);
  await expect(offline.plays.flush()).rejects.toMatchObject({ code: 'no_answer' });
  await offline.auth.signOut();
  device.network.before = () => undefined;

  const { auth, history, export: exportAccount } = device.api;
  await auth.signIn({ email, password });
  const played = async () => (await Array.fromAsync(history.list())).map(({ sound_id }) => sound_id).sort();
  await expect.poll(played).toEqual([first, second].sort());
  expect((await exportAccount()).history).toHaveLength(2);
  await history.remove(first);
  expect(await played()).toEqual([second]);
  await history.clear();
  expect(await played()).toEqual([]);
});

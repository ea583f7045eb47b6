import { expect, vi } from 'vitest';
import { addSounds } from '../../../test/support/catalogue.ts';
import { foreignAnswers, foreignFault, moved } from '../../../test/support/foreign-answers.ts';
import type { Fault } from '../../../test/support/network.ts';
import { type Device, fakeTimers, pass, test, withoutRepeats } from './device.ts';

const expired = { access_token: 'a token that the service does not take' };

test('the table has an answer for each status that proxies send', () => {
  expect(foreignAnswers).toHaveLength(25);
  const statuses = new Set(foreignAnswers.map(({ status }) => status));
  expect([...statuses]).toEqual([
    ...[200, 204, 206, 301, 302, 307, 308, 400, 401, 403, 404, 405, 407, 413, 429, 431, 500, 502, 503, 504],
  ]);
});

/** Expects that each outbox, refresh, home and sign-out fail with an answer, and that the device keeps everything. */
async function meet(answer: (typeof foreignAnswers)[number], { again, keys, store, change, stored, sent }: Device) {
  const api = again(withoutRepeats);
  const session = store.items.get('sounds.session') ?? '';
  const kept = () =>
    keys('')
      .filter((key) => key !== 'sounds.session')
      .map((key) => [key, store.items.get(key)]);
  const [{ user }, before] = [stored(), kept()];
  expect(before).not.toEqual([]);
  const failure: Record<string, unknown> = { name: 'SoundsError', code: 'no_answer' };
  if ([429, 503].includes(answer.status)) failure['retryAfter'] = 120;
  if (answer.status >= 400 && answer.status !== 407) failure['status'] = answer.status; // fetch hides a 407
  const fails = (call: Promise<unknown>) => expect(call, answer.name).rejects.toMatchObject(failure);

  sent.length = 0;
  for (const outbox of [api.favorites, api.plays, api.progress]) await fails(outbox.flush());
  for (const call of [api.home, api.history.clear, api.auth.deleteAccount, api.me]) await fails(call());
  change(expired);
  await fails(api.me());
  expect(sent, answer.name).not.toContain('POST /auth/refresh'); // spends no refresh token
  change({ expires_at: 0 });
  await fails(api.me()); // the refresh gets the answer
  expect(sent, answer.name).toContain('POST /auth/refresh');
  expect([stored().user, kept()], answer.name).toEqual([user, before]);
  if (answer.headers['Location']) await expect(api.favorites.flush(), answer.name).rejects.toThrow(moved);
  await api.auth.signOut();
  const unsent = before.filter(([key]) => !key?.includes('copy')); // a sign-out removes copies
  expect([await api.auth.user(), kept()], answer.name).toEqual([null, unsent]);
  store.items.set('sounds.session', session); // for the next answer
}

test('25 foreign answers in a row lose nothing and end nothing', async ({ device, sql }) => {
  const [liked, unliked, played] = (await addSounds(sql, [{}, {}, {}])) as [string, string, string];
  const { network, account, again, keys } = device;
  // Lets the limit prevent repeats, but not end a slow answer, and sends no play later by itself.
  fakeTimers('setTimeout');
  await device.api.favorites.add(unliked);
  await device.api.favorites.flush();
  await device.api.plays.record(played);
  await device.api.plays.flush();
  let [answer] = foreignAnswers as [(typeof foreignAnswers)[number]];
  const elsewhere: string[] = [];
  network.before = (request): Fault => {
    if (request.path.startsWith(moved)) elsewhere.push(request.method);
    return foreignFault(answer, request);
  };
  const { favorites, plays, progress } = again(withoutRepeats);
  await favorites.add(liked);
  await favorites.remove(unliked);
  for (const id of [played, liked]) await plays.record(id);
  await progress.save(played, 40);
  for (answer of foreignAnswers) await meet(answer, device);
  expect(elsewhere.filter((method) => method !== 'GET')).toEqual([]);

  await again(withoutRepeats).auth.signOut();
  network.before = pass;
  vi.useRealTimers();
  const later = again();
  await later.auth.signIn(account);
  await Promise.all([later.favorites.flush(), later.plays.flush(), later.progress.flush()]);
  expect(keys('').filter((key) => /favorites|plays|progress/.test(key) && !key.includes('copy'))).toEqual([]);
  const fresh = again({ offlineStore: undefined as never });
  expect((await Array.fromAsync(fresh.favorites.list())).map(({ sound_id }) => sound_id)).toEqual([liked]);
  const heard = (await Array.fromAsync(fresh.history.list())).map(({ sound_id, plays }) => [sound_id, plays]);
  expect(new Map(heard as [string, number][])).toEqual(
    new Map([
      [played, 2],
      [liked, 1],
    ]),
  );
  expect((await fresh.sounds.get(played)).play_count).toBe(2);
  await fresh.progress.sync();
  expect(await fresh.progress.of(played)).toBe(40);
});

import { expect, vi } from 'vitest';
import { addSounds } from '../../../test/support/catalogue.ts';
import { foreignAnswers, foreignFault, moved } from '../../../test/support/foreign-answers.ts';
import type { Fault } from '../../../test/support/network.ts';
import { fakeTimers, pass, test, withoutRepeats } from './device.ts';

const expired = { access_token: 'a token that the service does not take' };

test('the table has an answer for each status that proxies send', () => {
  expect(foreignAnswers).toHaveLength(25);
  const statuses = new Set(foreignAnswers.map(({ status }) => status));
  expect([...statuses]).toEqual([
    ...[200, 204, 206, 301, 302, 307, 308, 400, 401, 403, 404, 405, 407, 413, 429, 431, 500, 502, 503, 504],
  ]);
});

test.for(foreignAnswers)('a foreign answer loses nothing and ends nothing: $name', async (answer, { device, sql }) => {
  const [liked, unliked, played] = (await addSounds(sql, [{}, {}, {}])) as [string, string, string];
  const { network, sent, account } = device;
  await device.api.favorites.add(unliked);
  await device.api.favorites.flush();
  await device.api.plays.record(played);
  await device.api.plays.flush();
  const elsewhere: string[] = [];
  network.before = (request): Fault => {
    if (request.path.startsWith(moved)) elsewhere.push(request.method);
    return foreignFault(answer, request);
  };
  const api = device.again(withoutRepeats);
  fakeTimers('setTimeout'); // so that the limit prevents repeats, and does not end a slow answer
  const failure: Record<string, unknown> = { name: 'SoundsError', code: 'no_answer' };
  if ([429, 503].includes(answer.status)) failure['retryAfter'] = 120;
  if (answer.status >= 400 && answer.status !== 407) failure['status'] = answer.status; // fetch hides a 407

  await api.favorites.add(liked);
  await api.favorites.remove(unliked);
  for (const id of [played, liked]) await api.plays.record(id);
  await api.progress.save(played, 40);
  const stored = device.keys('').map((key) => [key, device.store.items.get(key)]);
  for (const call of [
    ...[() => api.favorites.flush(), () => api.plays.flush(), () => api.progress.flush()],
    ...[() => api.home(), () => api.history.clear(), () => api.auth.deleteAccount(), () => api.me()],
  ])
    await expect(call()).rejects.toMatchObject(failure);
  device.change(expired);
  await expect(api.me()).rejects.toMatchObject(failure);
  expect(sent).not.toContain('POST /auth/refresh'); // spends no refresh token
  device.change({ expires_at: 0 });
  await expect(api.me()).rejects.toMatchObject(failure); // the refresh gets the answer
  expect(sent).toContain('POST /auth/refresh');
  const kept = device.keys('').map((key) => [key, device.store.items.get(key)]);
  const withoutSession = (items: typeof kept) => items.filter(([key]) => key !== 'sounds.session');
  expect(withoutSession(kept)).toEqual(withoutSession(stored));
  expect(device.stored().user).toEqual(account.user);
  expect(elsewhere.filter((method) => method !== 'GET')).toEqual([]);
  if (answer.headers['Location']) await expect(api.favorites.flush()).rejects.toThrow(moved);

  await api.auth.signOut();
  expect(await api.auth.user()).toBeNull();
  network.before = pass;
  vi.useRealTimers();
  const later = device.again();
  await later.auth.signIn(account);
  await Promise.all([later.favorites.flush(), later.plays.flush(), later.progress.flush()]);
  expect(device.keys('').filter((key) => /favorites|plays|progress/.test(key) && !key.includes('copy'))).toEqual([]);
  const fresh = device.again({ offlineStore: undefined as never });
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

import { expect, onTestFinished, vi } from 'vitest';
import { addSound } from '../../../test/support/catalogue.ts';
import { type Device, test } from './device.ts';

const timeLimitMs = 3_000;
const expired = { access_token: 'a token that the service does not take' };

/** Holds locks until the test ends, as a frozen tab does. */
async function freeze(...names: string[]) {
  const thawed = Promise.withResolvers<void>();
  onTestFinished(() => thawed.resolve());
  for (const name of names)
    await new Promise<void>((resolve) => {
      void navigator.locks.request(name, () => {
        resolve();
        return thawed.promise;
      });
    });
}

const refreshes = ({ sent }: Device) => sent.filter((name) => name === 'POST /auth/refresh').length;

test('calls obey their time limit while another tab holds the lock of a refresh', async ({ device }) => {
  const { account } = device;
  const api = device.again({ timeLimitMs });
  device.change(expired);
  await freeze(`sounds.refresh.${account.user.id}`);
  const calls = [api.home(), Array.fromAsync(api.history.list()), api.offline.sync(), api.export()];
  const settled = await Promise.allSettled(calls.slice(0, 3));
  // A call that waited any longer would get the answer, because the refresh goes on after the same time.
  expect(settled.map((each) => each.status === 'rejected' && each.reason.code)).toEqual(Array(3).fill('no_answer'));
  await calls[3]; // the refresh goes on without the lock
  expect(refreshes(device)).toBe(1);
  expect(await api.me()).toMatchObject({ id: account.user.id });
});

test('signing in and out, plays and favorites work while another tab holds every lock', async ({ device, sql }) => {
  const { account } = device;
  const { id: userId } = account.user;
  const id = await addSound(sql);
  const lists = ['plays', 'favorites', 'copy.plays', 'copy.favorites', 'copy.history'].map(
    (name) => `${name}.${userId}`,
  );
  const names = ['session', `refresh.${userId}`, ...lists, ...lists.map((name) => `${name}.sending`)];
  await freeze(...names.map((name) => `sounds.${name}`));
  const { auth, plays, favorites, history } = device.again({ timeLimitMs });
  await auth.signOut();
  await auth.signIn(account);
  await Promise.all([plays.record(id), favorites.add(id)]);
  const [, , played, liked] = await Promise.all([
    plays.flush(),
    favorites.flush(),
    Array.fromAsync(history.list()),
    Array.fromAsync(favorites.list()),
  ]);
  expect(played).toMatchObject([{ sound_id: id, plays: 1 }]);
  expect(liked).toHaveLength(1);
});

const refusals: Record<string, () => unknown> = {
  throw: () => {
    throw new DOMException('Locks are not allowed here.', 'SecurityError');
  },
  reject: () => Promise.reject(new DOMException('Locks are not allowed here.', 'SecurityError')),
};

test.for(Object.entries(refusals))('calls share a refresh where locks %s', async ([, request], { device }) => {
  using _locks = vi.spyOn(navigator, 'locks', 'get').mockReturnValue({ request } as never);
  device.change(expired);
  const other = device.again();
  await Promise.all([1, 2, 3].flatMap(() => [device.api.me(), other.me()]));
  expect(refreshes(device)).toBe(1);
});

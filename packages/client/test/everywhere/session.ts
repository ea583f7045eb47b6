import { expect } from 'vitest';
import { newEmail, password } from '../../../../test/support/test.ts';
import { type DeviceTest, errorAnswer, faultsOf, nameOf, phoneStore, withoutRepeats } from '../device.ts';

export const refresh = 'POST /auth/refresh';
export const expired = { access_token: 'a token that the service does not take' };

export function sessionTests(test: DeviceTest) {
  test('a session survives a restart and is gone after signing out', async ({ start }) => {
    const device = await start();
    const account = { email: newEmail(), password };
    const { needsEmailConfirmation, user } = await device.api.auth.signUp({ ...account, fullName: 'Ada' });
    expect([needsEmailConfirmation, user.email]).toEqual([false, account.email]);
    const restarted = await device.again();
    expect(await restarted.auth.user()).toEqual(user);
    expect(await restarted.me()).toMatchObject({ id: user.id, full_name: 'Ada' });
    await restarted.auth.signOut();
    expect(await device.api.auth.user()).toBeNull();
    expect(await device.api.auth.signIn(account)).toEqual(user);
    await expect
      .poll(() => device.events)
      .toEqual([
        { type: 'signedIn', user },
        { type: 'signedOut', user, reason: 'asked' },
        { type: 'signedIn', user },
      ]);
  });

  test('new tokens are stored before they are used, also in a slow store', async ({ start }) => {
    const device = await start({ store: phoneStore(50) });
    await device.signUp();
    device.change(expired);
    const used: (string | undefined)[] = [];
    device.network.before = ({ headers: { authorization } }) => {
      if (authorization)
        used.push(authorization === `Bearer ${device.stored().access_token}` ? 'stored' : 'unknown');
      return undefined;
    };
    await device.api.me();
    expect(used).toEqual(['stored', 'stored']);
  });

  test('a token is refreshed before it expires, also with a wrong clock', async ({ start }) => {
    const device = await start();
    for (const hours of [2, -2]) {
      const aheadMs = hours * 3_600_000;
      await device.setClock(aheadMs);
      await device.signUp();
      await device.api.me();
      await device.setClock(aheadMs + 3_500_000);
      await device.api.me();
      expect(device.sent).toEqual(['GET /me', 'GET /me']);
      await device.setClock(aheadMs + 3_580_000);
      await device.api.me();
      expect(device.sent.slice(2)).toEqual([refresh, 'GET /me']);
    }
  });

  test('a refresh whose response was lost is repeated with the same token', async ({ device }) => {
    device.change(expired);
    const { refresh_token } = device.stored();
    const tokens: string[] = [];
    device.network.before = (request) => {
      if (nameOf(request) === refresh) tokens.push(JSON.parse(request.body.toString()).refresh_token);
      return undefined;
    };
    device.network.after = faultsOf(refresh, 'cut');
    await device.api.me();
    expect(tokens).toEqual([refresh_token, refresh_token]);
    expect(device.stored().refresh_token).not.toBe(refresh_token);
  });

  test('only a 401 of the service to a refresh ends a session', async ({ device }) => {
    const { user } = device.account;
    device.change(expired);
    const before = device.stored();
    const faults = {
      429: errorAnswer(429, 'rate_limited', { 'Retry-After': '60' }),
      500: errorAnswer(500, 'server_error'),
      'no network': 'cut' as const,
      'a proxy that wants a password': { status: 401, body: '<h1>Sign in to the network</h1>' },
      'a page in the place of an answer': { status: 200, headers: { 'Content-Type': 'text/html' } },
    };
    const api = await device.again(withoutRepeats);
    for (const [name, fault] of Object.entries(faults)) {
      device.network.before = faultsOf(refresh, fault);
      await expect(api.me(), name).rejects.toThrow();
      expect(device.stored(), name).toEqual(before);
    }
    await expect.poll(() => device.events).toEqual([]);
    device.change({ refresh_token: 'none of the service' });
    device.network.before = () => undefined;
    await expect(device.api.me()).rejects.toMatchObject({ status: 401, code: 'unauthorized' });
    expect([...device.store.items.keys()]).toEqual(['sounds.config']);
    await expect.poll(() => device.events).toEqual([{ type: 'signedOut', user, reason: 'ended' }]);
  });

  test('a session does not return when a refresh ends after signing out', async ({ start }) => {
    const device = await start({ store: phoneStore(20) });
    await device.signUp();
    device.change(expired);
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    device.network.after = async (request) => {
      if (nameOf(request) === refresh) {
        asked.resolve();
        await answered.promise;
      }
      return undefined;
    };
    const call = expect(device.api.me()).rejects.toMatchObject({ code: 'unauthorized' });
    await asked.promise;
    const signedOut = device.api.auth.signOut();
    await expect.poll(() => device.stored()).toBeNull();
    answered.resolve();
    await Promise.all([call, signedOut]);
    expect([...device.store.items.keys()]).toEqual(['sounds.config']);
    await expect.poll(() => device.events.map(({ type }) => type)).toEqual(['signedOut']);
  });

  test('signOut ends the session at once, and at the service when there is a network', async ({
    device,
    gateway,
  }) => {
    const { refresh_token } = device.stored();
    device.change(expired); // signing out refreshes, too: the session is to end there
    device.network.before = faultsOf('POST /auth/signout', 'cut', undefined, 'cut');
    const told = device.api.auth.signOut();
    await expect.poll(() => device.events.length).toBe(1);
    expect(await device.api.auth.user()).toBeNull();
    await told;
    const again = await fetch(`${gateway.url}/auth/refresh`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ refresh_token }),
    });
    expect(again.status).toBe(401);
  });

  test('an invalid entry in the store counts as no session', async ({ start }) => {
    const device = await start();
    device.store.items.set('sounds.session', 'no JSON');
    expect(await device.api.auth.user()).toBeNull();
    await expect(device.api.me()).rejects.toMatchObject({ status: 401 });
    expect(await device.api.categories()).toBeInstanceOf(Array);
  });
}

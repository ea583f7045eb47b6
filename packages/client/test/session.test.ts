import { describe, expect, vi } from 'vitest';
import { errorAnswer, faultsOf, nameOf, test } from './device.ts';
import { expired, refresh, sessionTests } from './everywhere/session.ts';

sessionTests(test);

describe('the session of a device', () => {
  const locks = { 'with Web Locks': navigator.locks, 'without them': undefined };
  test.for(Object.entries(locks))(
    'two clients on one store share one refresh, %s',
    async ([, available], { device, onTestFinished }) => {
      const spy = vi.spyOn(navigator, 'locks', 'get').mockReturnValue(available as never);
      onTestFinished(() => spy.mockRestore());
      const { user } = device.account;
      device.change(expired);
      const other = await device.again(); // as another tab
      await Promise.all([
        ...Array.from({ length: 5 }, () => device.api.me()),
        ...Array.from({ length: 5 }, () => other.me()),
      ]);
      expect(device.sent.filter((name) => name === refresh)).toHaveLength(1);
      expect(device.sent.filter((name) => name === 'GET /me')).toHaveLength(20);
      await expect.poll(() => device.events).toEqual([{ type: 'refreshed', user }]);
    },
  );

  test('a refresh goes on when the call that started it is aborted', async ({ device }) => {
    device.change(expired);
    const caller = new AbortController();
    device.network.after = (request) => {
      if (nameOf(request) === refresh) caller.abort(new Error('The screen is closed.'));
      return undefined;
    };
    await expect(device.api.me({ signal: caller.signal })).rejects.toThrow('The screen is closed.');
    await expect.poll(() => device.events.map(({ type }) => type)).toEqual(['refreshed']);
    expect(device.stored().access_token).not.toBe(expired.access_token);
  });

  const reasons = { 'with a reason that is new': 'a_new_word', 'without a reason': undefined };
  test.for(Object.entries(reasons))('a session is refreshed on a 401 %s', async ([, reason], { device }) => {
    const headers = { ...(reason !== undefined && { 'X-Error-Reason': reason }) };
    device.network.before = faultsOf('GET /me', errorAnswer(401, 'unauthorized', headers));
    await device.api.me();
    expect(device.sent).toEqual(['GET /me', refresh, 'GET /me']);
  });
});

describe('a signed-out device', () => {
  /** Calls that work without a session, or that begin or end one. */
  const forGuests =
    /^(auth\.(?!setPassword|deleteAccount)|session|(favorites|plays)\.flush|offline\.(?!sync$|favorites|history)|config|coverUrl|categories)/;

  /** Every method of the client by its path. */
  const methodsOf = (part: object, path = ''): [string, (...args: unknown[]) => unknown][] =>
    Object.entries(part).flatMap(([name, value]) =>
      typeof value === 'function' ? [[path + name, value]] : methodsOf(value, `${path}${name}.`),
    );

  test('every call that needs a session rejects with session_ended and sends nothing', async ({ start }) => {
    const device = await start();
    const args: Record<string, unknown[]> = {
      'auth.setPassword': [{ password: 'a new password' }],
      'sounds.files': [['an id']],
      fetch: ['/me'],
    };
    const methods = methodsOf(device.api).filter(([name]) => !forGuests.test(name));
    expect(methods).toHaveLength(23);
    await device.api.config(); // which the first list would ask for
    device.sent.length = 0;
    for (const [name, method] of methods) {
      const result = method(...(args[name] ?? ['an id']));
      const settled = Symbol.asyncIterator in Object(result) ? (result as AsyncGenerator).next() : result;
      await expect(settled, name).rejects.toMatchObject({ status: 401, reason: 'session_ended' });
    }
    expect(device.sent).toEqual([]);
  });
});

describe('the current user', () => {
  test('listeners hear of a new user until they unsubscribe', async ({ start }) => {
    const device = await start();
    const { session, auth } = device.api;
    const seen: (string | null)[] = [];
    const alsoSeen: (string | null)[] = [];
    const unsubscribe = session.subscribe(() => seen.push(session.user()?.id ?? null));
    session.subscribe(() => alsoSeen.push(session.user()?.id ?? null));
    const { user } = await device.signUp();
    await expect.poll(() => alsoSeen.at(-1)).toBe(user.id);
    unsubscribe();
    await auth.signOut();
    await expect.poll(() => alsoSeen.at(-1)).toBeNull();
    expect(seen.at(-1)).toBe(user.id);
    const again = (await device.again()).session;
    expect(again.user()).toBeUndefined();
    await expect.poll(() => again.user()).toBeNull();
  });

  test('fetch calls any endpoint with the session, and repeats no POST', async ({ device }) => {
    const { user } = device.account;
    device.network.before = faultsOf('GET /me', 'cut');
    const answer = await device.api.fetch('/me');
    expect(await answer.json()).toMatchObject({ data: { id: user.id } });
    device.sent.length = 0;
    device.network.before = faultsOf('POST /plays', 'cut');
    const sending = device.api.fetch('/plays', { method: 'POST', body: '{"plays": []}' });
    await expect(sending).rejects.toMatchObject({ code: 'no_answer' });
    expect(device.sent).toEqual(['POST /plays']);
  });
});

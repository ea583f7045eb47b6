import { expect, vi } from 'vitest';
import { addSound } from '../../../test/support/catalogue.ts';
import { newEmail, password } from '../../../test/support/test.ts';
import { errorAnswer, faultsOf, nameOf, pass, phoneStore, test, withoutRepeats } from './device.ts';

const refresh = 'POST /auth/refresh';
const expired = { access_token: 'a token that the service does not take' };

test('a session survives a restart, and its beginning and end are reported to listeners', async ({ start }) => {
  const device = await start();
  const { session, auth } = device.api;
  const seen: (string | undefined)[] = [];
  const seenAtFirst: (string | undefined)[] = [];
  session.subscribe(() => seen.push(session.user()?.id));
  const unsubscribe = session.subscribe(() => seenAtFirst.push(session.user()?.id));
  const account = { email: newEmail(), password };
  const { needsEmailConfirmation, user } = await auth.signUp({ ...account, fullName: 'Ada' });
  expect([needsEmailConfirmation, user.email]).toEqual([false, account.email]);
  await expect.poll(() => seen.at(-1)).toBe(user.id);
  unsubscribe();

  const restarted = device.again();
  expect(restarted.session.user()).toBeUndefined();
  expect(await restarted.auth.user()).toEqual(user);
  expect(restarted.session.user()).toEqual(user);
  expect(await restarted.me()).toMatchObject({ id: user.id, full_name: 'Ada' });

  await auth.signOut();
  expect(await restarted.auth.user()).toBeNull();
  await expect.poll(() => seen.at(-1)).toBeUndefined();
  expect(seenAtFirst.at(-1)).toBe(user.id);
  expect(await auth.signIn(account)).toEqual(user);
  const signedOut = (reason: string) => ({ type: 'signedOut', user, reason });
  const signedIn = { type: 'signedIn', user };
  await expect.poll(() => device.events).toEqual([signedIn, signedOut('asked'), signedOut('elsewhere'), signedIn]);
});

test('only a 401 of the service in response to a refresh ends a session', async ({ device }) => {
  const { api, network } = device;
  const { user } = device.account;
  device.change(expired);
  const before = device.stored();
  const faults = {
    500: errorAnswer(500, 'server_error'),
    'no network': 'cut' as const,
    'a proxy that wants a password': { status: 401, body: '<h1>Sign in to the network</h1>' },
    'a page instead of a response': { status: 200, headers: { 'Content-Type': 'text/html' } },
  };
  const hurried = device.again(withoutRepeats);
  for (const [name, fault] of Object.entries(faults)) {
    network.before = faultsOf(refresh, fault);
    await expect(hurried.me(), name).rejects.toThrow();
    expect(device.stored(), name).toEqual(before);
  }
  expect(device.events).toEqual([]);
  device.change({ refresh_token: 'none of the service' });
  network.before = pass;
  await expect(api.me()).rejects.toMatchObject({ status: 401, code: 'unauthorized' });
  expect(device.keys('')).toEqual(['sounds.config']);
  await expect.poll(() => device.events).toEqual([{ type: 'signedOut', user, reason: 'ended' }]);
});

test('signOut ends the session on the device at once, then at the service', async ({ device, api }) => {
  const { refresh_token } = device.stored();
  device.change(expired);
  device.network.before = faultsOf('POST /auth/signout', 'cut');
  const ended = device.api.auth.signOut();
  await expect.poll(() => device.events.length).toBe(1);
  expect(await device.api.auth.user()).toBeNull();
  await ended;
  await api.post('/auth/refresh').send({ refresh_token }).expect(401);
});

test('a session that has gone from the store, or became another one, is reported', async ({ device, start }) => {
  const { api, store, events, account } = device;
  await api.me();
  const text = store.items.get('sounds.session') ?? '';
  store.items.delete('sounds.session'); // as localStorage.clear() does
  expect(await api.auth.user()).toBeNull();
  await expect.poll(() => api.session.user()).toBeNull();
  store.items.set('sounds.session', text);
  expect(await api.auth.user()).toEqual(account.user);
  const other = await (await start({ store })).signUp();
  await expect.poll(async () => (await api.auth.user())?.id).toBe(other.user.id);
  const gone = { type: 'signedOut', user: account.user, reason: 'elsewhere' };
  const back = { type: 'signedIn', user: account.user };
  await expect.poll(() => events).toEqual([gone, back, gone, { type: 'signedIn', user: other.user }]);
});

test('a sign-in of another user removes the copies of the first', async ({ device, start, sql }) => {
  const { api, keys, account } = device;
  const id = await addSound(sql);
  await api.favorites.add(id);
  await api.favorites.flush();
  await api.offline.sync();
  const other = await (await start()).signUp();
  expect(keys('sounds.copy.').join()).toContain(account.user.id);
  await api.auth.signIn(other);
  await expect.poll(() => keys('sounds.copy.').join()).not.toContain(account.user.id);
  expect(await api.offline.favorites()).toEqual([]);
});

test('signOut sends plays and positions before the session ends', async ({ device, sql }) => {
  const { api, sent, keys } = device;
  const id = await addSound(sql);
  await api.plays.record(id);
  await api.progress.save(id, 40);
  sent.length = 0;
  await api.auth.signOut();
  expect(sent.slice(0, 2).toSorted()).toEqual(['POST /plays', 'PUT /progress']);
  expect(sent.slice(2)).toEqual(['POST /auth/signout']);
  expect(keys('sounds.plays').concat(keys('sounds.progress'))).toEqual([]);
});

test('devices lists the sessions of the user, and ends one or all others', async ({ device, start }) => {
  const { api } = device;
  const others = await Promise.all([1, 2, 3].map(async () => (await start()).api));
  for (const other of others) await other.auth.signIn(device.account);
  const listed = await api.devices.list();
  expect(listed.map(({ is_current }) => is_current).toSorted()).toEqual([false, false, false, true]);
  const [one] = listed.filter(({ is_current }) => !is_current);
  await api.devices.end(one?.id ?? '');
  expect(await api.devices.list()).toHaveLength(3);
  await expect(api.devices.end(one?.id ?? '')).rejects.toMatchObject({ reason: 'no_such_session' });
  await api.devices.endOthers();
  expect(await api.devices.list()).toMatchObject([{ is_current: true }]);
});

test('clients on one slow store share a refresh, and store new tokens before using them', async ({ start }) => {
  using _locks = vi.spyOn(navigator, 'locks', 'get').mockReturnValue(undefined as never); // some browsers have none
  const device = await start({ store: phoneStore(20) });
  const { user } = await device.signUp();
  device.change(expired);
  const used: boolean[] = [];
  device.network.before = ({ headers: { authorization } }) => {
    const tokens = [expired, device.stored()].map(({ access_token }) => `Bearer ${access_token}`);
    if (authorization) used.push(tokens.includes(authorization));
    return undefined;
  };
  const other = device.again(); // acts as another tab
  await Promise.all([1, 2, 3].flatMap(() => [device.api.me(), other.me()]));
  expect(device.sent.filter((name) => name === refresh)).toHaveLength(1);
  expect(used).toEqual(Array(12).fill(true)); // six requests, each repeated after the refresh
  await expect.poll(() => device.events).toEqual([{ type: 'refreshed', user }]);
});

test('a 401 causes a refresh that survives an aborted call and a lost response', async ({ device }) => {
  const { api, network, sent } = device;
  for (const headers of [{}, { 'X-Error-Reason': 'a_new_word' }]) {
    sent.length = 0;
    network.before = faultsOf('GET /me', errorAnswer(401, 'unauthorized', headers));
    await api.me();
    expect(sent).toEqual(['GET /me', refresh, 'GET /me']);
  }
  sent.length = 0;
  network.before = faultsOf('GET /me', errorAnswer(401, 'unauthorized', { 'X-Error-Reason': 'key_scope' }));
  await expect(api.me()).rejects.toMatchObject({ reason: 'key_scope' });
  expect(sent).toEqual(['GET /me']); // no refresh helps with it
  const { refresh_token } = device.stored();
  device.change(expired);
  const tokens: string[] = [];
  const caller = new AbortController();
  network.before = (request) => {
    if (nameOf(request) === refresh) tokens.push(JSON.parse(request.body.toString()).refresh_token);
    return undefined;
  };
  const cut = faultsOf(refresh, 'cut');
  const rejected = Promise.withResolvers<void>();
  network.after = async (request) => {
    if (nameOf(request) === refresh) {
      caller.abort(new Error('The screen is closed.'));
      await rejected.promise;
    }
    return cut(request);
  };
  await expect(api.me({ signal: caller.signal })).rejects.toThrow('The screen is closed.');
  rejected.resolve();
  await expect.poll(() => device.stored().access_token).not.toBe(expired.access_token);
  expect(tokens).toEqual([refresh_token, refresh_token]);
  expect(device.stored().refresh_token).not.toBe(refresh_token);
});

/** Matches calls that work without a session, or that begin or end one. */
const withoutToken =
  /^(auth\.(?!setPassword|deleteAccount)|session|(favorites|plays|progress)\.flush|offline\.(?!sync$|favorites|history)|config|coverUrl|categories)/;

/** Lists every method of the client with its path. */
const methodsOf = (part: object, path = ''): [string, (argument: string) => unknown][] =>
  Object.entries(part).flatMap(([name, value]) =>
    typeof value === 'function' ? [[path + name, value]] : methodsOf(value, `${path}${name}.`),
  );

test('a call that needs a session rejects without one and sends no request', async ({ start }) => {
  const { api, store, sent } = await start();
  store.items.set('sounds.session', 'no JSON'); // treated as no session
  expect(await api.auth.user()).toBeNull();
  expect(await api.categories()).toBeInstanceOf(Array);
  await api.config(); // otherwise the first list would request it
  sent.length = 0;
  const methods = methodsOf(api).filter(([name]) => !withoutToken.test(name));
  expect(methods).toHaveLength(30);
  for (const [name, method] of methods) {
    const result = method('/me');
    const settled = Symbol.asyncIterator in Object(result) ? (result as AsyncGenerator).next() : result;
    await expect(settled, name).rejects.toMatchObject({ status: 401, reason: 'session_ended' });
  }
  await api.favorites.flush();
  expect(sent).toEqual([]);
});

/** @module-tag browser */
import { expect, onTestFinished } from 'vitest';
import { addSound } from '../../../test/support/catalogue.ts';
import { startGateway } from '../../../test/support/gateway.ts';
import { newEmail, password } from '../../../test/support/test.ts';
import { test } from './page.ts';

/** Returns code that creates a client on a page. */
const start = (url: string, store = 'localStorage') => `import('/client.js').then(({ createSounds }) => {
  globalThis.events = [];
  globalThis.waits = [];
  globalThis.start = (timeLimitMs) => createSounds({
    url: '${url}',
    store: ${store},
    timeLimitMs,
    onSession: ({ type, reason }) => events.push(reason ?? type),
    onWait: (wait) => waits.push(wait),
  });
  globalThis.api = globalThis.start();
})`;

const signUp = () => `api.auth.signUp({ email: '${newEmail()}', password: '${password}' })`;

/** Code that creates a slow store and a clock that is two hours ahead. */
const slowDevice = `{
  globalThis.items = new Map();
  const late = (act) => new Promise((resolve) => setTimeout(() => resolve(act()), 10));
  globalThis.slowStore = {
    getItem: (key) => late(() => items.get(key) ?? null),
    setItem: (key, value) => late(() => items.set(key, value)),
    removeItem: (key) => late(() => items.delete(key)),
  };
  const { now } = Date;
  globalThis.aheadMs = 7_200_000;
  Date.now = () => now() + aheadMs;
}`;

// The tests of examples/player use the same functions in an unchanged Chromium.
test('sessions, repeats, signals, favorites and plays work with the globals of React Native', async ({
  open,
  gateway,
  sql,
}) => {
  const page = await open('packages/client/test/react-native.js');
  const id = await addSound(sql, { title: 'A bowl' });
  const sent: string[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (request.method() !== 'OPTIONS') sent.push(pathname.replace('/api/v1', ''));
  });
  const refresh = '**/api/v1/auth/refresh';
  await page.evaluate(slowDevice);
  await page.evaluate(start(gateway.url, 'slowStore'));
  await page.evaluate(signUp());
  sent.length = 0;
  await page.evaluate('api.me()');
  expect(sent).toEqual(['/me']);
  await page.route(refresh, (route) => route.abort(), { times: 1 });
  sent.length = 0;
  await page.evaluate('aheadMs += 3_580_000, start().me()');
  expect(sent).toEqual(['/auth/refresh', '/auth/refresh', '/me']);

  const aborted = await page.evaluate(`{
      const caller = new AbortController();
      const call = api.home({ signal: caller.signal }).catch(({ name }) => name);
      caller.abort();
      call;
    }`);
  expect(aborted).toBe('AbortError');

  await page.route('**/api/v1/**', (route) => route.abort());
  const failed = await page.evaluate(`(async () => {
      const { favorites, plays } = start(900);
      await favorites.add('${id}');
      await plays.record('${id}', new Date(Date.now()));
      return Promise.all([favorites, plays].map((part) => part.flush().catch(({ code }) => code)));
    })()`);
  expect(failed).toEqual(['no_answer', 'no_answer']);
  await page.unrouteAll();
  const found = await page.evaluate(`(async () => {
      const { favorites, plays, sounds } = start();
      await Promise.all([favorites.flush(), plays.flush()]);
      const { value } = await favorites.list().next();
      return [value.sounds.title, (await sounds.get('${id}')).play_count];
    })()`);
  expect(found).toEqual(['A bowl', 1]);

  const held = Promise.withResolvers<void>();
  await page.route(refresh, (route) => held.promise.then(() => route.continue()));
  const refreshing = page.waitForRequest(refresh);
  await page.evaluate('aheadMs += 3_580_000, void (globalThis.call = api.me().catch(({ code }) => code))');
  await refreshing;
  await page.evaluate('void (globalThis.signedOut = api.auth.signOut())');
  await expect.poll(() => page.evaluate("items.has('sounds.session')")).toBe(false);
  held.resolve();
  expect(await page.evaluate('signedOut.then(() => call)')).toBe('unauthorized');
  expect(await page.evaluate("items.has('sounds.session')")).toBe(false);
  expect(await page.evaluate('events')).toEqual(['signedIn', 'refreshed', 'asked']);
});

test('tabs share a session, its refresh, end and loss, and a copy that survives a reload', async ({
  open,
  gateway,
  sql,
}) => {
  const id = await addSound(sql);
  const page = await open();
  const other = await page.context().newPage();
  await other.goto(page.url());
  for (const tab of [page, other]) await tab.evaluate(start(gateway.url));
  let refreshes = 0;
  page.context().on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/auth/refresh')) refreshes += 1;
  });
  await page.evaluate(signUp());
  await expect.poll(() => other.evaluate('events')).toEqual(['signedIn']);
  await page.evaluate(`localStorage['sounds.session'] =
    JSON.stringify({ ...JSON.parse(localStorage['sounds.session']), access_token: 'invalid' })`);
  const calls = 'Promise.all([1, 2, 3].map(() => api.me())).then(([me]) => me.id)';
  const [mine, theirs] = await Promise.all([page.evaluate(calls), other.evaluate(calls)]);
  expect(mine).toBe(theirs);
  expect(refreshes).toBe(1);

  await page.evaluate('api.offline.sync()');
  expect(await page.evaluate('Object.keys(localStorage).join()')).not.toContain('catalogue');
  await other.reload();
  await other.evaluate(start(gateway.url));
  expect(await other.evaluate(`api.offline.get('${id}')`)).toMatchObject({ id });
  await page.evaluate('api.auth.signOut()');
  await expect.poll(() => other.evaluate('events.at(-1)')).toBe('elsewhere');
  await page.evaluate(signUp());
  await expect.poll(() => other.evaluate('events.at(-1)')).toBe('signedIn');
  await page.evaluate('localStorage.clear()');
  await expect.poll(() => other.evaluate('events.at(-1)')).toBe('elsewhere');
});

test('a call waits for the network, and an error mentions CORS', async ({ open, origin, gateway }) => {
  const page = await open();
  await page.evaluate(start(gateway.url));
  await page.context().setOffline(true);
  await page.evaluate('void (globalThis.answeredAt = api.categories().then(() => Date.now()))');
  const reasons = () => page.evaluate('waits.map(({ reason }) => reason)');
  await expect.poll(reasons).toEqual(['offline', 'offline']); // the second wait takes at least two seconds
  await page.context().setOffline(false);
  expect(await page.evaluate('answeredAt.then((at) => at < waits[1].until.getTime())')).toBe(true);
  expect(await reasons()).toHaveLength(2);

  const strict = await startGateway();
  onTestFinished(strict.close);
  await page.evaluate(start(strict.url));
  const failure = await page.evaluate('start(900).categories().catch(({ code, message }) => [code, message])');
  expect(failure).toEqual(['no_answer', expect.stringMatching(`CORS_ORIGINS.*${origin}`)]);
});

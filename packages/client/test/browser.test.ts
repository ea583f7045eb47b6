import { expect } from 'vitest';
import { canRunBrowser, inBrowser } from '../../../test/support/browser.ts';
import { newEmail, password, test } from '../../../test/support/test.ts';
import { serveClient } from './serve-client.ts';

test('two tabs of a browser share one session, its refresh and its end', async ({ skip }) => {
  skip(!canRunBrowser, 'Install chromium to run the client in a browser.');
  const { origin, gateway } = await serveClient();
  const start = `(async () => {
    const { createSounds } = await import('/client.js');
    globalThis.events = [];
    globalThis.api = createSounds({
      url: '${gateway.url}', store: localStorage, onSession: ({ type, reason }) => events.push(reason ?? type),
    });
  })()`;
  await inBrowser(origin, { width: 1280, colorScheme: 'light' }, async (page) => {
    const opened = page.waitForEvent('popup');
    await page.evaluate(`void open('${origin}')`);
    const other = await opened;
    await other.waitForLoadState();
    const refreshes: string[] = [];
    for (const tab of [page, other]) {
      await tab.evaluate(start);
      tab.on('request', (request) => {
        if (request.method() === 'POST' && request.url().endsWith('/auth/refresh'))
          refreshes.push(request.url());
      });
    }
    await page.evaluate(`api.auth.signUp(${JSON.stringify({ email: newEmail(), password })})`);
    await expect.poll(() => other.evaluate('events')).toEqual(['signedIn']);
    await page.evaluate(`
      localStorage['sounds.session'] = JSON.stringify({ ...JSON.parse(localStorage['sounds.session']), access_token: 'dead' })`);
    const calls = 'Promise.all([1, 2, 3].map(() => api.me())).then(([me]) => me.id)';
    const [mine, theirs] = await Promise.all([page.evaluate(calls), other.evaluate(calls)]);
    expect(mine).toBe(theirs);
    expect(refreshes).toHaveLength(1);
    await page.evaluate('api.auth.signOut()');
    await expect.poll(() => other.evaluate('events.at(-1)')).toBe('elsewhere');
  });
});

test('a page whose origin the service does not allow is told so', async ({ skip, gateway }) => {
  skip(!canRunBrowser, 'Install chromium to run the client in a browser.');
  const { origin } = await serveClient();
  await inBrowser(origin, { width: 1280, colorScheme: 'light' }, async (page) => {
    const message = await page.evaluate(`(async () => {
      const { createSounds } = await import('/client.js');
      const api = createSounds({ url: '${gateway.url}', store: localStorage, timeLimitMs: 900 });
      return api.categories().catch(({ code, message }) => code + ': ' + message);
    })()`);
    expect(message).toMatch(/^no_answer: .*CORS_ORIGINS/);
    expect(message).toContain(origin);
  });
});

test('a call without a network says that it waits, and is sent when a browser is online again', async ({
  skip,
}) => {
  skip(!canRunBrowser, 'Install chromium to run the client in a browser.');
  const { origin, gateway } = await serveClient();
  await inBrowser(origin, { width: 1280, colorScheme: 'light' }, async (page) => {
    await page.evaluate(`(async () => {
      const { createSounds } = await import('/client.js');
      globalThis.waits = [];
      globalThis.api = createSounds({ url: '${gateway.url}', store: localStorage, onWait: (wait) => waits.push(wait) });
    })()`);
    await page.context().setOffline(true);
    await page.evaluate('void (globalThis.answeredAt = api.categories().then(() => Date.now()))');
    const reasons = () => page.evaluate('waits.map(({ reason }) => reason)');
    await expect.poll(reasons).toEqual(['offline', 'offline']); // the second wait is of two seconds or more
    await page.context().setOffline(false);
    expect(await page.evaluate('answeredAt.then((at) => at < waits[1].until.getTime())')).toBe(true);
    expect(await reasons()).toHaveLength(2);
  });
});

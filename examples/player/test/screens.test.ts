import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Route } from 'playwright-core';
import { test as base, expect, onTestFinished } from 'vitest';
import { button, desk, fits, listen, open, phone, playing, test, untilPlaying } from './fixture.ts';

base('the player has at most 1,100 lines, styles included, and no file more than 200', () => {
  const folder = 'examples/player';
  const files = [
    `${folder}/index.html`,
    `${folder}/vite.config.ts`,
    ...readdirSync(`${folder}/src`).map((name) => `${folder}/src/${name}`),
  ];
  const lines = files.map((file) => readFileSync(file, 'utf8').trimEnd().split('\n').length);
  expect(lines.length).toBeGreaterThan(5);
  expect(Math.max(...lines)).toBeLessThanOrEqual(200);
  expect(lines.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(1_100);
});

// The first test of a file waits for `npm run dev`.
test('sounds are found as one types, and all of them are listed to the end', { timeout: 60_000 }, async ({
  dev,
  visit,
}) => {
  const [row] = await dev.sql`select count(*)::int as count from public.sounds where is_active`;
  await visit(phone, async (page) => {
    await listen(page);
    await open(page, 'Browse');
    const rows = page.locator('.rows li');
    await expect
      .poll(async () => {
        await rows.last().scrollIntoViewIfNeeded();
        return rows.count();
      })
      .toBe(row?.['count']);
    await page.getByLabel('Search sounds').pressSequentially('singng bowl');
    await expect.poll(() => rows.count()).toBeLessThan(row?.['count']);
    expect(await rows.locator('strong').first().innerText()).toMatch(/Singing Bowl/);
    expect(await page.getByLabel('Order').isDisabled()).toBe(true);
    await page.getByLabel('Search sounds').fill('no such sound');
    await page.getByText('Nothing found.').waitFor();
  });
});

test('Back returns to a search, and every screen has its title', async ({ visit }) => {
  await visit(phone, async (page) => {
    await listen(page);
    await open(page, 'Browse');
    await page.getByLabel('Search sounds').fill('rain');
    await page.waitForURL(/q=rain/);
    for (const screen of ['Favorites', 'History', 'Account']) {
      await open(page, screen);
      expect(await page.title()).toBe(`${screen} – Sounds`);
    }
    for (let back = 0; back < 3; back += 1) await page.goBack();
    await page.getByRole('heading', { name: 'Browse' }).waitFor();
    expect(await page.title()).toBe('Browse – Sounds');
    expect(await page.getByLabel('Search sounds').inputValue()).toBe('rain');
    expect(await page.locator('.rows strong').first().innerText()).toMatch(/rain/i);
  });
});

test('long words fit on every screen, and inputs have the colour of the text', async ({ dev, visit }) => {
  const word = 'Rinderkennzeichnungsfleischetikettierungsüberwachungsaufgabenübertragungsgesetz';
  await dev.sql`insert into public.sounds (title, sort_order, is_featured) values (${word}, -1000, true)`;
  onTestFinished(async () => {
    await dev.sql`delete from public.sounds where title = ${word}`;
  });
  await dev.sql`update public.categories set name = ${word}`;
  await dev.sql`update public.home_sections set title = ${word}`;
  await dev.sql`update public.customers set full_name = ${word}`;
  await visit(phone, async (page) => {
    await button(page, 'Listen with the demo account').click();
    await page.locator('#bar').getByText('There is no audio of this sound.').waitFor();
    expect(await playing(page)).toBe(word);
    await page.locator('.cards').first().waitFor();
    expect(await fits(page)).toBe(true);
    for (const screen of ['Browse', 'Favorites', 'History', 'Account']) {
      await open(page, screen);
      await page.getByText('Loading').waitFor({ state: 'hidden' });
      expect(await fits(page), screen).toBe(true);
    }
    await page.getByText(`${word}, demo@example.com`).waitFor();
    const colors = await page.evaluate(
      `['body', 'input'].map((name) => getComputedStyle(document.querySelector(name + ':not([type=range])')).color)`,
    );
    expect(new Set(colors as string[]).size).toBe(1);
  });
});

test('a screen that fails says why, and tries again at a click with the focus kept', async ({ visit }) => {
  await visit(phone, async (page) => {
    await listen(page);
    const isMe = (address: URL) => address.pathname === '/api/v1/me';
    const body = '{"error": {"code": "not_found", "message": "Made up."}}';
    await page.route(isMe, (route) => route.fulfill({ status: 404, contentType: 'application/json', body }));
    await open(page, 'Account');
    await page.getByText('It is no longer there.').waitFor();
    await page.unroute(isMe);
    await page.locator('main').getByRole('button', { name: 'Try again' }).focus();
    await page.keyboard.press('Enter');
    await button(page, 'Sign out').waitFor();
    expect(await page.evaluate('document.activeElement.localName')).toBe('main');
  });
});

test('a wait says whether the service does not answer or asked for a pause', async ({ visit }) => {
  await visit(phone, async (page) => {
    await listen(page);
    const failures: [RegExp, (route: Route) => Promise<void>][] = [
      [/^The service does not answer: trying again in \d+ s\.$/, (route) => route.abort()],
      [
        /^Too many requests: trying again in \d+ s\.$/,
        (route) =>
          route.fulfill({
            status: 429,
            headers: { 'Retry-After': '30' },
            json: { error: { code: 'rate_limited', message: 'Made up.' } },
          }),
      ],
    ];
    for (const [words, fail] of failures) {
      await page.route('**/api/v1/history*', fail);
      await open(page, 'History');
      await page.getByText(words).waitFor();
      await page.unrouteAll();
      await page.locator('main').getByRole('button', { name: 'Try again' }).click();
      await page.locator('.rows li').first().waitFor();
      expect(await page.locator('#notice').innerText()).toBe('');
      await open(page, 'Browse');
    }
  });
});

test('an unexpected response leaves no empty page', async ({ visit }) => {
  await visit(
    phone,
    async (page) => {
      await listen(page);
      await open(page, 'Browse');
      await page.route('**/api/v1/home', (route) => route.fulfill({ json: { sections: [{}] } }));
      await open(page, 'Home', 'Listen');
      await page.getByText('That did not work. Reload the page.').waitFor();
      await page.unrouteAll();
      await page.locator('main').getByRole('button', { name: 'Try again' }).click();
      await page.locator('.cards').first().waitFor();
    },
    'Cannot read properties of undefined',
  );
});

test('a list whose next page fails keeps its rows and goes on', async ({ visit }) => {
  await visit(phone, async (page) => {
    await listen(page);
    const isNextPage = (address: URL) => address.searchParams.has('cursor');
    const body = '{"error": {"code": "not_found", "message": "Made up."}}';
    await page.route(isNextPage, (route) =>
      route.fulfill({ status: 404, contentType: 'application/json', body }),
    );
    await open(page, 'Browse');
    const rows = page.locator('.rows li');
    await rows.nth(19).scrollIntoViewIfNeeded();
    await page.getByText('It is no longer there.').waitFor();
    const titles = await rows.locator('strong').allTextContents();
    await page.unroute(isNextPage);
    await page.locator('main').getByRole('button', { name: 'Try again' }).click();
    await expect.poll(() => rows.count()).toBeGreaterThan(titles.length);
    const all = await rows.locator('strong').allTextContents();
    expect(all.slice(0, titles.length)).toEqual(titles);
    expect(await rows.nth(titles.length).locator('.listen').getAttribute('value')).not.toBe(
      await rows.nth(0).locator('.listen').getAttribute('value'),
    );
  });
});

test('sounds are listed in the chosen order and with the chosen tags, and Back finds both', async ({
  visit,
}) => {
  await visit(phone, async (page) => {
    await listen(page);
    await open(page, 'Browse');
    await page.getByLabel('Order').selectOption('By title');
    await page.waitForURL(/sort=title/);
    const titles = page.locator('.rows strong');
    await expect.poll(() => titles.first().innerText()).toBe('Binaural Tones, 10 Hz');
    await page.getByLabel('bowl', { exact: true }).check();
    await page.waitForURL(/tag=bowl/);
    await expect.poll(() => titles.first().innerText()).toBe('Bowl at Lights Out');
    await open(page, 'Account');
    await page.goBack();
    await expect.poll(() => page.getByLabel('bowl', { exact: true }).isChecked()).toBe(true);
    expect(await page.getByLabel('Order').inputValue()).toBe('title');
  });
});

test('a sound has a page with an address that can be shared, also with a guest', async ({ visit }) => {
  await visit(phone, async (page) => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await listen(page);
    await open(page, 'Browse');
    await page.getByLabel('Search sounds').fill('Singing Bowl in A3');
    await page.getByRole('link', { name: 'About: Singing Bowl in A3' }).click();
    await page.getByRole('heading', { name: 'Singing Bowl in A3' }).waitFor();
    await page.getByText('Note A3').waitFor();
    expect(await page.title()).toBe('Singing Bowl in A3 – Sounds');
    await button(page, 'Copy the address').click();
    await page.getByText('The address is copied.').waitFor();
    const address = await page.evaluate<string>('navigator.clipboard.readText()');
    await page.getByRole('link', { name: 'bowl', exact: true }).click();
    await expect.poll(() => page.getByLabel('bowl', { exact: true }).isChecked()).toBe(true);
    await open(page, 'Account');
    await button(page, 'Sign out').click();
    await button(page, 'Sign in').waitFor();
    await page.goto(address);
    await listen(page);
    await page.getByRole('heading', { name: 'Singing Bowl in A3' }).waitFor();
  });
});

test('one person who skips through a list sends few requests', async ({ visit }) => {
  await visit(desk, async (page) => {
    const requests: string[] = [];
    page.on('request', (request) => requests.push(new URL(request.url()).pathname.replace('/api/v1', '')));
    await listen(page);
    for (let count = 0; count < 5; count += 1) {
      const before = await playing(page);
      await button(page, 'Next').click();
      await expect.poll(() => playing(page)).not.toBe(before);
      await untilPlaying(page);
    }
    for (const screen of ['Browse', 'Favorites', 'Browse', 'Favorites']) await open(page, screen);
    const countOf = (path: string) => requests.filter((each) => each === path).length;
    expect(countOf('/categories')).toBe(0);
    expect(countOf('/favorites')).toBe(1);
    expect(countOf('/plays')).toBeLessThanOrEqual(3);
  });
});

test('every screen fits from right to left', async ({ visit }) => {
  await visit(phone, async (page) => {
    await listen(page);
    await page.evaluate("document.documentElement.dir = 'rtl'");
    for (const screen of ['Browse', 'Favorites', 'History', 'Account']) {
      await open(page, screen);
      expect(await fits(page), screen).toBe(true);
    }
    const isMirrored = "document.querySelector('#bar img').getBoundingClientRect().left > 195";
    expect(await page.evaluate(isMirrored)).toBe(true);
  });
});

test('the bar is reached by the keyboard before the lists', async ({ visit }) => {
  await visit(phone, async (page) => {
    await listen(page);
    await open(page, 'Browse');
    await page.locator('.rows li').first().waitFor();
    const isInBar = () => page.evaluate('document.activeElement.closest("#bar") !== null');
    await page.keyboard.press('Shift+Tab');
    expect(await isInBar()).toBe(true);
    await page.getByRole('link', { name: 'Account' }).focus();
    await page.keyboard.press('Tab');
    expect(await isInBar()).toBe(true);
  });
});

test('sounds are removed from the history one by one, or all at once', async ({ visit }) => {
  await visit(desk, async (page) => {
    await listen(page);
    for (let count = 2; count <= 3; count += 1) {
      const before = await playing(page);
      await button(page, 'Next').click();
      await expect.poll(() => playing(page)).not.toBe(before);
      await untilPlaying(page);
    }
    await open(page, 'History');
    const titles = page.locator('.rows strong');
    await expect.poll(() => titles.count()).toBe(3);
    const [, second] = await titles.allTextContents();
    await page
      .getByRole('button', { name: /^Remove from the history/ })
      .first()
      .click();
    await expect.poll(() => titles.count()).toBe(2);
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe(
      `Remove from the history: ${second}`,
    );
    await button(page, 'Clear the history').click();
    await page.getByText('The history is empty.').waitFor();
    await open(page, 'Browse');
    await open(page, 'History');
    await page.getByText('Nothing yet: sounds that you listen to appear here.').waitFor();
  });
});

test('the export is downloaded as a file', async ({ visit }) => {
  await visit(phone, async (page) => {
    await listen(page);
    await open(page, 'Account');
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download everything' }).click();
    const file = await downloading;
    expect(file.suggestedFilename()).toBe('sounds-account.json');
    expect(JSON.parse(await readFile(await file.path(), 'utf8'))).toMatchObject({
      history: expect.any(Array),
    });
    await page.getByText('The file is among your downloads.').waitFor();
  });
});

test('the sign-in screen says that the service has ended the session', async ({ dev, visit }) => {
  await visit(phone, async (page) => {
    await listen(page);
    await dev.sql`delete from auth.sessions`;
    await page.evaluate(`{
      const session = JSON.parse(localStorage['sounds.session']);
      localStorage['sounds.session'] = JSON.stringify({ ...session, expires_at: 0 });
    }`);
    await page.getByRole('link', { name: 'History' }).click();
    await page.getByText('You are signed out. Sign in again.').waitFor();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await page.locator('#bar').isVisible()).toBe(false);
  });
});

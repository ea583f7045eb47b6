import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Route } from 'playwright-core';
import { test as base, expect, onTestFinished } from 'vitest';
import { button, fits, listen, open, phone, playing, test } from './fixture.ts';

base('the player has at most 900 lines, styles included, and no file more than 200', () => {
  const folder = 'examples/player';
  const files = [
    `${folder}/index.html`,
    `${folder}/vite.config.ts`,
    ...readdirSync(`${folder}/src`).map((name) => `${folder}/src/${name}`),
  ];
  const lines = files.map((file) => readFileSync(file, 'utf8').trimEnd().split('\n').length);
  expect(lines.length).toBeGreaterThan(5);
  expect(Math.max(...lines)).toBeLessThanOrEqual(200);
  expect(lines.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(900);
});

test('sounds are found as one types, and all of them are listed to the end', async ({ dev, visit }) => {
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
    await page.getByLabel('Search sounds').pressSequentially('rain');
    await expect.poll(() => rows.count()).toBeLessThan(row?.['count']);
    for (const title of await rows.locator('strong').allTextContents()) expect(title).toMatch(/rain/i);
    await page.getByLabel('Search sounds').fill('no such sound');
    await page.getByText('Nothing found.').waitFor();
  });
});

test('a search survives Back, and every screen has its title', async ({ visit }) => {
  await visit(phone, async (page) => {
    await listen(page);
    await open(page, 'Browse');
    await page.getByLabel('Search sounds').fill('rain');
    await page.waitForURL(/search=rain/);
    for (const screen of ['Favorites', 'History', 'Account']) {
      await open(page, screen);
      expect(await page.title()).toBe(`${screen} – Sounds`);
    }
    for (let back = 0; back < 3; back += 1) await page.goBack();
    await page.getByRole('heading', { name: 'Browse' }).waitFor();
    expect(await page.title()).toBe('Browse – Sounds');
    expect(await page.getByLabel('Search sounds').inputValue()).toBe('rain');
    await page.locator('.rows li').first().waitFor();
    for (const title of await page.locator('.rows strong').allTextContents()) expect(title).toMatch(/rain/i);
  });
});

test('long words break no screen, and what is typed is as dark as the text', async ({ dev, visit }) => {
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

test('a screen that fails says why and tries again, at a click and with the focus kept', async ({
  visit,
}) => {
  await visit(phone, async (page) => {
    await listen(page);
    const isBrowse = (address: URL) => address.pathname === '/api/v1/categories';
    const body = '{"error": {"code": "not_found", "message": "Made up."}}';
    await page.route(isBrowse, (route) =>
      route.fulfill({ status: 404, contentType: 'application/json', body }),
    );
    await open(page, 'Browse');
    await page.getByText('It is no longer there.').waitFor();
    await page.unroute(isBrowse);
    await page.locator('main').getByRole('button', { name: 'Try again' }).focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Search sounds').waitFor();
    expect(await page.evaluate('document.activeElement.localName')).toBe('main');
  });
});

test('a service that does not answer, or wants a pause, is waited for in view, and a further try takes that away', async ({
  visit,
}) => {
  await visit(phone, async (page) => {
    await listen(page);
    const failures: [RegExp, (route: Route) => Promise<void>][] = [
      [/^The service does not answer: trying again in \d+ s\.$/, (route) => route.abort()],
      [
        /^That was too often: trying again in \d+ s\.$/,
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

test('an answer that nobody expects leaves no white page', async ({ visit }) => {
  await visit(
    phone,
    async (page) => {
      await listen(page);
      await page.route('**/api/v1/categories', (route) => route.fulfill({ json: { data: [{}] } }));
      await open(page, 'Browse');
      await page.getByText('That did not work. Reload the page.').waitFor();
      await page.unrouteAll();
      await page.locator('main').getByRole('button', { name: 'Try again' }).click();
      await page.getByLabel('Search sounds').waitFor();
    },
    'Cannot read properties of undefined',
  );
});

test('a list that fails on the way keeps what it has, and goes on', async ({ visit }) => {
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

test('the history loses single sounds, from one to the next, and all at once', async ({ visit }) => {
  await visit(phone, async (page) => {
    const next = () => button(page, 'Next').click();
    for (const play of [() => listen(page), next, next]) {
      const counted = page.waitForResponse('**/api/v1/plays');
      await play();
      await counted;
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
    await page.getByText('Nothing yet: what you listen to stands here.').waitFor();
  });
});

test('the export is a file with everything', async ({ visit }) => {
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

test('a session that the service has ended leads to the sign-in, which says so', async ({ dev, visit }) => {
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

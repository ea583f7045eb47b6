/** @module-tag browser */
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { violations } from '../../../test/support/browser.ts';
import { button, fits, focused, listen, next, open, playing, test, tryAgain, untilPlays } from './fixture.ts';

test.beforeAll(({ site }) => void site);

test.for(['phone', 'desk'] as const)('every screen passes axe and fits a %s', async (view, { visit }) => {
  const steps = async (page: Page) => {
    const check = async (state: string) => {
      expect(await fits(page), state).toBe(true);
      expect(await violations(page), state).toEqual([]);
    };
    await button(page, 'Sign in').waitFor();
    await check('Sign in');
    for (const screen of ['Create an account', 'Forgot your password?']) {
      await open(page, screen);
      await check(screen);
      await page.goBack();
    }
    await listen(page);
    await page.getByRole('heading', { name: 'Featured' }).waitFor();
    await check('Home');
    await page.route('**/object/sign/audio/**', (route) => route.fulfill({ status: 500 }));
    await button(page, 'Now playing').click();
    await check('Now playing');
    await button(page, 'Next').click();
    await page.getByText('This sound cannot be played now.').waitFor();
    await check('a sound that fails');
    await page.keyboard.press('Escape');
    for (const screen of ['Favorites', 'History', 'Account', 'Browse']) {
      await open(page, screen);
      await page.getByText('Loading').waitFor({ state: 'hidden' });
      await check(screen);
    }
    const sound = await page.locator('.rows .listen').first().getAttribute('value');
    await page.getByLabel('Search sounds').fill('zzzzxyq');
    await page.getByText('Nothing found.').waitFor();
    await check('nothing found');
    await open(page, 'Account');
    await button(page, 'Delete the account …').click();
    await page.getByRole('heading', { name: 'Delete the account' }).waitFor();
    await check('Delete the account');
    await page.goto(`${page.url().split('#')[0]}#/sound/${sound}`);
    await button(page, 'Copy the address').waitFor();
    await check('a sound');
    await page.goto(`${page.url().split('#')[0]}#/premium`);
    await page.getByText('You have premium.').waitFor();
    await check('Premium');
    await page.context().setOffline(true);
    await open(page, 'Account');
    await tryAgain(page).waitFor();
    await check('no network');
  };
  await visit(view, steps, 'ERR_INTERNET_DISCONNECTED');
});

test('covers show a placeholder until they have loaded, and are there after a reload', async ({ visit }) => {
  const steps = async (page: Page) => {
    await page.route('**/object/public/**', (route) => route.abort());
    await listen(page);
    await next(page);
    const cover = page.locator('.listen:has-text("Steady Rain") img').first();
    await expect.poll(() => cover.getAttribute('style')).toContain('data:image/png');
    await page.unrouteAll();
    await page.reload();
    const width = "document.querySelector('#bar img').naturalWidth";
    await expect.poll(() => page.evaluate(width)).toBeGreaterThan(0);
    await expect.poll(() => page.locator('#bar img').getAttribute('src')).toMatch(/^http/);
    const inList = "document.querySelector('.listen img').naturalWidth";
    await expect.poll(() => page.evaluate(inList)).toBe(256);
  };
  await visit('desk', steps, 'ERR_FAILED');
});

test('a phone has a small bar that grows with its text, and opens on the whole screen', async ({ site, visit }) => {
  const title = 'A very long title '.repeat(8).slice(0, 136);
  await site.sql`insert into public.sounds (title, sort_order) values (${title}, -2000)`;
  await visit('phone', async (page) => {
    const bar = page.locator('#bar');
    await button(page, 'Listen with the demo account').click();
    await bar.getByText('There is no audio of this sound.').waitFor();
    const height = async () => (await bar.boundingBox())?.height;
    expect(await fits(page)).toBe(true);
    const withMessage = await height();
    expect(withMessage).toBeGreaterThan(64);
    await button(page, 'Now playing').click();
    expect([await height(), await focused(page)]).toEqual([900, 'Close']);
    for (const control of ['Previous', 'Next', 'Repeat', 'Try again'])
      expect(await button(page, control).isVisible(), control).toBe(true);
    expect(await fits(page)).toBe(true);
    await page.keyboard.press('Escape');
    expect([await height(), await focused(page)]).toEqual([withMessage, 'Now playing']);

    await open(page, 'Browse');
    await page.locator('.rows .listen').nth(2).click();
    await untilPlays(page);
    await expect.poll(() => bar.locator('time').innerText()).toMatch(/^0:0\d\s\/\s0:\d\d$/);
    const coverWidth = "document.querySelector('#bar img').naturalWidth";
    await expect.poll(() => page.evaluate(coverWidth)).toBeGreaterThan(0);
    expect(await height()).toBe(64);
    for (const part of ['img', 'time']) expect(await bar.locator(part).isVisible()).toBe(true);
    expect(await page.locator('.listen[aria-current="true"]').count()).toBe(1);
    const current = "document.querySelector('.listen[aria-current] strong')";
    expect(await page.evaluate(`getComputedStyle(${current}, '::before').content`)).toContain('▶');
  });
});

test('long words fit on every screen, also from right to left', async ({ site, visit }) => {
  const word = 'Rinderkennzeichnungsfleischetikettierungsüberwachungsaufgabenübertragungsgesetz';
  await site.sql`insert into public.sounds (title, sort_order, is_featured) values (${word}, -3000, true)`;
  await site.sql`update public.categories set name = ${word}`;
  await site.sql`update public.home_sections set title = ${word}`;
  await site.sql`update public.customers set full_name = ${word}`;
  await visit('phone', async (page) => {
    await button(page, 'Listen with the demo account').click();
    await page.locator('#bar').getByText('There is no audio of this sound.').waitFor();
    expect(await playing(page)).toBe(word);
    await page.locator('.cards').first().waitFor();
    expect(await fits(page)).toBe(true);
    for (const direction of ['ltr', 'rtl']) {
      await page.evaluate(`document.documentElement.dir = '${direction}'`);
      for (const screen of ['Browse', 'Favorites', 'History', 'Account']) {
        await open(page, screen);
        await page.getByText('Loading').waitFor({ state: 'hidden' });
        expect(await fits(page), `${screen} ${direction}`).toBe(true);
      }
    }
    expect((await page.locator('#bar img').boundingBox())?.x).toBeGreaterThan(195);
    await page.getByText(`${word}, demo@example.com`).waitFor();
    const colors = "['main input', 'body'].map((name) => getComputedStyle(document.querySelector(name)).color)";
    expect(new Set(await page.evaluate<string[]>(colors)).size).toBe(1); // not the default color of the browser
  });
});

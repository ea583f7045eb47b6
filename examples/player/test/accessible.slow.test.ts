import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { View } from '../../../test/support/browser.ts';
import { button, fits, isAudio, listen, open, position, test } from './fixture.ts';

const views: Record<string, View> = {
  'on a phone, in the light': { width: 390, colorScheme: 'light' },
  'on a phone, in the dark': { width: 390, colorScheme: 'dark' },
  'on a desk, in the light': { width: 1280, colorScheme: 'light' },
  'on a desk, in the dark': { width: 1280, colorScheme: 'dark' },
};

type Axe = { run: () => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };

const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Finds violations of accessibility rules with axe. */
async function violations(page: Page) {
  await page.addScriptTag({ path: axePath });
  const found = await page.evaluate(() => (globalThis as unknown as { axe: Axe }).axe.run());
  return found.violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]);
}

for (const [name, view] of Object.entries(views))
  test(`every screen of the player passes axe and fits ${name}`, async ({ visit }) => {
    await visit(
      view,
      async (page) => {
        const check = async (state: string) => {
          expect(await fits(page), state).toBe(true);
          expect(await violations(page), state).toEqual([]);
        };
        await page.getByRole('button', { name: 'Sign in' }).waitFor();
        await check('Sign in');
        for (const screen of ['Create an account', 'Forgot your password?']) {
          await open(page, screen);
          await check(screen);
          await page.goBack();
        }
        await listen(page);
        await expect.poll(() => position(page)).toBeGreaterThan(0);
        await page.getByRole('heading', { name: 'Featured' }).waitFor();
        await check('Home');
        await page.route(isAudio, (route) => route.fulfill({ status: 500 }));
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
        await page.getByLabel('Search sounds').fill('zzzz no such sound');
        await page.getByText('Nothing found.').waitFor();
        await check('nothing found');
        await open(page, 'Account');
        await page.getByRole('button', { name: 'Delete the account' }).click();
        await page.getByRole('heading', { name: 'Delete the account' }).waitFor();
        await check('Delete the account');
        await page.goto(`${page.url().split('#')[0]}#/sound/${sound}`);
        await button(page, 'Copy the address').waitFor();
        await check('a sound');
        await page.context().setOffline(true);
        await open(page, 'Account');
        await page.locator('main').getByRole('button', { name: 'Try again' }).waitFor();
        await check('no network');
      },
      'ERR_INTERNET_DISCONNECTED',
    );
  });

import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { View } from '../../../test/support/browser.ts';
import { fits, isAudio, listen, open, position, test } from './fixture.ts';

const views: Record<string, View> = {
  'on a phone, in the light': { width: 390, colorScheme: 'light' },
  'on a phone, in the dark': { width: 390, colorScheme: 'dark' },
  'on a desk, in the light': { width: 1280, colorScheme: 'light' },
  'on a desk, in the dark': { width: 1280, colorScheme: 'dark' },
};

type Axe = { run: () => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };

const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** What axe finds wrong with the page. */
async function violations(page: Page) {
  await page.addScriptTag({ path: axePath });
  const found = await page.evaluate(() => (globalThis as unknown as { axe: Axe }).axe.run());
  return found.violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]);
}

for (const [name, view] of Object.entries(views))
  test(`everybody can use the player ${name}`, async ({ visit }) => {
    await visit(view, async (page) => {
      await page.getByRole('button', { name: 'Sign in' }).waitFor();
      expect(await violations(page)).toEqual([]);
      await listen(page);
      await expect.poll(() => position(page)).toBeGreaterThan(0);
      await page.getByRole('heading', { name: 'Featured' }).waitFor();
      expect(await fits(page)).toBe(true);
      expect(await violations(page)).toEqual([]);
      await page.route(isAudio, (route) => route.fulfill({ status: 500 }));
      await page.getByRole('button', { name: 'Next' }).click();
      await page.getByText('This sound cannot be played now.').waitFor();
      for (const screen of ['Browse', 'Favorites', 'History', 'Account']) {
        await open(page, screen);
        await page.getByText('Loading').waitFor({ state: 'hidden' });
        expect(await violations(page), screen).toEqual([]);
      }
      await page.getByRole('button', { name: 'Delete the account' }).click();
      await page.getByRole('heading', { name: 'Delete the account' }).waitFor();
      expect(await violations(page)).toEqual([]);
    });
  });

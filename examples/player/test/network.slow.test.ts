/** @module-tag browser */
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { addLongSound, button, listen, open, playing, position, test, tryAgain } from './fixture.ts';

test.beforeAll(({ site }) => void site);

test('a sound continues at the same position after the network was interrupted', async ({ site, visit }) => {
  await addLongSound(site);
  await visit('desk', async (page) => {
    await listen(page);
    const seek = page.getByLabel('Position');
    await page.context().setOffline(true);
    await seek.fill('270'); // farther than a browser loads ahead
    const waiting = page.locator('#bar').getByText('Waiting for the network …');
    await waiting.waitFor();
    await page.context().setOffline(false);
    await expect.poll(() => position(page)).toBeGreaterThan(270);
    await waiting.waitFor({ state: 'hidden' });
  });
});

test('without a network the page opens, searches the catalogue and changes favorites', async ({ site, visit }) => {
  const steps = async (page: Page) => {
    await listen(page);
    await page.locator('.cards').first().waitFor(); // by now, the catalogue is copied, too
    const title = await playing(page);
    const sections = await page.locator('main h2').allTextContents();
    const titles = page.locator('.rows strong');
    const age = page.getByText('No network: the catalogue as of');
    await page.waitForFunction("caches.open('page').then((kept) => kept.match('/'))");
    await page.context().setOffline(true);
    await page.goto(`${site.url}?source=pwa`); // as from an icon on the home screen
    await age.waitFor();
    await expect.poll(() => page.locator('main h2').allTextContents()).toEqual(sections);
    await expect.poll(() => playing(page)).toBe(title);
    await open(page, 'Browse');
    const heart = page.locator('.rows .heart').first();
    await heart.click();
    expect(await heart.getAttribute('aria-pressed')).toBe('true');
    await page.getByLabel('Search sounds').fill('bowl sing');
    let found: string[] = [];
    const search = async () => {
      found = await titles.allTextContents(); // may be empty while the screen is drawn again
      return found;
    };
    await expect.poll(search).toContain('Singing Bowl in A3');
    expect(found.every((each) => each.includes('Bowl'))).toBe(true);
    for (const screen of ['Favorites', 'History']) {
      await open(page, screen);
      await titles.getByText(title, { exact: true }).waitFor();
    }
    await open(page, 'Account'); // this screen needs a network
    await tryAgain(page).waitFor();
    await page.context().setOffline(false);
    await button(page, 'Sign out').waitFor();
    await age.waitFor({ state: 'hidden' });
    await expect.poll(() => site.sql`select from public.favorites`).toHaveLength(1);
    await open(page, 'Browse');
    await titles.first().waitFor();
    await page.context().setOffline(true); // the screen stays open
    await page.getByLabel('Search sounds').fill('bowl sing');
    await age.waitFor();
    await expect.poll(() => titles.allTextContents()).toEqual(found);
    await page.context().setOffline(false);

    // The bar also shows the favorite when the sound plays right after sign-in.
    await open(page, 'Account');
    await button(page, 'Sign out').click();
    await listen(page);
    await expect.poll(() => page.locator('#bar .heart').getAttribute('aria-pressed')).toBe('true');
  };
  await visit('phone', steps, 'ERR_INTERNET_DISCONNECTED');
});

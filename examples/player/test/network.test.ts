import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { button, listen, open, playing, test, tryAgain, untilPlays } from './fixture.ts';

test.beforeAll(({ dev }) => void dev);

test('the catalogue is shown and searched without a network, with its age', async ({ visit }) => {
  const steps = async (page: Page) => {
    await listen(page);
    await page.locator('.cards').first().waitFor(); // then the catalogue is copied, too
    const sections = await page.locator('main h2').allTextContents();
    const titles = page.locator('.rows strong');
    const age = page.getByText('No network: the catalogue as of');
    await page.context().setOffline(true);
    await open(page, 'Browse');
    await age.waitFor();
    await titles.first().waitFor();
    await page.getByLabel('Search sounds').fill('bowl sing');
    await expect.poll(() => titles.allTextContents()).toContain('Singing Bowl in A3');
    const found = await titles.allTextContents();
    expect(found.every((title) => title.includes('Bowl'))).toBe(true);
    await open(page, 'Home', 'Listen');
    await age.waitFor();
    expect(await page.locator('main h2').allTextContents()).toEqual(sections);

    await open(page, 'Account'); // which needs a network
    await tryAgain(page).waitFor();
    await page.context().setOffline(false);
    await button(page, 'Sign out').waitFor();
    await age.waitFor({ state: 'hidden' });
    await open(page, 'Browse');
    await titles.first().waitFor();
    await page.context().setOffline(true); // while the screen is shown
    await page.getByLabel('Search sounds').fill('bowl sing');
    await age.waitFor();
    await expect.poll(() => titles.allTextContents()).toEqual(found);
  };
  await visit('phone', steps, 'ERR_INTERNET_DISCONNECTED');
});

test('favorites changed without a network are shown, and sent later', async ({ dev, phone: page }) => {
  await open(page, 'Browse');
  const heart = page.locator('.rows .heart').first();
  const title = await page.locator('.rows strong').first().innerText(); // then the catalogue is copied, too
  const listed = page.locator('.rows strong').getByText(title, { exact: true });
  expect(await playing(page)).toBe(title);
  await page.context().setOffline(true);
  await heart.click();
  expect(await heart.getAttribute('aria-pressed')).toBe('true');
  for (const screen of ['Favorites', 'History']) {
    await open(page, screen);
    await listed.waitFor();
  }
  await page.context().setOffline(false);
  await expect.poll(() => dev.sql`select from public.favorites`).toHaveLength(1);
  await page.reload();
  await open(page, 'Favorites');
  await listed.waitFor();

  // The bar shows it, too, when the sound is played right after signing in.
  await open(page, 'Account');
  await button(page, 'Sign out').click();
  await listen(page);
  await expect.poll(() => page.locator('#bar .heart').getAttribute('aria-pressed')).toBe('true');
});

test('only one tab plays', async ({ dev, phone: page }) => {
  const other = await page.context().newPage();
  await other.goto(dev.url);
  await other.locator('.cards .listen').first().click();
  await untilPlays(other);
  await button(page, 'Play').waitFor();
});

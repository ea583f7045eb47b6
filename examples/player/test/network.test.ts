import { expect } from 'vitest';
import { button, listen, open, phone, playing, test } from './fixture.ts';

test('a screen without a network says so as long as that lasts, and comes with the network', async ({
  visit,
}) => {
  await visit(phone, async (page) => {
    await listen(page);
    await page.context().setOffline(true);
    for (const screen of ['Favorites', 'History']) {
      await open(page, screen);
      await page.locator('main').getByRole('button', { name: 'Try again' }).waitFor();
      expect(await page.getByText('No network').isVisible()).toBe(true);
    }
    await page.context().setOffline(false);
    await page.locator('.rows li').first().waitFor();
    expect(await page.getByText('No network').isVisible()).toBe(false);
  });
});

test('favorites that are chosen without a network are kept, and sent when there is one', async ({
  visit,
}) => {
  await visit(phone, async (page) => {
    await listen(page);
    await open(page, 'Browse');
    const heart = page.locator('.rows .heart').first();
    const name = (await heart.getAttribute('aria-label')) ?? '';
    await page.context().setOffline(true);
    await heart.click();
    expect(await heart.getAttribute('aria-pressed')).toBe('true');
    const sent = page.waitForRequest(
      (request) => request.method() === 'POST' && request.url().endsWith('/favorites'),
    );
    await page.context().setOffline(false);
    await (await sent).response();
    await page.reload();
    await open(page, 'Favorites');
    await page.getByRole('button', { name }).waitFor();
    expect(await page.locator('.rows li').count()).toBe(1);

    // The bar of the player knows it, too, when it is played right after signing in.
    const title = await page.locator('.rows strong').innerText();
    await open(page, 'Account');
    await button(page, 'Sign out').click();
    await listen(page);
    await open(page, 'Browse');
    expect(await playing(page)).toBe(title);
    expect(await page.locator('#bar .heart').getAttribute('aria-pressed')).toBe('true');
  });
});

test('one tab plays alone, and hearts of the other one follow', async ({ dev, visit }) => {
  await visit(phone, async (page) => {
    await listen(page);
    const other = await page.context().newPage();
    await other.goto(dev.url);
    await other.locator('.cards .listen').first().click();
    await button(page, 'Play').waitFor();
    const heart = other.locator('.cards .heart').nth(1);
    const name = (await heart.getAttribute('aria-label')) ?? '';
    const was = await heart.getAttribute('aria-pressed');
    await heart.click();
    const here = page.locator('.cards').getByRole('button', { name }).first();
    await expect.poll(() => here.getAttribute('aria-pressed')).not.toBe(was);
    expect(await other.evaluate('document.activeElement.ariaLabel')).toBe(name);
  });
});

import { expect } from 'vitest';
import { button, copyKeys, listen, open, playing, test, untilPlaying } from './fixture.ts';

// The first test of a file waits for `npm run dev`.
test('a screen that needs a network waits for one, says so, and comes with it', { timeout: 60_000 }, async ({
  phone: page,
}) => {
  await page.context().setOffline(true);
  await open(page, 'Account');
  await page.locator('main').getByRole('button', { name: 'Try again' }).waitFor();
  expect(await page.getByText('No network').isVisible()).toBe(true);
  await page.context().setOffline(false);
  await button(page, 'Sign out').waitFor();
  expect(await page.getByText('No network').isVisible()).toBe(false);
});

test('favorites and the history are shown without a network, with later changes', async ({ phone: page }) => {
  await open(page, 'Browse');
  const row = page.locator('.rows li').nth(3);
  const title = await row.locator('strong').innerText();
  await expect.poll(() => page.evaluate(copyKeys)).toContain('sounds.catalogue');
  await page.context().setOffline(true);
  await row.locator('.heart').click();
  await open(page, 'Favorites');
  await page.locator('.rows strong').getByText(title, { exact: true }).waitFor();
  await open(page, 'History');
  await page
    .locator('.rows strong')
    .getByText(await playing(page), { exact: true })
    .waitFor();
});

test('favorites that are chosen without a network are kept, and sent when there is one', async ({
  phone: page,
}) => {
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
  await page.getByRole('listitem').getByRole('button', { name }).waitFor();

  // The bar shows it, too, when the sound is played right after signing in.
  const title = name.replace('Favorite: ', '');
  await open(page, 'Account');
  await button(page, 'Sign out').click();
  await listen(page);
  await open(page, 'Browse');
  expect(await playing(page)).toBe(title);
  await expect.poll(() => page.locator('#bar .heart').getAttribute('aria-pressed')).toBe('true');
});

test('only one tab plays', async ({ dev, phone: page }) => {
  const other = await page.context().newPage();
  await other.goto(dev.url);
  await other.locator('.cards .listen').first().click();
  await untilPlaying(other);
  await button(page, 'Play').waitFor();
});

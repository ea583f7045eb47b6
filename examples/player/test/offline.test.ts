import { expect } from 'vitest';
import { copyKeys, listen, open, phone, test } from './fixture.ts';

// The first test of a file waits for `npm run dev`.
test('the catalogue is shown and searched without a network, with the age of the copy', {
  timeout: 60_000,
}, async ({ visit }) => {
  await visit(
    phone,
    async (page) => {
      await listen(page);
      await expect.poll(() => page.evaluate(copyKeys)).toContain('sounds.catalogue');
      const sections = await page.locator('main h2').allTextContents();
      await page.context().setOffline(true);

      await open(page, 'Browse');
      const age = page.getByText('No network: the catalogue as of');
      await age.waitFor();
      await page.locator('.rows li').first().waitFor();
      await page.getByLabel('Search sounds').fill('bowl sing');
      await expect
        .poll(() => page.locator('.rows li strong').allTextContents())
        .toContain('Singing Bowl in A3');
      const found = await page.locator('.rows li strong').allTextContents();
      expect(found.every((title) => title.includes('Bowl'))).toBe(true);

      await open(page, 'Home', 'Listen');
      await age.waitFor();
      expect(await page.locator('main h2').allTextContents()).toEqual(sections);

      await page.context().setOffline(false);
      await age.waitFor({ state: 'hidden' });
      await open(page, 'Browse');
      await page.locator('.rows li').first().waitFor();
      await page.context().setOffline(true); // while the screen is shown
      await page.getByLabel('Search sounds').fill('bowl sing');
      await age.waitFor();
      await expect.poll(() => page.locator('.rows li strong').allTextContents()).toEqual(found);
    },
    'ERR_INTERNET_DISCONNECTED',
  );
});

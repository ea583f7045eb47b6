import { expect } from 'vitest';
import { listen, open, phone, test } from './fixture.ts';

test('without a network the catalogue is shown from the copy, searched, and says how old it is', async ({
  visit,
}) => {
  await visit(
    phone,
    async (page) => {
      await listen(page);
      // The copy is made beside the first screen.
      const items = `new Promise((resolve) => {
        indexedDB.open('sounds').onsuccess = ({ target: { result } }) => {
          if (!result.objectStoreNames.contains('items')) return resolve(0);
          result.transaction('items').objectStore('items').count().onsuccess = ({ target }) => resolve(target.result);
        };
      })`;
      await page.waitForFunction('indexedDB.databases().then((all) => all.length > 0)');
      await expect.poll(() => page.evaluate(items)).toBe(1);
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
      await page.context().setOffline(true); // in the middle of it
      await page.getByLabel('Search sounds').fill('bowl sing');
      await age.waitFor();
      await expect.poll(() => page.locator('.rows li strong').allTextContents()).toEqual(found);
    },
    'ERR_INTERNET_DISCONNECTED',
  );
});

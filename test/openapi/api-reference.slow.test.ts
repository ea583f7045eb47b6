import { describe, expect } from 'vitest';
import { endpoints } from '../../src/app.ts';
import { canRunBrowser, inBrowser, type View } from '../support/browser.ts';
import { test } from '../support/test.ts';

describe('GET /docs', () => {
  const views: Record<string, View> = {
    'on a desk, in the dark': { width: 1280, colorScheme: 'dark' },
    'on a phone, in the light': { width: 390, colorScheme: 'light' },
  };
  test.for(Object.entries(views))(
    'lists every endpoint and tries one out %s, without a complaint or a request elsewhere',
    async ([, view], { gateway, skip }) => {
      skip(!canRunBrowser, 'Install chromium to open the reference.');
      await inBrowser(`${gateway.url}/docs`, view, async (page, { complaints, requests }) => {
        if (view.width < 1000) await page.getByRole('button', { name: 'Open Menu' }).click();
        for (const { summary } of endpoints) {
          await page.getByRole('link', { name: `${summary} HTTP Method` }).waitFor();
        }
        await page.getByRole('link', { name: 'Category tree HTTP Method' }).click();
        const section = page.getByRole('region', { name: 'Category tree', exact: true });
        await section.getByRole('button', { name: 'Test Request' }).click();
        const client = page.getByRole('dialog');
        await client.getByRole('button', { name: 'Send get request' }).click();
        await client.getByRole('link', { name: '200 OK' }).waitFor();

        expect(await page.locator('body').getAttribute('class')).toBe(`${view.colorScheme}-mode`);
        expect(requests.map(({ href }) => href)).toContain(`${gateway.url}/categories`);
        expect(complaints).toEqual([]);
        expect(requests.filter(({ origin }) => origin !== new URL(gateway.url).origin)).toEqual([]);
      });
    },
  );

  const phone: View = { width: 390, colorScheme: 'light' };

  test('shows the tabs of all responses on a phone without overlap', async ({ gateway, skip }) => {
    skip(!canRunBrowser, 'Install chromium to open the reference.');
    await inBrowser(`${gateway.url}/docs`, phone, async (page) => {
      await page.getByRole('button', { name: 'Open Menu' }).press('Enter');
      await page.getByRole('link', { name: 'List sounds HTTP Method' }).press('Enter');
      const section = page.getByRole('region', { name: 'List sounds', exact: true });
      const tabs = section.getByRole('tablist').filter({ hasText: '500' });
      const copy = await section.getByRole('button', { name: 'Copy example value' }).boundingBox();
      const last = await tabs.getByRole('tab', { name: '500' }).boundingBox();
      if (copy === null || last === null) throw new Error('They are not shown.');
      expect(last.x + last.width).toBeLessThan(phone.width);
      expect(last.y + last.height <= copy.y || last.x + last.width <= copy.x).toBe(true);

      await page.locator('section:focus-visible').waitFor();
      expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('none');
    });
  });

  test('shows examples in the languages of apps first, and links the guide', async ({ gateway, skip }) => {
    skip(!canRunBrowser, 'Install chromium to open the reference.');
    await inBrowser(`${gateway.url}/docs`, phone, async (page, { complaints }) => {
      await page.getByRole('button', { name: 'Open Menu' }).click();
      await page.getByRole('link', { name: 'List sounds HTTP Method' }).click();
      const section = page.getByRole('region', { name: 'List sounds', exact: true });
      await section.getByRole('button', { name: /Shell Curl/ }).click();
      const options = page.getByRole('option');
      await options.first().waitFor();
      expect((await options.allTextContents()).slice(0, 3)).toEqual(['NSURLSession', 'OkHttp', 'Http']);

      await page.goto(`${gateway.url}/docs`);
      await page.getByRole('link', { name: 'guide for app developers' }).first().click();
      await page.getByRole('heading', { name: 'Building an app on the Sounds Service' }).waitFor();
      await page.goto(`${gateway.url}/docs/guide#confirm-an-address`);
      expect(await page.locator(':target').textContent()).toBe('Confirm an address');
      expect(complaints).toEqual([]);
    });
  });
});

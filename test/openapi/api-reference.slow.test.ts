import { createServer, get } from 'node:http';
import { referenceScript } from '@sounds-service/dev/reference';
import type { Browser, Page } from 'playwright-core';
import { describe, expect, onTestFinished } from 'vitest';
import { endpoints } from '../../src/app.ts';
import { openApiDocument } from '../../src/openapi/document.ts';
import { browserOfFile, inProfile, type View } from '../support/browser.ts';
import { type Gateway, listen } from '../support/gateway.ts';
import { test as base } from '../support/test.ts';

const test = base.extend<{ $file: { browser: Browser } }>({ browser: [browserOfFile, { scope: 'file' }] });

const phone: View = { width: 390, colorScheme: 'dark' };
const desk: View = { width: 1280, colorScheme: 'light' };

const linkTo = (page: Page, summary: string) => page.getByRole('link', { name: `${summary} HTTP Method` });
const sectionOf = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

/**
 * Starts a proxy that strips a path, and whose reference is signed in as that of `npm run dev`.
 * @returns the address of the API
 */
async function startProxy(gateway: Gateway, token: string): Promise<string> {
  const proxy = createServer(({ method, url = '', headers }, res) => {
    if (!url.startsWith('/sounds/')) return void res.writeHead(404).end();
    const path = url.slice('/sounds'.length);
    if (path === '/api/v1/docs/start.js')
      return void res.setHeader('Content-Type', 'text/javascript').end(referenceScript(token));
    get({ port: gateway.port, method, path, headers }, (answer) => {
      answer.pipe(res.writeHead(answer.statusCode ?? 502, answer.headers));
    });
  });
  const { port, close } = await listen(proxy);
  onTestFinished(close);
  return `http://127.0.0.1:${port}/sounds/api/v1`;
}

describe('GET /docs', { tags: ['browser'] }, () => {
  test('sends a request on a phone, and loads only files of the service', async ({ browser, gateway }) => {
    await inProfile(browser, `${gateway.url}/docs`, phone, async (page, { complaints, requests }) => {
      const openMenu = () => page.getByRole('button', { name: 'Open Menu' }).press('Enter');
      await openMenu();
      await linkTo(page, 'List sounds').press('Enter');
      const section = sectionOf(page, 'List sounds');
      await page.locator('section:focus-visible').waitFor();
      expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('none');
      // No tab of a response may overlap the button.
      const copy = await section.getByRole('button', { name: 'Copy example value' }).boundingBox();
      const last = await section.getByRole('tab', { name: '500' }).boundingBox();
      if (copy === null || last === null) throw new Error('The button or the tabs are not shown.');
      expect(last.x + last.width).toBeLessThan(phone.width);
      expect(last.y + last.height <= copy.y || last.x + last.width <= copy.x).toBe(true);

      await openMenu();
      await linkTo(page, 'Category tree').click();
      await sectionOf(page, 'Category tree').getByRole('button', { name: 'Test Request' }).click();
      const client = page.getByRole('dialog');
      await client.getByRole('button', { name: 'Send get request' }).click();
      await client.getByRole('link', { name: '200 OK' }).waitFor();
      expect(await page.locator('body').getAttribute('class')).toBe('dark-mode');
      expect(requests.map(({ href }) => href)).toContain(`${gateway.url}/categories`);
      expect(complaints).toEqual([]);
      expect(requests.filter(({ origin }) => origin !== new URL(gateway.url).origin)).toEqual([]);
    });
  });

  test('lists endpoints, fields in contract order, languages and guide below the path of a proxy', async ({
    browser,
    gateway,
    user,
  }) => {
    const api = await startProxy(gateway, user.access_token);
    await inProfile(browser, `${api}/docs/guide`, desk, async (page, { complaints, requests }) => {
      const link = await page.getByRole('link', { name: 'The reference' }).first().getAttribute('href');
      expect(new URL(link ?? '', page.url()).href).toBe(`${api}/docs`);
      await page.goto(`${api}/docs/`);
      for (const { summary } of endpoints) await linkTo(page, summary).waitFor();
      expect(await page.locator('body').getAttribute('class')).toBe('light-mode');

      await linkTo(page, 'Caller profile').click();
      await sectionOf(page, 'Caller profile').getByRole('button', { name: 'Test Request' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Send get request' }).click();
      await page.getByRole('dialog').getByRole('link', { name: '200 OK' }).waitFor();
      expect(requests.map(({ href }) => href)).toContain(`${api}/me`);
      await page.getByRole('dialog').press('Escape');

      await linkTo(page, 'Caller customer record').click();
      const section = sectionOf(page, 'Caller customer record');
      await section.getByRole('button', { name: /^200/ }).first().click();
      await section.getByText('id, email, full_name').click();
      await section.locator('.property-name').getByText('updated_at').waitFor();
      const { Customer: customer } = openApiDocument(endpoints).components?.schemas ?? {};
      const fields = Object.keys((customer as { properties: object }).properties);
      const shown = await section.locator('.property-name').allInnerTexts();
      expect(shown.filter((name) => fields.includes(name))).toEqual(fields);

      await section.getByRole('button', { name: /Shell Curl/ }).click();
      const option = page.getByRole('option');
      await option.first().waitFor();
      const clients = ['Http', 'Fetch', 'OkHttp', 'Requests', 'Curl', 'NSURLSession'];
      expect(await option.allTextContents()).toEqual(clients);
      await page.keyboard.press('Escape');

      await page.getByRole('link', { name: 'guide for app developers' }).first().click();
      await page.getByRole('heading', { name: 'Building an app on the Sounds Service' }).waitFor();
      await page.goto(`${api}/docs/guide#confirm-an-address`);
      expect(await page.locator(':target').textContent()).toBe('Confirm an address');
      expect(complaints).toEqual([]);
    });
  });
});

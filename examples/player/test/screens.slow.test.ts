/** @module-tag browser */
import { readFile } from 'node:fs/promises';
import { demoAccount, freeAccount } from '@sounds-service/dev/seed';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { violations } from '../../../test/support/browser.ts';
import { button, listen, open, operatorMessage, test, tryAgain, untilPlays } from './fixture.ts';

const error = (status: number, code: string) => ({ status, json: { error: { code, message: 'Made up.' } } });
const notFound = error(404, 'not_found');
const foreign = { json: { status: 'maintenance' } };
const tooMany = { ...error(429, 'rate_limited'), headers: { 'Retry-After': '30' } };

test.beforeAll(({ site }) => void site);

test('Browse continues after a page that failed to load, and Back restores a search', async ({ site, phone: page }) => {
  const isNextPage = (address: URL) => address.searchParams.has('cursor');
  await page.route(isNextPage, (route) => route.fulfill(notFound));
  await open(page, 'Browse');
  const rows = page.locator('.rows .listen');
  const ids = () =>
    page.evaluate<string[]>("[...document.querySelectorAll('.rows .listen')].map(({ value }) => value)");
  await rows.nth(19).scrollIntoViewIfNeeded();
  await page.getByText('It is no longer there.').waitFor();
  const first = await ids();
  await page.unroute(isNextPage);
  await tryAgain(page).click();
  const sounds = await site.sql`select from public.sounds where is_active`;
  while ((await rows.count()) < sounds.length) await rows.last().scrollIntoViewIfNeeded();
  const all = await ids();
  expect(all.slice(0, first.length)).toEqual(first);
  expect(new Set(all).size).toBe(sounds.length);

  const [search, order] = [page.getByLabel('Search sounds'), page.getByLabel('Order')];
  const firstTitle = () => page.locator('.rows strong').first().innerText();
  await search.pressSequentially('singng bowl');
  await expect.poll(firstTitle).toMatch(/Singing Bowl/);
  await page.getByText('Showing results for “singing bowl”.').waitFor();
  expect(await order.isDisabled()).toBe(true);
  await search.fill('xyzzyq');
  await page.getByText('Nothing found.').waitFor();
  expect(await page.getByText('Showing results').count()).toBe(0);
  await search.fill('rain');
  await page.waitForURL(/q=rain/);
  await open(page, 'Favorites');
  expect(await page.title()).toBe('Favorites – Sounds');
  await page.goBack();
  await expect.poll(() => search.inputValue()).toBe('rain');
  await expect.poll(firstTitle).toMatch(/rain/i);

  await search.fill('');
  await order.selectOption('By title');
  await page.waitForURL(/sort=title/);
  await expect.poll(firstTitle).toBe('Binaural Tones, 10 Hz');
  const tag = page.getByLabel('bowl', { exact: true });
  await tag.check();
  await page.waitForURL(/tag=bowl/);
  await expect.poll(firstTitle).toBe('Bowl at Lights Out');
  await open(page, 'Account');
  await page.goBack();
  await expect.poll(() => tag.isChecked()).toBe(true);
  expect(await order.inputValue()).toBe('title');
});

test('a screen that fails shows the reason, and a click tries again and keeps the focus', async ({ visit }) => {
  const failures = [
    ['Account', 'me', notFound, /^It is no longer there\.$/, 'form'],
    ['Account', 'me/sessions', foreign, /^The service does not answer: trying again in \d+ s\.$/, 'form'],
    ['History', 'history*', null, /^The service does not answer: trying again in \d+ s\.$/, 'li'],
    ['History', 'history*', tooMany, /^Too many requests: trying again in \d+ s\.$/, 'li'],
    ['Home', 'home', { json: { sections: [{}] } }, /^That did not work\. Reload the page\.$/, 'li'],
  ] as const;
  const steps = async (page: Page) => {
    await listen(page);
    for (const [screen, path, response, words, content] of failures) {
      await open(page, 'Browse');
      await page.route(`**/api/v1/${path}`, (route) => (response ? route.fulfill(response) : route.abort()));
      await open(page, screen, screen === 'Home' ? 'Listen' : screen);
      await page.getByText(words).waitFor();
      await page.unrouteAll();
      await tryAgain(page).focus();
      await page.keyboard.press('Enter');
      await page.locator(`main ${content}`).first().waitFor();
      expect(await page.evaluate('document.activeElement.localName'), screen).toBe('main');
      expect(await page.locator('#notice').innerText(), screen).toBe('');
    }
  };
  await visit('phone', steps, 'Cannot read properties of undefined');
});

test('a visitor and a user see the message of the operator', async ({ visit }) => {
  await visit('phone', async (page) => {
    const message = page.locator('header').getByText(operatorMessage);
    await message.waitFor();
    await listen(page);
    await message.waitFor();
  });
});

test('a sound has a page whose address can be shared, also with a visitor', async ({ phone: page }) => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await open(page, 'Browse');
  await page.getByLabel('Search sounds').fill('Singing Bowl in A3');
  await page.getByRole('link', { name: 'About: Singing Bowl in A3' }).click();
  await page.getByText('Note A3').waitFor();
  expect(await page.title()).toBe('Singing Bowl in A3 – Sounds');
  await button(page, 'Copy the address').click();
  await page.getByText('The address is copied.').waitFor();
  const address = await page.evaluate<string>('navigator.clipboard.readText()');
  await page.getByRole('link', { name: 'bowl', exact: true }).click();
  await expect.poll(() => page.getByLabel('bowl', { exact: true }).isChecked()).toBe(true);
  await open(page, 'Account');
  await button(page, 'Sign out').click();
  await button(page, 'Sign in').waitFor();
  await page.goto(address);
  await listen(page);
  await page.getByRole('heading', { name: 'Singing Bowl in A3' }).waitFor();
});

test('the account page exports data and signs out other devices, which show the sign-in screen', async ({
  site,
  visit,
}) => {
  await site.sql`delete from auth.sessions`;
  await visit('phone', async (phone) => {
    await listen(phone);
    await phone.request.post(`${site.url}api/v1/auth/signin`, { data: demoAccount }); // a third device
    await visit('desk', async (desk) => {
      await listen(desk);
      await open(desk, 'Account');
      const downloading = desk.waitForEvent('download');
      await button(desk, 'Download everything that is stored about you').click();
      const file = await downloading;
      expect(file.suggestedFilename()).toBe('sounds-account.json');
      expect(JSON.parse(await readFile(await file.path(), 'utf8'))).toMatchObject({ history: expect.any(Array) });
      await desk.getByText('The file is among your downloads.').waitFor();

      const rows = desk.getByRole('list', { name: 'Devices' }).getByRole('listitem');
      await expect.poll(() => rows.count()).toBe(3);
      expect(await rows.getByText('This device').count()).toBe(1);
      await rows.getByRole('button').first().click();
      await desk.getByText('Signed out there.').waitFor();
      expect(await rows.count()).toBe(2);
      const others = button(desk, 'Sign out on all other devices');
      await desk.route('**/api/v1/me/sessions', (route) => route.fulfill(foreign), { times: 1 });
      await others.click();
      await desk.getByText('The service does not answer: trying again').waitFor();
      expect(await rows.count()).toBe(2);
      await others.waitFor({ state: 'hidden' });
      expect(await rows.count()).toBe(1);
      expect(await site.sql`select from auth.sessions`).toHaveLength(1);
    });
    await phone.evaluate(`{
      const session = JSON.parse(localStorage['sounds.session']);
      localStorage['sounds.session'] = JSON.stringify({ ...session, expires_at: 0 });
      location.hash = '#/history';
    }`);
    await phone.getByText('You are signed out. Sign in again.').waitFor();
    await phone.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await phone.locator('#bar').isVisible()).toBe(false);
  });
});

test('a locked sound has a lock and leads to a page about premium, until the user has it', async ({ site, visit }) => {
  const [sound] = await site.sql`select title from public.sounds where is_premium limit 1`;
  await visit('phone', async (page) => {
    await page.getByLabel('E-mail address').fill(freeAccount.email);
    await page.getByLabel('Password').fill(freeAccount.password);
    await button(page, 'Sign in').click();
    await page.locator('.cards').first().waitFor();
    const row = page.locator('.rows .listen').filter({ hasText: sound?.['title'] });
    const find = async () => {
      await open(page, 'Browse');
      await page.getByLabel('Search sounds').fill(sound?.['title']);
      await row.waitFor();
    };
    await find();
    expect(await row.innerText()).toContain('Premium');
    expect(await row.locator('.cover i').isVisible()).toBe(true);
    expect(await violations(page)).toEqual([]);
    await row.click();
    await page.getByText('You do not have premium.').waitFor();
    expect(await page.locator('#bar').isVisible()).toBe(false);
    await site.sql`update public.customers set premium_until = '2999-06-01' where email = ${freeAccount.email}`;
    await page.reload();
    await page.getByText(/You have premium until .*2999/).waitFor();
    await find();
    expect(await row.locator('.cover i').count()).toBe(0);
    await row.click();
    await untilPlays(page);
  });
});

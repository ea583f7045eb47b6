/** @module-tag browser */
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { codeSentTo } from '../../../test/support/mail.ts';
import { newEmail } from '../../../test/support/test.ts';
import { addLongSound, button, fits, listen, open, playing, position, test, untilPlays } from './fixture.ts';

test.beforeAll(({ site }) => void site);

test('a user can create an account, change and reset the password, and delete the account', async ({ site, visit }) => {
  const email = newEmail();
  await visit('phone', async (page) => {
    const submit = async (name: string, fields: Record<string, string> = {}) => {
      for (const [label, text] of Object.entries(fields)) await page.getByLabel(label, { exact: true }).fill(text);
      await button(page, name).click();
    };
    const address = { 'E-mail address': email };
    await open(page, 'Create an account');
    await submit('Create the account', { ...address, 'New password': 'the first one' });
    await page.getByRole('heading', { name: 'Enter the code' }).waitFor();
    expect(await page.title()).toBe('Enter the code – Sounds');
    await page.keyboard.type('00000000'); // the field has the focus
    await submit('Confirm');
    await page.getByText('The code is wrong').waitFor();
    await page.goto(site.url);
    await button(page, 'Sign in').waitFor();
    expect(await button(page, 'Mail me a code').isVisible()).toBe(false);
    await submit('Sign in', { ...address, Password: 'the first one' });
    await submit('Mail me a code');
    await page.getByRole('heading', { name: 'Enter the code' }).waitFor();
    await submit('Confirm', { Code: await codeSentTo(site.supabaseUrl, email) });
    await open(page, 'Account');
    await page.getByText(email).waitFor();
    const changed = { 'Current password': 'the first one', 'New password': 'the second one' };
    await submit('Change the password', changed);
    await page.getByText('The password is changed.').waitFor();
    await submit('Sign out');

    await open(page, 'Forgot your password?');
    await submit('Send a code', address);
    await page.getByRole('heading', { name: 'Enter the code' }).waitFor();
    await submit('Continue', { Code: await codeSentTo(site.supabaseUrl, email, 2) });
    await submit('Set the password', { 'New password': 'the third one' });

    await open(page, 'Account');
    await submit('Delete the account …');
    const loss = `${email}, your name, your favorites, lists and history are deleted for good`;
    await page.getByText(loss).waitFor();
    const color = await page.evaluate("getComputedStyle(document.querySelector('form button')).color");
    expect(color).toBe('rgb(163, 21, 21)');
    await submit('Delete for good', { Password: 'the third one' });
    await page.getByText('The account is gone.').waitFor();
    await submit('Sign in', { ...address, Password: 'the third one' });
    await page.getByText('The e-mail address or the password is wrong.').waitFor();
  });
});

test('a guest listens and keeps a favorite after creating an account', async ({ site, visit }) => {
  const email = newEmail();
  await visit('phone', async (page) => {
    await button(page, 'Listen without an account').click();
    await untilPlays(page);
    const title = await playing(page);
    await open(page, 'Browse');
    await page.locator('.rows .heart').first().click();
    await open(page, 'Favorites');
    const liked = await page.locator('.rows strong').first().innerText();

    await open(page, 'Account');
    await open(page, 'Create an account');
    await page.getByLabel('E-mail address').fill(email);
    await page.getByLabel('New password').fill('a long password');
    await button(page, 'Create the account').click();
    await page.getByLabel('Code').fill(await codeSentTo(site.supabaseUrl, email));
    await button(page, 'Confirm').click();
    await page.getByRole('heading', { name: 'Listen', exact: true, level: 1 }).waitFor();
    await untilPlays(page); // the sound goes on
    await open(page, 'Account');
    await page.getByText(email).waitFor();
    for (const [screen, text] of Object.entries({ Favorites: liked, History: title })) {
      await open(page, screen);
      await page.locator('.rows strong').getByText(text, { exact: true }).first().waitFor();
    }
    await expect.poll(() => site.sql`select from public.customers where is_guest`).toHaveLength(0);
  });
});

test('a browser that cannot store the sign-in says so', async ({ visit }) => {
  await visit('desk', async (page) => {
    await page.addInitScript(`{
      const { setItem } = Storage.prototype;
      Storage.prototype.setItem = function (key, value) {
        if (key === 'sounds.session') throw new DOMException('full', 'QuotaExceededError');
        setItem.call(this, key, value);
      };
    }`);
    await page.reload();
    await listen(page);
    await page.getByText('This browser cannot store the sign-in.').waitFor();
  });
});

/** Code that lets the page synchronize, as when another app in front of it is closed. */
const comesBack = "document.dispatchEvent(new Event('visibilitychange'))";

test('a sound continues on other devices where the user stopped', async ({ site, visit }) => {
  const soundId = await addLongSound(site);
  const heard = (page: Page) => page.locator('.listen:has-text("Long") progress').first();
  const seekTo = async (page: Page, seconds: number) => {
    if (page.viewportSize()?.width === 390) await button(page, 'Now playing').click();
    await page.getByLabel('Position').fill(String(seconds));
    await page.keyboard.press('Escape');
  };
  const reaches = (page: Page, seconds: number) => expect.poll(() => position(page)).toBeGreaterThanOrEqual(seconds);
  const stored = async () => {
    const [row] = await site.sql`select position_sec from public.progress where sound_id = ${soundId}`;
    return Number(row?.['position_sec']);
  };
  /** Pauses, and waits until the service has the position. */
  const pause = async (page: Page, seconds: number) => {
    await button(page, 'Pause').click();
    await expect.poll(stored).toBeGreaterThanOrEqual(seconds);
  };
  await visit('phone', async (phone) => {
    await listen(phone);
    await seekTo(phone, 100);
    await pause(phone, 100);
    await expect.poll(() => heard(phone).getAttribute('aria-label')).toMatch(/^3:(20|1\d) left$/);
    await visit('desk', async (desk) => {
      await listen(desk);
      await desk.getByRole('heading', { name: 'Continue listening' }).waitFor();
      expect(await heard(desk).isVisible()).toBe(true);
      await reaches(desk, 100);
      await seekTo(desk, 150);
      await pause(desk, 150);
      await button(phone, 'Play').click();
      await untilPlays(phone);
      await reaches(phone, 150);

      await seekTo(phone, 180);
      await pause(phone, 180);
      await desk.evaluate(comesBack);
      await reaches(desk, 180);
      expect(await fits(phone)).toBe(true);
    });
  });
});

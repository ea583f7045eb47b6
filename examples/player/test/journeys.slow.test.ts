import { createRequire } from 'node:module';
import { LOCAL_KEYS } from '@sounds-service/local-supabase/keys';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { tone } from '../../../test/support/audio.ts';
import { storeFile } from '../../../test/support/files.ts';
import { codeSentTo } from '../../../test/support/mail.ts';
import { newEmail } from '../../../test/support/test.ts';
import { button, fits, listen, open, position, test, tryAgain } from './fixture.ts';

test.beforeAll(({ site }) => void site);

const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Finds violations of accessibility rules with axe. */
async function violations(page: Page) {
  await page.addScriptTag({ path: axePath });
  return page.evaluate(`axe.run().then(({ violations }) =>
    violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]))`);
}

test.for(['phone', 'desk'] as const)('every screen passes axe and fits a %s', async (view, { visit }) => {
  const steps = async (page: Page) => {
    const check = async (state: string) => {
      expect(await fits(page), state).toBe(true);
      expect(await violations(page), state).toEqual([]);
    };
    await button(page, 'Sign in').waitFor();
    await check('Sign in');
    for (const screen of ['Create an account', 'Forgot your password?']) {
      await open(page, screen);
      await check(screen);
      await page.goBack();
    }
    await listen(page);
    await page.getByRole('heading', { name: 'Featured' }).waitFor();
    await check('Home');
    await page.route('**/object/sign/audio/**', (route) => route.fulfill({ status: 500 }));
    await button(page, 'Now playing').click();
    await check('Now playing');
    await button(page, 'Next').click();
    await page.getByText('This sound cannot be played now.').waitFor();
    await check('a sound that fails');
    await page.keyboard.press('Escape');
    for (const screen of ['Favorites', 'History', 'Account', 'Browse']) {
      await open(page, screen);
      await page.getByText('Loading').waitFor({ state: 'hidden' });
      await check(screen);
    }
    const sound = await page.locator('.rows .listen').first().getAttribute('value');
    await page.getByLabel('Search sounds').fill('zzzzxyq');
    await page.getByText('Nothing found.').waitFor();
    await check('nothing found');
    await open(page, 'Account');
    await button(page, 'Delete the account …').click();
    await page.getByRole('heading', { name: 'Delete the account' }).waitFor();
    await check('Delete the account');
    await page.goto(`${page.url().split('#')[0]}#/sound/${sound}`);
    await button(page, 'Copy the address').waitFor();
    await check('a sound');
    await page.goto(`${page.url().split('#')[0]}#/premium`);
    await page.getByText('You have premium.').waitFor();
    await check('Premium');
    await page.context().setOffline(true);
    await open(page, 'Account');
    await tryAgain(page).waitFor();
    await check('no network');
  };
  await visit(view, steps, 'ERR_INTERNET_DISCONNECTED');
});

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
    const loss = `${email}, your name, your favorites and your history are deleted for good`;
    await page.getByText(loss).waitFor();
    const color = await page.evaluate("getComputedStyle(document.querySelector('form button')).color");
    expect(color).toBe('rgb(163, 21, 21)');
    await submit('Delete for good', { Password: 'the third one' });
    await page.getByText('The account is gone.').waitFor();
    await submit('Sign in', { ...address, Password: 'the third one' });
    await page.getByText('The e-mail address or the password is wrong.').waitFor();
  });
});

test('a sound continues at the same position after the network was interrupted', async ({ site, visit }) => {
  const project = { apiUrl: site.supabaseUrl, secretKey: LOCAL_KEYS.secretKey };
  await storeFile('audio', 'long.wav', 'audio/wav', tone(300), project);
  await site.sql`insert into public.sounds (title, audio_path, sort_order) values ('Long', 'long.wav', -1000)`;
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

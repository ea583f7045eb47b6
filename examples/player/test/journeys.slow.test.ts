/** @module-tag browser */
import { localKeys } from '@sounds-service/local-supabase/keys';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { tone } from '../../../test/support/audio.ts';
import { violations } from '../../../test/support/browser.ts';
import { storeFile } from '../../../test/support/files.ts';
import { codeSentTo } from '../../../test/support/mail.ts';
import { newEmail } from '../../../test/support/test.ts';
import { button, fits, focused, listen, open, playing, position, test, tryAgain, untilPlays } from './fixture.ts';

test.beforeAll(({ site }) => void site);

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
  // A sound that is longer than the samples, so that a position in it is one to continue from.
  const project = { apiUrl: site.supabaseUrl, secretKey: localKeys.secretKey };
  await storeFile('audio', 'long.wav', 'audio/wav', tone(300), project);
  const [sound] = await site.sql`insert into public.sounds (title, audio_path, duration_sec, sort_order)
    values ('Long', 'long.wav', 300, -1000) returning id`;
  const heard = (page: Page) => page.locator('.listen:has-text("Long") progress').first();
  const seekTo = async (page: Page, seconds: number) => {
    if (page.viewportSize()?.width === 390) await button(page, 'Now playing').click();
    await page.getByLabel('Position').fill(String(seconds));
    await page.keyboard.press('Escape');
  };
  const pause = async (page: Page) => {
    const sent = page.waitForResponse((response) => response.request().method() === 'PUT');
    await button(page, 'Pause').click();
    await sent;
  };
  const reaches = (page: Page, seconds: number) => expect.poll(() => position(page)).toBeGreaterThanOrEqual(seconds);
  const stored = async () => {
    const [row] = await site.sql`select position_sec from public.progress where sound_id = ${sound?.['id']}`;
    return Number(row?.['position_sec']);
  };
  await visit('phone', async (phone) => {
    await listen(phone);
    await seekTo(phone, 100);
    await pause(phone);
    await expect.poll(() => heard(phone).getAttribute('aria-label')).toMatch(/^3:(20|1\d) left$/);
    await visit('desk', async (desk) => {
      await listen(desk);
      await desk.getByRole('heading', { name: 'Continue listening' }).waitFor();
      expect(await heard(desk).isVisible()).toBe(true);
      await reaches(desk, 100);
      await seekTo(desk, 150);
      await pause(desk);
      await button(phone, 'Play').click();
      await untilPlays(phone);
      await reaches(phone, 150);

      await seekTo(phone, 180);
      await pause(phone);
      await desk.evaluate(comesBack);
      await reaches(desk, 180);
      await button(desk, 'Play').click();
      await untilPlays(desk);
      await seekTo(desk, 210);
      await pause(desk);
      const position = await stored();
      expect(position).toBeGreaterThanOrEqual(210);

      // The paused player reports nothing when another sound follows.
      await phone.locator('.listen:not([aria-current])').first().click();
      await untilPlays(phone);
      const received = phone.waitForResponse('**/progress');
      await phone.evaluate(comesBack);
      await received;
      expect(await stored()).toBe(position);
      await phone.locator('.listen:has-text("Long")').first().click();
      await untilPlays(phone);
      await reaches(phone, 210);
      await pause(phone);
      await button(desk, 'Play').click();
      await untilPlays(desk);
      await seekTo(desk, 250);
      await pause(desk);
      await phone.reload();
      await reaches(phone, 250);
      expect(await fits(phone)).toBe(true);

      // A page that goes away sends the last position.
      await button(phone, 'Play').click();
      await untilPlays(phone);
      await seekTo(phone, 270);
      await reaches(phone, 271);
      await phone.goto('about:blank');
      await expect.poll(stored).toBeGreaterThanOrEqual(270);
    });
  });
});

test('a sound continues at the same position after the network was interrupted', async ({ visit }) => {
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

test('a phone has a small bar that grows with its text, and opens on the whole screen', async ({ site, visit }) => {
  const title = 'A very long title '.repeat(8).slice(0, 136);
  await site.sql`insert into public.sounds (title, sort_order) values (${title}, -2000)`;
  await visit('phone', async (page) => {
    const bar = page.locator('#bar');
    await button(page, 'Listen with the demo account').click();
    await bar.getByText('There is no audio of this sound.').waitFor();
    const height = async () => (await bar.boundingBox())?.height;
    expect(await fits(page)).toBe(true);
    const withMessage = await height();
    expect(withMessage).toBeGreaterThan(64);
    await button(page, 'Now playing').click();
    expect([await height(), await focused(page)]).toEqual([900, 'Close']);
    for (const control of ['Previous', 'Next', 'Repeat', 'Try again'])
      expect(await button(page, control).isVisible(), control).toBe(true);
    expect(await fits(page)).toBe(true);
    await page.keyboard.press('Escape');
    expect([await height(), await focused(page)]).toEqual([withMessage, 'Now playing']);

    await open(page, 'Browse');
    await page.locator('.rows .listen').nth(2).click();
    await untilPlays(page);
    await expect.poll(() => bar.locator('time').innerText()).toMatch(/^0:0\d\s\/\s0:\d\d$/);
    const coverWidth = "document.querySelector('#bar img').naturalWidth";
    await expect.poll(() => page.evaluate(coverWidth)).toBeGreaterThan(0);
    expect(await height()).toBe(64);
    for (const part of ['img', 'time']) expect(await bar.locator(part).isVisible()).toBe(true);
    expect(await page.locator('.listen[aria-current="true"]').count()).toBe(1);
    const current = "document.querySelector('.listen[aria-current] strong')";
    expect(await page.evaluate(`getComputedStyle(${current}, '::before').content`)).toContain('▶');
  });
});

test('long words fit on every screen, also from right to left', async ({ site, visit }) => {
  const word = 'Rinderkennzeichnungsfleischetikettierungsüberwachungsaufgabenübertragungsgesetz';
  await site.sql`insert into public.sounds (title, sort_order, is_featured) values (${word}, -3000, true)`;
  await site.sql`update public.categories set name = ${word}`;
  await site.sql`update public.home_sections set title = ${word}`;
  await site.sql`update public.customers set full_name = ${word}`;
  await visit('phone', async (page) => {
    await button(page, 'Listen with the demo account').click();
    await page.locator('#bar').getByText('There is no audio of this sound.').waitFor();
    expect(await playing(page)).toBe(word);
    await page.locator('.cards').first().waitFor();
    expect(await fits(page)).toBe(true);
    for (const direction of ['ltr', 'rtl']) {
      await page.evaluate(`document.documentElement.dir = '${direction}'`);
      for (const screen of ['Browse', 'Favorites', 'History', 'Account']) {
        await open(page, screen);
        await page.getByText('Loading').waitFor({ state: 'hidden' });
        expect(await fits(page), `${screen} ${direction}`).toBe(true);
      }
    }
    expect((await page.locator('#bar img').boundingBox())?.x).toBeGreaterThan(195);
    await page.getByText(`${word}, demo@example.com`).waitFor();
    const colors = "['main input', 'body'].map((name) => getComputedStyle(document.querySelector(name)).color)";
    expect(new Set(await page.evaluate<string[]>(colors)).size).toBe(1); // not the default color of the browser
  });
});

import { LOCAL_KEYS } from '@sounds-service/local-supabase/keys';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { tone } from '../../../test/support/audio.ts';
import { storeFile } from '../../../test/support/files.ts';
import { button, fits, listen, next, open, playing, position, test, untilPlays } from './fixture.ts';

// The first sound is longer than the samples, so that a position in it is one to continue from.
test.beforeAll(async ({ site }) => {
  if (!site) return;
  const project = { apiUrl: site.supabaseUrl, secretKey: LOCAL_KEYS.secretKey };
  await storeFile('audio', 'long.wav', 'audio/wav', tone(300), project);
  await site.sql`insert into public.sounds (title, audio_path, duration_sec, sort_order, loudness_lufs, true_peak_dbtp)
    values ('Long', 'long.wav', 300, -1000, -27, -10)`;
});

/** Code that makes the amplifier of the page a global variable. */
const noteGain = `{
  const { createGain } = AudioContext.prototype;
  AudioContext.prototype.createGain = function () { return (globalThis.amplifier = createGain.call(this)); };
}`;

test('a sound continues on other devices where the user stopped', async ({ visit }) => {
  const heard = (page: Page) => page.locator('.listen:has-text("Long") progress').first();
  await visit('phone', async (page) => {
    await listen(page);
    await button(page, 'Now playing').click();
    await page.getByLabel('Position').fill('120');
    await page.keyboard.press('Escape');
    await button(page, 'Pause').click();
    await expect.poll(() => heard(page).getAttribute('aria-label')).toMatch(/^(3:00|2:59) left$/);
    await button(page, 'Now playing').click();
    await next(page);
    await page.keyboard.press('Escape');
    await open(page, 'Browse');
    await open(page, 'Home', 'Listen');
    await page.getByRole('heading', { name: 'Continue listening' }).waitFor();
    expect(await fits(page)).toBe(true);
    await page.locator('.cards').first().getByText('Long').click();
    await expect.poll(() => position(page)).toBeGreaterThanOrEqual(120);
    await page.evaluate(`Object.defineProperty(document, 'hidden', { value: true });
      document.dispatchEvent(new Event('visibilitychange'))`);
    await page.waitForResponse('**/progress');
  });
  await visit('desk', async (page) => {
    await listen(page);
    await page.getByRole('heading', { name: 'Continue listening' }).waitFor();
    expect(await heard(page).isVisible()).toBe(true);
    await expect.poll(() => position(page)).toBeGreaterThanOrEqual(120);
  });
});

test('sounds are equally loud until the user switches it off, and show a waveform', async ({ visit }) => {
  await visit('desk', async (page) => {
    await page.addInitScript(noteGain);
    await page.reload();
    await listen(page);
    const gain = () => page.evaluate<number>('amplifier.gain.value');
    const wave = () => page.locator('.wave').getAttribute('style');
    const isEven = button(page, 'Even loudness');
    await expect.poll(gain).toBeCloseTo(2.818, 2); // 9 dB
    const line = await wave();
    await isEven.click();
    await expect.poll(gain).toBe(1);
    await next(page);
    expect(await gain()).toBe(1);
    await expect.poll(async () => ((await wave()) ?? '').length).not.toBe(line?.length);
    await page.reload();
    expect(await isEven.getAttribute('aria-pressed')).toBe('false');
  });
});

test('covers show a placeholder until they have loaded, and are there after a reload', async ({ visit }) => {
  const steps = async (page: Page) => {
    await page.route('**/object/public/**', (route) => route.abort());
    await listen(page);
    await next(page);
    const cover = page.locator('.listen:has-text("Steady Rain") img').first();
    await expect.poll(() => cover.getAttribute('style')).toContain('data:image/png');
    await page.unrouteAll();
    await page.reload();
    const width = "document.querySelector('#bar img').naturalWidth";
    await expect.poll(() => page.evaluate(width)).toBeGreaterThan(0);
    await expect.poll(() => page.locator('#bar img').getAttribute('src')).toMatch(/^http/);
  };
  await visit('desk', steps, 'ERR_FAILED');
});

test('the account page lists devices and signs out on another one', async ({ site, visit }) => {
  await site.sql`delete from auth.sessions`;
  await visit('phone', async (phone) => {
    await listen(phone);
    await visit('desk', async (desk) => {
      await listen(desk);
      await open(desk, 'Account');
      const rows = desk.getByRole('list', { name: 'Devices' }).getByRole('listitem');
      await expect.poll(() => rows.count()).toBe(2);
      expect(await rows.getByText('This device').count()).toBe(1);
      await rows.getByRole('button').click();
      await desk.getByText('Signed out there.').waitFor();
      expect(await rows.count()).toBe(1);
      expect(await button(desk, 'Sign out on all other devices').isVisible()).toBe(false);
      expect(await site.sql`select from auth.sessions`).toHaveLength(1);
    });
  });
});

test('the page opens without a network', async ({ visit }) => {
  const steps = async (page: Page) => {
    await listen(page);
    const title = await playing(page);
    await page.locator('.cards').first().waitFor(); // by now, the catalogue is copied, too
    await expect
      .poll(() => page.evaluate("caches.open('page').then((kept) => kept.match('/')).then(Boolean)"))
      .toBe(true);
    await page.context().setOffline(true);
    await page.reload();
    await page.getByText('No network: the catalogue as of').waitFor();
    await page.getByRole('heading', { name: 'Featured' }).waitFor();
    expect(await playing(page)).toBe(title);
  };
  await visit('desk', steps, 'ERR_INTERNET_DISCONNECTED');
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

test('a locked sound has a lock and leads to a page about premium, until the user has it', async ({ site, visit }) => {
  const [sound] = await site.sql<{ id: string }[]>`select id from public.sounds where is_premium limit 1`;
  const email = 'free@example.com';
  await visit('phone', async (page) => {
    await page.getByLabel('E-mail address').fill(email);
    await page.getByLabel('Password').fill('demo-password');
    await button(page, 'Sign in').click();
    await page.locator('.cards').first().waitFor();
    const row = page.locator(`.rows .listen[value="${sound?.id}"]`);
    const find = async () => {
      await open(page, 'Browse');
      while ((await row.count()) === 0) await page.locator('.rows li').last().scrollIntoViewIfNeeded();
    };
    await find();
    expect(await row.innerText()).toContain('Premium');
    expect(await row.locator('.cover i').isVisible()).toBe(true);
    expect(await page.locator('.rows .cover i').count()).toBeLessThanOrEqual(3);
    await row.click();
    await page.getByText('You do not have premium.').waitFor();
    expect(await page.locator('#bar').isVisible()).toBe(false);
    await site.sql`update public.customers set premium_until = '2999-06-01' where email = ${email}`;
    await page.reload();
    await page.getByText(/You have premium until .*2999/).waitFor();
    await find();
    expect(await row.locator('.cover i').count()).toBe(0);
    await row.click();
    await untilPlays(page);
  });
});

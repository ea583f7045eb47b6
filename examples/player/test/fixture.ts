import { rm } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import postgres from 'postgres';
import { test as base, expect, inject, type TestContext } from 'vitest';
import { canRunBrowser, inProfile, launchBrowser, type View } from '../../../test/support/browser.ts';
import { fixture } from '../../../test/support/fixture.ts';
import { preparedFolder } from '../../../test/support/prepared.ts';
import { devEnvironment, startDev } from '../../../test/support/processes.ts';

/** The addresses and the database of `npm run dev`, and a browser. */
type Dev = { url: string; supabaseUrl: string; sql: postgres.Sql; browser: Browser };

const views = {
  phone: { width: 390, colorScheme: 'light' },
  desk: { width: 1280, colorScheme: 'dark' },
} satisfies Record<string, View>;

/** Opens the player. Fails if the console shows an error or a warning, except `provoked`. */
type Visit = (view: 'phone' | 'desk', steps: Steps, provoked?: string) => Promise<void>;
type Steps = (page: Page) => Promise<void>;

const usual = /^\[vite\]|Failed to load resource|username fields/;

async function provideDev(use: (dev: Dev) => Promise<void>) {
  if (!inject('stack').embedded || !canRunBrowser) return use(null as never);
  const env = await devEnvironment(await preparedFolder());
  const settings = { ...env, RATE_LIMIT_PER_MINUTE: '100000', LOG_LEVEL: 'warn' };
  const [dev, browser] = await Promise.all([startDev(settings, '--confirm-email'), launchBrowser()]);
  const sql = postgres(`postgresql://postgres:postgres@127.0.0.1:${env.SUPABASE_DB_PORT}/postgres`);
  const local = (port: string) => `http://127.0.0.1:${port}`;
  await use({ url: `${local(env.PLAYER_PORT)}/`, supabaseUrl: local(env.SUPABASE_PORT), sql, browser });
  await Promise.all([sql.end(), browser.close()]);
  dev.kill('SIGINT');
  await dev.exited;
  await rm(env.DEV_DATA_DIR, { recursive: true });
}

/** vitest's test with an `npm run dev` and a browser for each file. Request `dev` in a hook, which has more time. */
export const test = base.extend<{ $file: { dev: Dev }; $test: { visit: Visit; phone: Page; desk: Page } }>({
  dev: [fixture(provideDev), { scope: 'file' }],
  visit: async ({ dev, skip }: { dev: Dev } & TestContext, use: (visit: Visit) => Promise<void>) => {
    skip(!inject('stack').embedded);
    skip(!canRunBrowser, 'Install chromium to open the player.');
    await use((view, steps, provoked = 'none') =>
      inProfile(dev.browser, dev.url, views[view], async (page, { complaints }) => {
        await steps(page);
        expect(complaints.filter((text) => !usual.test(text) && !text.includes(provoked))).toEqual([]);
      }),
    );
  },
  /** A page on which the first sound plays. */
  phone: ({ visit }: { visit: Visit }, use) => visit('phone', (page) => listen(page).then(() => use(page))),
  desk: ({ visit }: { visit: Visit }, use) => visit('desk', (page) => listen(page).then(() => use(page))),
});

/** A button by its whole name. */
export const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

/** The button for another attempt on a screen. The bar may have one, too. */
export const tryAgain = (page: Page) => page.locator('main').getByRole('button', { name: 'Try again' });

/** Waits until a sound plays. */
export const untilPlays = (page: Page) =>
  expect.poll(() => page.evaluate('navigator.mediaSession.playbackState')).toBe('playing');

/** Signs in as the demo user, for whom the first sound begins to play. */
export async function listen(page: Page) {
  await button(page, 'Listen with the demo account').click();
  await untilPlays(page);
}

/** Goes on to the next sound, and waits until it plays. */
export async function next(page: Page) {
  const before = await playing(page);
  await button(page, 'Next').click();
  await expect.poll(() => playing(page)).not.toBe(before);
  await untilPlays(page);
}

export async function open(page: Page, screen: string, heading = screen) {
  await page.getByRole('link', { name: screen, exact: true }).click();
  await page.getByRole('heading', { name: heading, exact: true, level: 1 }).waitFor();
}

/** Tells whether the content fits into the page and its parts. */
export const fits = (page: Page) =>
  page.evaluate(
    `['html', 'main', '#bar'].map((name) => document.querySelector(name)).every(
      ({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)`,
  );

/** The title of the sound in the bar. */
export const playing = (page: Page) => page.locator('#bar strong').innerText();

/** The position of the player, in seconds. */
export const position = async (page: Page) => Number(await page.getByLabel('Position').inputValue());

/** The ARIA label of the element that has the focus. */
export const focused = (page: Page) => page.evaluate('document.activeElement.ariaLabel');

import { rm } from 'node:fs/promises';
import { startPlayer } from '@sounds-service/dev/player';
import { seed } from '@sounds-service/dev/seed';
import { localKeys } from '@sounds-service/local-supabase/keys';
import { startStack } from '@sounds-service/local-supabase/stack';
import type { Browser, Page } from 'playwright-core';
import postgres from 'postgres';
import { test as base, expect, inject, type TestContext } from 'vitest';
import { tone } from '../../../test/support/audio.ts';
import { inProfile, launchBrowser, type View } from '../../../test/support/browser.ts';
import { storeFile } from '../../../test/support/files.ts';
import { fixture } from '../../../test/support/fixture.ts';
import { startGateway } from '../../../test/support/gateway.ts';
import { freePort } from '../../../test/support/ports.ts';
import { preparedFolder } from '../../../test/support/prepared.ts';

/** Browser and player with a separate service, which has the samples, allows guests and confirms new addresses. */
interface Site {
  url: string;
  supabaseUrl: string;
  sql: postgres.Sql;
  browser: Browser;
}

const views = {
  phone: { width: 390, colorScheme: 'light' },
  desk: { width: 1280, colorScheme: 'dark' },
} satisfies Record<string, View>;

/** Opens the player. Fails if the console shows an error or a warning, except `provoked`. */
type Visit = (view: 'phone' | 'desk', steps: Steps, provoked?: string) => Promise<void>;
type Steps = (page: Page) => Promise<void>;

const usual = /^\[vite\]|Failed to load resource|username fields/;

export const operatorMessage = 'The recordings are back.';

async function provideSite(use: (site: Site) => Promise<void>) {
  if (!inject('stack').embedded) return use(null as never);
  const dataDir = await preparedFolder();
  const launching = launchBrowser();
  const ports = { apiPort: 0, databasePort: 0 };
  const stack = await startStack({ dataDir, ...ports, durable: false, emailConfirmations: true, guests: true });
  await seed(stack, false, () => {});
  const sql = postgres(stack.databaseUrl);
  await sql`insert into public.app_settings values ('message', ${sql.json(operatorMessage)})`;
  const gateway = await startGateway({ SUPABASE_URL: stack.apiUrl });
  const port = await freePort();
  const player = await startPlayer({ port, gatewayPort: gateway.port, dataDir });
  const browser = await launching;
  await use({ url: `http://127.0.0.1:${port}/`, supabaseUrl: stack.apiUrl, sql, browser });
  await Promise.all([sql.end(), browser.close()]);
  await player.stop();
  await gateway.close();
  await stack.stop();
  await rm(dataDir, { recursive: true });
}

/** Test function with one site for each file, which needs the tag `browser`. Request `site` in a hook, because a hook has more time. */
export const test = base.extend<{ $file: { site: Site }; $test: { visit: Visit; phone: Page; desk: Page } }>({
  site: [fixture(provideSite), { scope: 'file' }],
  visit: async ({ site, skip }: { site: Site } & TestContext, use: (visit: Visit) => Promise<void>) => {
    skip(!inject('stack').embedded);
    await use((view, steps, provoked = 'none') =>
      inProfile(site.browser, site.url, views[view], async (page, { complaints }) => {
        await steps(page);
        expect(complaints.filter((text) => !usual.test(text) && !text.includes(provoked))).toEqual([]);
      }),
    );
  },
  /** Page of a phone on which the first sound plays. */
  phone: ({ visit }: { visit: Visit }, use) => visit('phone', (page) => listen(page).then(() => use(page))),
  desk: ({ visit }: { visit: Visit }, use) => visit('desk', (page) => listen(page).then(() => use(page))),
});

/** Adds a sound to the beginning of lists that is longer than the samples, so that apps continue in it. Returns its id. */
export async function addLongSound({ supabaseUrl, sql }: Site): Promise<string> {
  const project = { apiUrl: supabaseUrl, secretKey: localKeys.secretKey };
  await storeFile('audio', 'long.wav', 'audio/wav', tone(300), project);
  const [sound] = await sql`insert into public.sounds (title, audio_path, duration_sec, sort_order)
    values ('Long', 'long.wav', 300, -1000) returning id`;
  return sound?.['id'];
}

export const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

/** Returns the button "Try again" of the screen, not that of the bar. */
export const tryAgain = (page: Page) => page.locator('main').getByRole('button', { name: 'Try again' });

export const untilPlays = (page: Page) =>
  expect.poll(() => page.evaluate('navigator.mediaSession.playbackState')).toBe('playing');

/** Signs in as the demo user, which starts the first sound. */
export async function listen(page: Page) {
  await button(page, 'Listen with the demo account').click();
  await untilPlays(page);
}

/** Switches to the next sound, and waits until it plays. */
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

/** Tells whether the content fits into the page: nothing scrolls horizontally, and the bar not at all. */
export const fits = (page: Page) =>
  page.evaluate(
    `['html', 'main', '#bar'].map((name) => document.querySelector(name)).every(
      ({ id, scrollWidth, clientWidth, scrollHeight, clientHeight }) =>
        scrollWidth <= clientWidth && (id !== 'bar' || scrollHeight <= clientHeight))`,
  );

/** Returns the title of the sound in the bar. */
export const playing = (page: Page) => page.locator('#bar strong').innerText();

/** Returns the position of the player in seconds. */
export const position = async (page: Page) => Number(await page.getByLabel('Position').inputValue());

export const focused = (page: Page) => page.evaluate('document.activeElement.ariaLabel');

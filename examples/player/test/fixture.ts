import { rm } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import postgres from 'postgres';
import { test as base, expect, inject, type TestContext } from 'vitest';
import { canRunBrowser, inBrowser, type View } from '../../../test/support/browser.ts';
import { fixture } from '../../../test/support/fixture.ts';
import { preparedFolder } from '../../../test/support/prepared.ts';
import { devEnvironment, startDev } from '../../../test/support/processes.ts';

/** The addresses and the database of `npm run dev`. */
type Dev = { url: string; supabaseUrl: string; sql: postgres.Sql };

/**
 * Opens the player. Fails if the console shows an error or a warning.
 * @param provoked part of the errors that the test provokes
 */
type Visit = (view: View, steps: (page: Page) => Promise<void>, provoked?: string) => Promise<void>;

export const phone: View = { width: 390, colorScheme: 'light' };
export const desk: View = { width: 1280, colorScheme: 'dark' };

const usual = /^\[vite\]|Failed to load resource|username fields/;

const canRun = inject('stack').embedded && canRunBrowser;

async function provideDev(use: (dev: Dev) => Promise<void>) {
  const env = await devEnvironment(await preparedFolder());
  const settings = { ...env, RATE_LIMIT_PER_MINUTE: '100000', LOG_LEVEL: 'warn' };
  const dev = await startDev(settings, '--confirm-email');
  const sql = postgres(`postgresql://postgres:postgres@127.0.0.1:${env.SUPABASE_DB_PORT}/postgres`);
  await use({
    url: `http://127.0.0.1:${env.PLAYER_PORT}/`,
    supabaseUrl: `http://127.0.0.1:${env.SUPABASE_PORT}`,
    sql,
  });
  await sql.end();
  dev.kill('SIGINT');
  await dev.exited;
  await rm(env.DEV_DATA_DIR, { recursive: true });
}

/** The test function of vitest with an `npm run dev` for each file, and visits of its player. */
export const test = base.extend<{ $file: { dev: Dev }; $test: { visit: Visit; phone: Page; desk: Page } }>({
  dev: [fixture((use) => (canRun ? provideDev(use) : use(null as never))), { scope: 'file' }],
  visit: async ({ dev, skip }: { dev: Dev } & TestContext, use: (visit: Visit) => Promise<void>) => {
    skip(!inject('stack').embedded);
    skip(!canRunBrowser, 'Install chromium to open the player.');
    await use((view, steps, provoked) =>
      inBrowser(dev.url, view, async (page, { complaints }) => {
        await steps(page);
        const isExpected = (text: string) =>
          usual.test(text) || (provoked !== undefined && text.includes(provoked));
        expect(complaints.filter((text) => !isExpected(text))).toEqual([]);
      }),
    );
  },
  /** A page on which the first sound plays. */
  phone: ({ visit }: { visit: Visit }, use) => visit(phone, (page) => listen(page).then(() => use(page))),
  desk: ({ visit }: { visit: Visit }, use) => visit(desk, (page) => listen(page).then(() => use(page))),
});

/** A button by its whole name. */
export const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

/** Waits until a sound plays. */
export const untilPlaying = (page: Page) =>
  expect.poll(() => page.evaluate('navigator.mediaSession.playbackState')).toBe('playing');

/** Signs in as the demo user, for whom the first sound begins to play. */
export async function listen(page: Page) {
  await button(page, 'Listen with the demo account').click();
  await untilPlaying(page);
}

export async function open(page: Page, screen: string, heading = screen) {
  await page.getByRole('link', { name: screen, exact: true }).click();
  await page.getByRole('heading', { name: heading, exact: true, level: 1 }).waitFor();
}

export const typeIn = (page: Page, label: string, text: string) =>
  page.getByLabel(label, { exact: true }).fill(text);

/** Tells whether the content fits into the page and its parts. */
export const fits = (page: Page) =>
  page.evaluate(
    `['html', 'main', '#bar'].every((name) => {
      const { scrollWidth, clientWidth } = document.querySelector(name);
      return scrollWidth <= clientWidth;
    })`,
  );

/** The title of the sound in the bar. */
export const playing = (page: Page) => page.locator('#bar strong').innerText();

/** The position of the player, in seconds. */
export const position = async (page: Page) => Number(await page.getByLabel('Position').inputValue());

/** Counts the plays that the service has counted, and the requests for them. */
export function countPlays(page: Page) {
  const counted = { requests: 0, plays: 0 };
  page.on('response', async (response) => {
    if (!response.url().endsWith('/api/v1/plays')) return;
    counted.requests += 1;
    const { data }: { data: { status: string }[] } = await response.json();
    counted.plays += data.filter(({ status }) => status === 'counted').length;
  });
  return counted;
}

/** Tells whether an address is that of a recording. */
export const isAudio = (address: URL) => address.pathname.includes('/object/sign/audio/');

/** Reads the keys of the copies that the client keeps in IndexedDB. */
export const copyKeys = `new Promise((resolve) => {
  const opening = indexedDB.open('sounds');
  opening.onupgradeneeded = () => opening.transaction.abort(); // the client makes it
  opening.onerror = () => resolve([]);
  opening.onsuccess = () => {
    const request = opening.result.transaction('items').objectStore('items').getAllKeys();
    request.onsuccess = () => resolve(request.result);
  };
})`;

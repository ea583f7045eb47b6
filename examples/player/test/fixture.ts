import { rm } from 'node:fs/promises';
import type { Page, Request } from 'playwright-core';
import postgres from 'postgres';
import { test as base, expect, inject, type TestContext } from 'vitest';
import { canRunBrowser, inBrowser, type View } from '../../../test/support/browser.ts';
import { fixture } from '../../../test/support/fixture.ts';
import { preparedFolder } from '../../../test/support/prepared.ts';
import { devEnvironment, startDev } from '../../../test/support/processes.ts';

/** What `npm run dev` has started. */
type Dev = { url: string; supabaseUrl: string; sql: postgres.Sql };

/**
 * Opens the player, and fails where the console has complaints.
 * @param provoked a part of those that the test provokes
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

/** vitest's test with an `npm run dev` for the file, and visits of its player. */
export const test = base.extend<{ $file: { dev: Dev }; $test: { visit: Visit } }>({
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
});

/** A button by its whole name. */
export const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

/** Waits until something plays, paused or not before. */
export const untilPlaying = (page: Page) =>
  expect.poll(() => page.evaluate('navigator.mediaSession.playbackState')).toBe('playing');

const isPlay = (request: Request) => request.url().endsWith('/api/v1/plays');

/** Signs in as the demo user, for whom the first sound begins to play, which is counted. */
export async function listen(page: Page) {
  const counted = page.waitForRequest(isPlay);
  await button(page, 'Listen with the demo account').click();
  await untilPlaying(page);
  await counted;
}

export async function open(page: Page, screen: string, heading = screen) {
  await page.getByRole('link', { name: screen, exact: true }).click();
  await page.getByRole('heading', { name: heading, exact: true, level: 1 }).waitFor();
}

export const typeIn = (page: Page, label: string, text: string) =>
  page.getByLabel(label, { exact: true }).fill(text);

/** Whether nothing sticks out of the page to the right, or out of what scrolls in it. */
export const fits = (page: Page) =>
  page.evaluate(
    `['html', 'main', '#bar'].every((name) => {
      const { scrollWidth, clientWidth } = document.querySelector(name);
      return scrollWidth <= clientWidth;
    })`,
  );

/** What the bar says plays. */
export const playing = (page: Page) => page.locator('#bar strong').innerText();

/** The position of the player, in seconds. */
export const position = async (page: Page) => Number(await page.getByLabel('Position').inputValue());

/** Counts the calls that count plays. */
export function countPlays(page: Page) {
  const counted = { plays: 0 };
  page.on('request', (request) => {
    if (isPlay(request)) counted.plays += 1;
  });
  return counted;
}

/** Whether that is the address of a sound's file. */
export const isAudio = (address: URL) => address.pathname.includes('/object/sign/audio/');

import { readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { LOCAL_KEYS } from 'local-supabase/keys';
import type { Page } from 'playwright-core';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { canRunBrowser, inBrowser, type View } from '../../../test/support/browser.ts';
import { codeSentTo } from '../../../test/support/mail.ts';
import { preparedFolder } from '../../../test/support/prepared.ts';
import { devEnvironment, type run, startDev } from '../../../test/support/processes.ts';
import { newEmail } from '../../../test/support/test.ts';

const phone: View = { width: 390, colorScheme: 'light' };
const views: Record<string, View> = {
  'on a phone, in the light': phone,
  'on a phone, in the dark': { width: 390, colorScheme: 'dark' },
  'on a desk, in the light': { width: 1280, colorScheme: 'light' },
  'on a desk, in the dark': { width: 1280, colorScheme: 'dark' },
};

type Axe = { run: () => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };

const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** What axe finds wrong with the page. */
async function violations(page: Page) {
  await page.addScriptTag({ path: axePath });
  const found = await page.evaluate(() => (globalThis as unknown as { axe: Axe }).axe.run());
  return found.violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]);
}

const listen = async (page: Page) => {
  await page.getByRole('button', { name: 'Listen with the demo account' }).click();
  await page.getByRole('button', { name: 'Pause' }).waitFor();
};

async function open(page: Page, screen: string, heading = screen) {
  await page.getByRole('link', { name: screen }).click();
  await page.getByRole('heading', { name: heading, exact: true }).waitFor();
}

const typeIn = (page: Page, label: string, text: string) =>
  page.getByLabel(label, { exact: true }).first().fill(text);

/** The position of the player, in seconds. */
const position = async (page: Page) => Number(await page.getByLabel('Position').inputValue());

/** Five minutes of silence: more than a browser fetches ahead. */
function longRecording(): Buffer {
  const size = 26_460_000;
  const header = Buffer.alloc(44);
  header.write('RIFF');
  header.writeUInt32LE(36 + size, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(44_100, 24);
  header.writeUInt32LE(88_200, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(size, 40);
  return Buffer.concat([header, Buffer.alloc(size)]);
}

test('the player has at most 900 lines, styles included, and no file more than 200', () => {
  const folder = 'examples/player';
  const files = [
    `${folder}/index.html`,
    `${folder}/vite.config.ts`,
    ...readdirSync(`${folder}/src`).map((name) => `${folder}/src/${name}`),
  ];
  const lines = files.map((file) => readFileSync(file, 'utf8').trimEnd().split('\n').length);
  expect(lines.length).toBeGreaterThan(5);
  expect(Math.max(...lines)).toBeLessThanOrEqual(200);
  expect(lines.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(900);
});

describe.runIf(inject('stack').embedded)('the player of npm run dev', () => {
  let env: Awaited<ReturnType<typeof devEnvironment>> & Record<string, string>;
  let dev: ReturnType<typeof run>;
  let url: string;

  beforeAll(async () => {
    if (!canRunBrowser) return;
    const own = await devEnvironment(await preparedFolder());
    env = { ...own, RATE_LIMIT_PER_MINUTE: '100000', LOG_LEVEL: 'warn' };
    url = `http://127.0.0.1:${env.PLAYER_PORT}/`;
    dev = await startDev(env, '--confirm-email');
  });

  afterAll(async () => {
    if (!canRunBrowser) return;
    dev.kill('SIGINT');
    await dev.exited;
    await rm(env.DEV_DATA_DIR, { recursive: true });
  });

  const visit = (view: View, steps: (page: Page) => Promise<void>) =>
    inBrowser(url, view, async (page, { complaints }) => {
      await steps(page);
      expect(
        complaints.filter((text) => !/^\[vite\]|Failed to load resource|username fields/.test(text)),
      ).toEqual([]);
    });

  test.for(Object.entries(views))(
    'plays the first sound at one click, and can be used by everybody, %s',
    async ([, view], { skip }) => {
      skip(!canRunBrowser, 'Install chromium to open the player.');
      await visit(view, async (page) => {
        await page.getByRole('button', { name: 'Sign in' }).waitFor();
        expect(await violations(page)).toEqual([]);
        await listen(page);
        await expect.poll(() => position(page)).toBeGreaterThan(0);
        await page.getByRole('heading', { name: 'Featured' }).waitFor();
        const width = await page.evaluate<number>('document.documentElement.scrollWidth');
        expect(width).toBeLessThanOrEqual(view.width);
        expect(await violations(page)).toEqual([]);
        for (const screen of ['Browse', 'Favorites', 'Account']) {
          await open(page, screen, screen === 'Account' ? 'Demo' : screen);
          await page.getByRole('heading', { level: 1 }).waitFor();
          expect(await violations(page), screen).toEqual([]);
        }
      });
    },
  );

  test('finds sounds as one types, and lists all of them to the end', async ({ skip }) => {
    skip(!canRunBrowser, 'Install chromium to open the player.');
    const sql = postgres(`postgresql://postgres:postgres@127.0.0.1:${env.SUPABASE_DB_PORT}/postgres`);
    const [row] = await sql`select count(*)::int as count from public.sounds where is_active`;
    await sql.end();
    await visit(phone, async (page) => {
      await listen(page);
      await open(page, 'Browse');
      const rows = page.locator('.rows li');
      await expect
        .poll(async () => {
          await page.mouse.wheel(0, 10_000);
          return rows.count();
        })
        .toBe(row?.['count']);
      await page.getByLabel('Search sounds').pressSequentially('rain');
      await expect.poll(() => rows.count()).toBeLessThan(row?.['count']);
      for (const title of await rows.locator('strong').allTextContents()) expect(title).toMatch(/rain/i);
    });
  });

  test('keeps favorites that are chosen without a network, and sends them when there is one', async ({
    skip,
  }) => {
    skip(!canRunBrowser, 'Install chromium to open the player.');
    await visit(phone, async (page) => {
      await listen(page);
      await open(page, 'Browse');
      const heart = page.locator('.rows .heart').first();
      const name = (await heart.getAttribute('aria-label')) ?? '';
      await page.context().setOffline(true);
      await heart.click();
      expect(await heart.getAttribute('aria-pressed')).toBe('true');
      await page.getByText('No network').waitFor();
      const sent = page.waitForRequest(
        (request) => request.method() === 'POST' && request.url().endsWith('/favorites'),
      );
      await page.context().setOffline(false);
      await (await sent).response();
      await page.reload();
      await open(page, 'Favorites');
      await page.getByRole('button', { name }).waitFor();
      expect(await page.locator('.rows li').count()).toBe(1);

      // The bar of the player knows it, too, when it is played right after signing in.
      const title = (await page.locator('.rows strong').textContent()) ?? '';
      await open(page, 'Account', 'Demo');
      await page.getByRole('button', { name: 'Sign out' }).click();
      await listen(page);
      await open(page, 'Browse');
      expect(await page.locator('#bar strong').textContent()).toBe(title);
      expect(await page.locator('#bar .heart').getAttribute('aria-pressed')).toBe('true');
    });
  });

  test('goes on at the same position when the address of the audio has expired in a long pause', async ({
    skip,
  }) => {
    skip(!canRunBrowser, 'Install chromium to open the player.');
    const { secretKey } = LOCAL_KEYS;
    const headers = { apikey: secretKey, Authorization: `Bearer ${secretKey}`, 'Content-Type': 'audio/wav' };
    const object = `http://127.0.0.1:${env.SUPABASE_PORT}/storage/v1/object/audio/long.wav`;
    expect((await fetch(object, { method: 'POST', headers, body: longRecording() })).status).toBe(200);
    const sql = postgres(`postgresql://postgres:postgres@127.0.0.1:${env.SUPABASE_DB_PORT}/postgres`);
    await sql`insert into public.sounds (title, audio_path, sort_order) values ('A long one', 'long.wav', -1000)`;
    await sql.end();
    await visit(phone, async (page) => {
      const addresses: string[] = [];
      const isAudio = (address: URL) => address.pathname.endsWith('/long.wav');
      page.on('request', (request) => isAudio(new URL(request.url())) && addresses.push(request.url()));
      await listen(page);
      await expect.poll(() => position(page)).toBeGreaterThan(0);
      await page.getByRole('button', { name: 'Pause' }).click();
      await page.getByRole('button', { name: 'Play', exact: true }).waitFor();
      const expired = addresses[0];
      await page.route(isAudio, (route) =>
        route.request().url() === expired ? route.fulfill({ status: 400 }) : route.continue(),
      );
      await page.getByLabel('Position').fill('200');
      await expect.poll(() => addresses.at(-1)).not.toBe(expired);
      await page.getByRole('button', { name: 'Play', exact: true }).click(); // it does not begin by itself
      await expect.poll(() => position(page)).toBeGreaterThan(200);
      expect(addresses.at(-1)).not.toBe(expired);
    });
  });

  test('has an account from sign-up with a code through a forgotten password to deletion', async ({
    skip,
  }) => {
    skip(!canRunBrowser, 'Install chromium to open the player.');
    const mailUrl = `http://127.0.0.1:${env.SUPABASE_PORT}`;
    const email = newEmail();
    await visit(phone, async (page) => {
      await open(page, 'Create an account');
      await typeIn(page, 'Name', 'Ada');
      await typeIn(page, 'E-mail address', email);
      await typeIn(page, 'New password', 'the first one');
      await page.getByRole('button', { name: 'Create the account' }).click();
      await page.getByRole('heading', { name: 'Enter the code' }).waitFor();
      await typeIn(page, 'Code', '00000000');
      await page.getByRole('button', { name: 'Confirm' }).click();
      await page.getByText('The code is wrong').waitFor();
      await typeIn(page, 'Code', await codeSentTo(mailUrl, email));
      await page.getByRole('button', { name: 'Confirm' }).click();
      await open(page, 'Account', 'Ada');
      await typeIn(page, 'Current password', 'the first one');
      await typeIn(page, 'New password', 'the second one');
      await page.getByRole('button', { name: 'Change the password' }).click();
      await page.getByText('The password is changed.').waitFor();
      await page.getByRole('button', { name: 'Sign out' }).click();

      await open(page, 'Forgot your password?');
      await typeIn(page, 'E-mail address', email);
      await page.getByRole('button', { name: 'Send a code' }).click();
      await page.getByRole('heading', { name: 'Enter the code' }).waitFor();
      await typeIn(page, 'Code', await codeSentTo(mailUrl, email, 2));
      await page.getByRole('button', { name: 'Continue' }).click();
      await typeIn(page, 'New password', 'the third one');
      await page.getByRole('button', { name: 'Set the password' }).click();

      await open(page, 'Account', 'Ada');
      const deletion = page.locator('form').last();
      await deletion.getByLabel('Password').fill('the third one');
      await deletion.getByRole('button').click();
      await page.getByRole('button', { name: 'Listen with the demo account' }).waitFor();
      await typeIn(page, 'E-mail address', email);
      await typeIn(page, 'Password', 'the third one');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByText('The e-mail address or the password is wrong.').waitFor();
    });
  });

  test('plays what was clicked last, counts it once, and pauses at a click on it', async ({ skip }) => {
    skip(!canRunBrowser, 'Install chromium to open the player.');
    await visit(phone, async (page) => {
      await listen(page);
      await open(page, 'Browse');
      let plays = 0;
      page.on('request', (request) => {
        if (request.url().endsWith('/api/v1/plays')) plays += 1;
      });
      const rows = page.locator('.rows .listen');
      const [slow, last] = [rows.nth(2), rows.nth(4)];
      const slowId = await slow.getAttribute('value');
      await page.route(`**/sounds/${slowId}`, async (route) => {
        await last.click(); // before the answer comes
        await route.continue();
      });
      await slow.click();
      await expect.poll(() => last.getAttribute('aria-current')).toBe('true');
      await expect.poll(() => plays).toBe(1);
      const title = await last.locator('strong').textContent();
      expect(await page.locator('#bar strong').textContent()).toBe(title);
      await last.click();
      await page.getByRole('button', { name: 'Play', exact: true }).waitFor();
      await page.getByRole('button', { name: 'Next' }).click();
      await expect.poll(() => plays).toBe(2);
    });
  });

  test('says what fails and tries again: a screen, and a sound whose file is not to be had', async ({
    skip,
  }) => {
    skip(!canRunBrowser, 'Install chromium to open the player.');
    await visit(phone, async (page) => {
      await listen(page);
      const isHome = (address: URL) => address.pathname === '/api/v1/categories';
      const body = '{"error": {"code": "not_found", "message": "Made up."}}';
      await page.route(isHome, (route) =>
        route.fulfill({ status: 404, contentType: 'application/json', body }),
      );
      await page.getByRole('link', { name: 'Browse' }).click();
      await page.getByText('It is no longer there.').waitFor();
      await page.unroute(isHome);
      await page.locator('main').getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('heading', { name: 'Browse' }).waitFor();

      const isAudio = (address: URL) => address.pathname.includes('/object/sign/audio/');
      await page.route(isAudio, (route) => route.fulfill({ status: 500 }));
      await page.locator('.rows .listen').nth(3).click();
      await page.getByText('This sound cannot be played now.').waitFor();
      await page.unroute(isAudio);
      await page.locator('#bar').getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('button', { name: 'Pause' }).waitFor();
    });
  });

  test('finds its search again after Back, fits long words, and is reached by the keyboard before the lists', async ({
    skip,
  }) => {
    skip(!canRunBrowser, 'Install chromium to open the player.');
    const sql = postgres(`postgresql://postgres:postgres@127.0.0.1:${env.SUPABASE_DB_PORT}/postgres`);
    await sql`insert into public.sounds (title) values ('Rinderkennzeichnungsfleischetikettierungsüberwachungsaufgabenübertragungsgesetz')`;
    await sql.end();
    await visit(phone, async (page) => {
      await listen(page);
      await open(page, 'Browse');
      await page.getByLabel('Search sounds').fill('rinder');
      await page.waitForURL(/search=rinder/);
      await page.getByText(/^Rinder/).waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(phone.width);
      expect(await page.title()).toBe('Browse – Sounds');
      await open(page, 'Favorites');
      await page.goBack();
      await page.getByText(/^Rinder/).waitFor();
      expect(await page.getByLabel('Search sounds').inputValue()).toBe('rinder');
      await page.getByRole('link', { name: 'Account' }).focus();
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement.closest("#bar") !== null')).toBe(true);
    });
  });

  test('plays in one tab alone, and shows favorites of the other tab, the history and the export', async ({
    skip,
  }) => {
    skip(!canRunBrowser, 'Install chromium to open the player.');
    await visit(phone, async (page) => {
      await listen(page);
      const opened = page.waitForEvent('popup');
      await page.evaluate(`void open('${url}')`);
      const other = await opened;
      await other.locator('.cards .listen').first().click();
      await page.getByRole('button', { name: 'Play', exact: true }).waitFor();
      const heart = other.locator('.cards .heart').nth(1);
      const name = (await heart.getAttribute('aria-label')) ?? '';
      const was = await heart.getAttribute('aria-pressed');
      await heart.click();
      const here = page.locator('.cards').getByRole('button', { name }).first();
      await expect.poll(() => here.getAttribute('aria-pressed')).not.toBe(was);
      expect(await other.evaluate('document.activeElement.ariaLabel')).toBe(name);
      await other.close();

      await open(page, 'History');
      await page.locator('.rows li').first().waitFor();
      await page.getByRole('button', { name: 'Clear the history' }).click();
      await page.getByText('The history is empty.').waitFor();
      await open(page, 'Account', 'Demo');
      const downloading = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Download everything' }).click();
      expect((await downloading).suggestedFilename()).toBe('sounds-account.json');
    });
  });
});

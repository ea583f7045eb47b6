import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import postgres from 'postgres';
import { expect, onTestFinished, test } from 'vitest';
import { inProfile, launchBrowser } from '../../../test/support/browser.ts';
import { startDatabase } from '../../../test/support/prepared.ts';
import { run } from '../../../test/support/processes.ts';
import { reportPage } from '../page.ts';

/** Runs `npm run report` with these arguments. */
async function report(...args: string[]) {
  const { exited, output } = run(['tools/report/main.ts', ...args]);
  return { code: await exited, ...output };
}

/** Starts an empty database, and returns a function that writes its report. */
async function startReported() {
  const { databaseUrl, stop } = await startDatabase();
  onTestFinished(stop);
  const out = join(await mkdtemp(join(tmpdir(), 'sounds-service-report-')), 'report.html');
  const write = async () => {
    const written = await report('--database', databaseUrl, '--out', out, '--days', '2');
    expect(written).toEqual({ code: 0, stdout: `Written: ${out}\n`, stderr: '' });
  };
  return { databaseUrl, out, write };
}

test('npm run report says that nothing was played, or that the migrations are missing', async () => {
  const { databaseUrl, out, write } = await startReported();
  const bare = await report('--database', new URL('template1', databaseUrl).href);
  expect(bare).toMatchObject({ code: 1, stderr: expect.stringContaining('Apply the migrations first') });
  await write();
  expect(await readFile(out, 'utf8')).toContain('Nothing was played.');
});

test('npm run report draws its charts on every screen, without a network', { tags: ['browser'] }, async () => {
  const { databaseUrl, out, write } = await startReported();
  const title = 'Rain & <script>alert("a title")</script>';
  const sql = postgres(databaseUrl, { max: 1 });
  await sql.unsafe(`
    insert into public.sounds (title) values ('${title}');
    insert into private.plays_by_day (sound_id, day, plays)
      select id, (now() at time zone 'UTC')::date - n, 1000 + n from public.sounds, generate_series(0, 2) as n;
    insert into auth.users (id, email, created_at) values (gen_random_uuid(), 'a@example.com', now());
    insert into public.history (user_id, sound_id, plays, last_played_at)
      select u.id, s.id, 2001, now() from auth.users as u, public.sounds as s;
    insert into private.guests_allowed default values;
    insert into auth.users (id, is_anonymous, created_at)
      select gen_random_uuid(), true, now() from generate_series(1, 3)`);
  await sql.end();
  await write();
  const url = pathToFileURL(out).href;
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  for (const [width, colorScheme, color] of [
    [1000, 'light', 'rgb(244, 246, 248)'],
    [400, 'dark', 'rgb(18, 24, 31)'],
  ] as const)
    await inProfile(browser, url, { width, colorScheme }, async (page, { complaints, requests }) => {
      const drawn = await page.evaluate(`Array.from(document.querySelectorAll('canvas'), (canvas) => {
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        return Chart.getChart(canvas) !== undefined && data.some((value) => value > 0);
      })`);
      expect(drawn).toEqual([true, true, true, true]);
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe(color);
      const rows = (section: string) =>
        page
          .locator('section')
          .filter({ has: page.getByRole('heading', { name: section }) })
          .locator('tbody tr');
      expect(await rows('Plays').count()).toBe(2);
      expect(await rows('Sign-ups').first().textContent()).toMatch(/^\d{4}-\d\d-\d\d130$/); // one, three guests, none
      expect(await rows('Top sounds').allTextContents()).toEqual([`${title}122,001`]);
      expect(complaints).toEqual([]);
      expect(requests.map(({ href }) => href)).toEqual([url]);
    });
});

test('npm run report shows averages below 10 with two digits instead of 0', () => {
  const none = { day: '2026-06-01', plays: 0, listeners: 0, sign_ups: 0, guests: 0, active: 0, deleted: 0 };
  const averages = [1, 14, 45, 3000, 60_000].map((listeners) => {
    const days = [{ ...none, listeners }, ...Array.from({ length: 29 }, () => none)];
    const page = reportPage({ days, topSounds: [] }, new Date());
    return /Listeners on an average day<\/dt><dd>([^<]*)/.exec(page)?.[1];
  });
  expect(averages).toEqual(['0.033', '0.47', '1.5', '100', '2,000']);
});

test('npm run report names an invalid option or database, and no password', async () => {
  const database = 'postgresql://postgres:secret@127.0.0.1:1/postgres';
  for (const [args, message] of [
    ...['0', '366', '1.5'].map((days) => [['--days', days], 'must be a whole number from 1 to 365'] as const),
    [['--database', 'nowhere'], 'must be a URL'],
    [['--database', database], 'There is no database at 127.0.0.1:1. Start'],
  ] as const) {
    const { code, stdout, stderr } = await report(...args);
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining(message)]);
    expect(stderr).not.toContain('secret');
  }
});

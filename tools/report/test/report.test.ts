import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ScratchDatabase } from 'local-supabase/scratch-database';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { canRunBrowser, inBrowser, type View } from '../../../test/support/browser.ts';
import { startDatabase } from '../../../test/support/prepared.ts';
import { run } from '../../../test/support/processes.ts';
import { reportPage } from '../page.ts';

/** Runs `npm run report` with these arguments. */
async function report(...args: string[]) {
  const { exited, output } = run(['tools/report/main.ts', ...args]);
  return { code: await exited, ...output };
}

let database: ScratchDatabase;
let folder: string;

beforeAll(async () => {
  database = await startDatabase();
  folder = await mkdtemp(join(tmpdir(), 'sounds-service-report-'));
});
afterAll(() => database?.stop());

const write = async (name: string, ...args: string[]) => {
  const out = join(folder, name);
  expect(await report('--database', database.databaseUrl, '--out', out, ...args)).toEqual({
    code: 0,
    stdout: `Written: ${out}\n`,
    stderr: '',
  });
  return out;
};

describe('npm run report', () => {
  test('reports that nothing was played yet', async () => {
    const page = await readFile(await write('empty.html', '--days', '7'), 'utf8');
    expect(page).toContain('Nothing was played.');
  });

  test('shows averages below 10 with two digits instead of 0', () => {
    const days = Array.from({ length: 30 }, (_, index) => {
      const day = `2026-06-${String(index + 1).padStart(2, '0')}`;
      return { day, plays: 0, listeners: index === 0 ? 1 : 0, sign_ups: 0, active: 0, deleted: 0 };
    });
    const averageOf = (listeners: number) => {
      const page = reportPage(
        { days: days.map((day) => ({ ...day, listeners: listeners * day.listeners })), topSounds: [] },
        new Date(),
      );
      return /Listeners on an average day<\/dt><dd>([^<]*)/.exec(page)?.[1];
    };
    expect([1, 14, 45, 3000, 60_000].map(averageOf)).toEqual(['0.033', '0.47', '1.5', '100', '2,000']);
  });

  test.skipIf(!canRunBrowser).for<View>([
    { width: 1000, colorScheme: 'light' },
    { width: 400, colorScheme: 'dark' },
  ])('draws its charts without a network: $colorScheme, $width px wide', async (view) => {
    const sql = postgres(database.databaseUrl, { max: 1 });
    const title = `Rain & <script>alert("${view.colorScheme}")</script>`;
    const [sound] = await sql`insert into public.sounds (title) values (${title}) returning id`;
    await sql`
      insert into private.plays_by_day (sound_id, day, plays)
      select ${sound?.['id']}, (now() at time zone 'UTC')::date - n, 1000 + n from generate_series(0, 2) as n`;
    await sql`
      with listener as (
        insert into auth.users (id, email, created_at)
        values (gen_random_uuid(), ${`${view.colorScheme}@example.com`}, now()) returning id
      )
      insert into public.history (user_id, sound_id, plays, last_played_at)
      select id, ${sound?.['id']}, 2001, now() from listener`;
    await sql.end();

    const url = pathToFileURL(await write(`${view.colorScheme}.html`, '--days', '2')).href;
    await inBrowser(url, view, async (page, { complaints, requests }) => {
      const drawn = await page.evaluate(`Array.from(document.querySelectorAll('canvas'), (canvas) => {
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        return Chart.getChart(canvas) !== undefined && data.some((value) => value > 0);
      })`);
      expect(drawn).toEqual([true, true, true, true]);
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      const background = await page.evaluate('getComputedStyle(document.body).backgroundColor');
      expect(background).toBe(view.colorScheme === 'dark' ? 'rgb(18, 24, 31)' : 'rgb(244, 246, 248)');
      const days = await page.locator('section').first().locator('tbody tr').allTextContents();
      expect(days).toHaveLength(2);
      expect(await page.locator('section').last().locator('tbody').textContent()).toContain(
        `${title}122,001`,
      );
      expect(complaints).toEqual([]);
      expect(requests.map(({ href }) => href)).toEqual([url]);
    });
  });

  test('reports an invalid option or database, and writes nothing', async () => {
    for (const days of ['0', '366', '1.5']) {
      const { code, stderr } = await report('--days', days);
      expect([code, stderr]).toEqual([1, expect.stringContaining('must be a whole number from 1 to 365')]);
    }
    expect((await report('--database', 'nowhere')).stderr).toContain('must be a URL');
    const dead = await report('--database', 'postgresql://postgres:secret@127.0.0.1:1/postgres');
    expect(dead).toMatchObject({ code: 1, stderr: expect.stringContaining('no database at 127.0.0.1:1') });
    expect(dead.stderr).not.toContain('secret');
    const bare = await report('--database', new URL('template1', database.databaseUrl).href);
    expect(bare).toMatchObject({ code: 1, stderr: expect.stringContaining('Apply the migrations first') });
  });
});

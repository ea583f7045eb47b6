import { expect, onTestFinished } from 'vitest';
import {
  button,
  countPlays,
  desk,
  fits,
  isAudio,
  listen,
  open,
  phone,
  playing,
  position,
  test,
  untilPlaying,
} from './fixture.ts';

// The first test of a file waits for `npm run dev`.
test('only the sound that was clicked last plays and is counted', { timeout: 60_000 }, async ({ visit }) => {
  await visit(desk, async (page) => {
    const counted = countPlays(page);
    await listen(page);
    const first = await playing(page);
    await open(page, 'Browse');
    const rows = page.locator('.rows .listen');
    const [slow, last] = [rows.nth(2), rows.nth(4)];
    const slowId = await slow.getAttribute('value');
    await page.route(`**/sounds/${slowId}`, async (route) => {
      await last.click(); // before the answer comes
      await route.continue();
    });
    await slow.click();
    await expect.poll(() => last.getAttribute('aria-current')).toBe('true');
    await untilPlaying(page);
    const title = await playing(page);
    expect(await last.locator('strong').innerText()).toContain(title);
    expect(await slow.getAttribute('aria-current')).toBeNull();
    await open(page, 'History');
    await expect.poll(() => page.locator('.rows strong').allTextContents()).toEqual([title, first]);
    expect(counted).toEqual({ requests: 1, plays: 2 });
  });
});

test('a click on the playing sound pauses it, and four clicks are one play', async ({ visit }) => {
  await visit(phone, async (page) => {
    const counted = countPlays(page);
    await listen(page);
    await open(page, 'Browse');
    const row = page.locator('.rows .listen').nth(3);
    const title = await row.locator('strong').innerText();
    await row.click({ clickCount: 4 });
    await expect.poll(() => playing(page)).toBe(title);
    await expect.poll(() => position(page)).toBeGreaterThan(0);
    await row.click();
    await button(page, 'Play').waitFor();
    await row.click();
    await untilPlaying(page);
    await expect.poll(() => counted.plays).toBe(2);
  });
});

test('a phone shows the cover and the time of the playing sound, and marks it in the list', async ({
  visit,
}) => {
  await visit(phone, async (page) => {
    await listen(page);
    await open(page, 'Browse');
    const row = page.locator('.rows .listen').nth(1);
    await row.click();
    await untilPlaying(page);
    await expect.poll(() => page.locator('#bar time').innerText()).toMatch(/^0:0\d\s\/\s0:\d\d$/);
    await expect
      .poll(() => page.evaluate("document.querySelector('#bar img').naturalWidth"))
      .toBeGreaterThan(0);
    for (const part of ['img', 'time']) expect(await page.locator(`#bar ${part}`).isVisible()).toBe(true);
    expect(await page.locator('.listen[aria-current="true"]').count()).toBe(1);
    expect(
      await page.evaluate(
        "getComputedStyle(document.querySelector('.listen[aria-current] strong'), '::before').content",
      ),
    ).toContain('▶');
  });
});

test('Next and Previous go through the list, stop at its ends and keep the focus', async ({ visit }) => {
  await visit(desk, async (page) => {
    await listen(page);
    const [first, previous] = [await playing(page), button(page, 'Previous')];
    expect(await previous.getAttribute('aria-disabled')).toBe('true');
    await button(page, 'Next').focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => playing(page)).not.toBe(first);
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Next');
    await previous.click();
    await expect.poll(() => playing(page)).toBe(first);
    await untilPlaying(page);
  });
});

test('the next sound follows at the end, or the same one with Repeat', async ({ visit }) => {
  await visit(desk, async (page) => {
    const counted = countPlays(page);
    await listen(page);
    const first = await playing(page);
    const toTheEnd = async () => {
      const seek = page.getByLabel('Position');
      await seek.fill(String(Math.floor(Number(await seek.getAttribute('max'))) - 1));
    };
    await button(page, 'Repeat').click();
    await toTheEnd();
    await expect.poll(() => position(page)).toBeGreaterThan(10);
    await expect.poll(() => position(page)).toBeLessThan(10);
    expect(await playing(page)).toBe(first);
    await button(page, 'Repeat').click();
    await toTheEnd();
    await expect.poll(() => playing(page)).not.toBe(first);
    await expect.poll(() => counted.plays).toBe(2);
  });
});

test('the sleep timer pauses a playing or loading sound after its minutes', async ({ visit }) => {
  await visit(desk, async (page) => {
    await page.clock.install();
    await page.reload();
    await listen(page);
    const timer = page.getByLabel('Sleep timer');
    await timer.selectOption('5 min');
    await timer.selectOption('No timer');
    await page.clock.fastForward('05:01');
    expect(await button(page, 'Pause').isVisible()).toBe(true);

    await timer.selectOption('15 min');
    await page.clock.fastForward('14:00');
    expect(await button(page, 'Pause').isVisible()).toBe(true);
    await page.clock.fastForward('01:01');
    await button(page, 'Play').waitFor();
    expect(await timer.inputValue()).toBe('0');

    await timer.selectOption('5 min');
    const held = Promise.withResolvers<void>();
    await page.route('**/api/v1/sounds/*', async (route) => {
      await held.promise;
      await route.continue();
    });
    await button(page, 'Next').click();
    await page.locator('#bar').getByText('Loading').waitFor();
    await page.clock.fastForward('05:01');
    await button(page, 'Play').waitFor();
    held.resolve();
    await page.unrouteAll({ behavior: 'wait' });
    await button(page, 'Play').click();
    await untilPlaying(page);
  });
});

test('the lock screen shows the playing sound, and its buttons control it', async ({ visit }) => {
  await visit(desk, async (page) => {
    await page.addInitScript(`{
      const session = navigator.mediaSession;
      const set = session.setActionHandler.bind(session);
      globalThis.handlers = {};
      session.setActionHandler = (action, handler) => {
        handlers[action] = handler;
        set(action, handler);
      };
    }`);
    await page.reload();
    await listen(page);
    const press = (action: string, seekTime?: number) =>
      page.evaluate(`handlers.${action}(${JSON.stringify({ action, seekTime })})`);
    const shown = () => page.evaluate('navigator.mediaSession.metadata?.title');
    const state = () => page.evaluate('navigator.mediaSession.playbackState');
    const first = await playing(page);
    expect(await shown()).toBe(first);
    expect(await page.evaluate('navigator.mediaSession.metadata.artwork[0].src')).toBe(
      await page.locator('#bar img').getAttribute('src'),
    );
    for (const _ of ['once', 'again']) {
      await press('pause');
      await button(page, 'Play').waitFor();
    }
    await expect.poll(state).toBe('paused');
    for (const _ of ['once', 'again']) {
      await press('play');
      await untilPlaying(page);
    }
    await press('seekto', 10);
    await expect.poll(() => position(page)).toBeGreaterThanOrEqual(10);
    await press('nexttrack');
    await expect.poll(shown).not.toBe(first);
    expect(await playing(page)).toBe(await shown());
    await press('previoustrack');
    await expect.poll(shown).toBe(first);
    await press('stop');
    await expect.poll(state).toBe('none');
    expect(await page.locator('#bar').isVisible()).toBe(false);
  });
});

test('the volume can be set, except on platforms that do not allow it', async ({ visit }) => {
  await visit(desk, async (page) => {
    await page.addInitScript(`globalThis.Audio = class extends Audio {
      constructor() {
        super();
        globalThis.audio = this;
      }
    }`);
    await page.reload();
    await listen(page);
    await page.getByLabel('Volume').fill('0.25');
    expect(await page.evaluate('audio.volume')).toBe(0.25);

    await page.addInitScript(
      `Object.defineProperty(HTMLMediaElement.prototype, 'volume', { get: () => 1, set() {} })`,
    );
    await page.reload();
    await page.locator('.listen').first().waitFor();
    expect(await page.locator('#bar').isVisible()).toBe(true);
    expect(await page.getByLabel('Volume').isVisible()).toBe(false);
  });
});

test('a sound whose file is missing says so, and plays once the file is back', async ({ visit }) => {
  await visit(desk, async (page) => {
    await listen(page);
    await page.route(isAudio, (route) => route.fulfill({ status: 500 }));
    await button(page, 'Next').click();
    await page.getByText('This sound cannot be played now.').waitFor();
    await page.locator('#bar').getByRole('button', { name: 'Try again' }).click();
    await page.getByText('This sound cannot be played now.').waitFor();
    await page.unroute(isAudio);
    await open(page, 'Browse');
    await page.locator('.listen[aria-current]').click();
    await untilPlaying(page);
  });
});

test('a hidden sound says that it is no longer there', async ({ dev, visit }) => {
  await visit(desk, async (page) => {
    await listen(page);
    const row = page.locator('.cards .listen').last();
    const id = (await row.getAttribute('value')) ?? '';
    await dev.sql`update public.sounds set is_active = false where id = ${id}`;
    await row.click();
    await page.locator('#bar').getByText('It is no longer there.').waitFor();
    await dev.sql`update public.sounds set is_active = true where id = ${id}`;
    await page.locator('#bar').getByRole('button', { name: 'Try again' }).click();
    await untilPlaying(page);
  });
});

test('the sound, its position, its list and the volume survive a reload', async ({ visit }) => {
  await visit(desk, async (page) => {
    await listen(page);
    const title = await playing(page);
    await page.getByLabel('Volume').fill('0.25');
    await page.getByLabel('Position').fill('15');
    await button(page, 'Pause').click();
    await page.reload();
    expect(await playing(page)).toBe(title);
    expect(await position(page)).toBeGreaterThanOrEqual(15);
    expect(await page.getByLabel('Volume').inputValue()).toBe('0.25');
    await button(page, 'Play').click();
    await untilPlaying(page);
    expect(await position(page)).toBeGreaterThanOrEqual(15);
    await button(page, 'Next').click();
    await expect.poll(() => playing(page)).not.toBe(title);
    await open(page, 'Account');
    await button(page, 'Sign out').click();
    await page.reload();
    await button(page, 'Sign in').waitFor();
    expect(await page.locator('#bar').isVisible()).toBe(false);
  });
});

test('Space pauses and plays, and the arrows seek, except in a search field', async ({ visit }) => {
  await visit(desk, async (page) => {
    await listen(page);
    await page.locator('main').focus();
    await page.keyboard.press('Space');
    await button(page, 'Play').waitFor();
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => position(page)).toBeGreaterThanOrEqual(10);
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => position(page)).toBeLessThan(10);
    await page.keyboard.press('Space');
    await untilPlaying(page);
    await open(page, 'Browse');
    await page.getByLabel('Search sounds').pressSequentially('deep rain');
    expect(await page.getByLabel('Search sounds').inputValue()).toBe('deep rain');
    await button(page, 'Pause').waitFor();
  });
});

test('a phone has a bar of 64 pixels, which opens on the whole screen, whatever the title', async ({
  dev,
  visit,
}) => {
  const title = 'A very long title '.repeat(8).slice(0, 136);
  await dev.sql`insert into public.sounds (title, sort_order) values (${title}, -2000)`;
  onTestFinished(async () => {
    await dev.sql`delete from public.sounds where title = ${title}`;
  });
  await visit(phone, async (page) => {
    await button(page, 'Listen with the demo account').click();
    await page.locator('#bar').getByText('There is no audio of this sound.').waitFor();
    const height = async () => (await page.locator('#bar').boundingBox())?.height;
    expect(await height()).toBe(64);
    await button(page, 'Now playing').click();
    expect(await height()).toBe(900);
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Close');
    for (const control of ['Previous', 'Next', 'Repeat', 'Try again'])
      expect(await button(page, control).isVisible(), control).toBe(true);
    expect(await fits(page)).toBe(true);
    await page.keyboard.press('Escape');
    expect(await height()).toBe(64);
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Now playing');
  });
});

import { expect } from 'vitest';
import {
  button,
  countPlays,
  isAudio,
  listen,
  open,
  phone,
  playing,
  position,
  test,
  untilPlaying,
} from './fixture.ts';

test('what was clicked last plays, is named and is counted, and nothing else', async ({ visit }) => {
  await visit(phone, async (page) => {
    await listen(page);
    await open(page, 'Browse');
    const counted = countPlays(page);
    const rows = page.locator('.rows .listen');
    const [slow, last] = [rows.nth(2), rows.nth(4)];
    const slowId = await slow.getAttribute('value');
    await page.route(`**/sounds/${slowId}`, async (route) => {
      await last.click(); // before the answer comes
      await route.continue();
    });
    const answered = page.waitForResponse('**/api/v1/plays');
    await slow.click();
    await expect.poll(() => last.getAttribute('aria-current')).toBe('true');
    await answered;
    const title = await playing(page);
    expect(await last.locator('strong').innerText()).toContain(title);
    expect(await slow.getAttribute('aria-current')).toBeNull();
    await open(page, 'History');
    expect(await page.locator('.rows strong').first().innerText()).toContain(title);
    expect(counted.plays).toBe(1);
  });
});

test('a click on what plays pauses it, and four clicks are one play', async ({ visit }) => {
  await visit(phone, async (page) => {
    await listen(page);
    await open(page, 'Browse');
    const counted = countPlays(page);
    const row = page.locator('.rows .listen').nth(3);
    await row.click({ clickCount: 4 });
    await expect.poll(() => counted.plays).toBe(1);
    await untilPlaying(page);
    await row.click();
    await button(page, 'Play').waitFor();
    await row.click();
    await untilPlaying(page);
    expect(counted.plays).toBe(1);
  });
});

test('a phone shows the cover and the time of what plays, and marks it in the list', async ({ visit }) => {
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

test('next and previous go through the list, end at its ends, and keep the focus', async ({ visit }) => {
  await visit(phone, async (page) => {
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

test('a sound goes on from its end to the next one, or to its beginning when it repeats', async ({
  visit,
}) => {
  await visit(phone, async (page) => {
    await listen(page);
    const counted = countPlays(page);
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
    expect(counted.plays).toBe(0);
    await button(page, 'Repeat').click();
    await toTheEnd();
    await expect.poll(() => playing(page)).not.toBe(first);
    await expect.poll(() => counted.plays).toBe(1);
  });
});

test('the sleep timer pauses after its minutes, also what is only loading, unless it is switched off', async ({
  visit,
}) => {
  await visit(phone, async (page) => {
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

test('the lock screen shows what plays, and its buttons do what they say', async ({ visit }) => {
  await visit(phone, async (page) => {
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

test('the volume can be set, where the platform does not keep that to itself', async ({ visit }) => {
  await visit(phone, async (page) => {
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
    await page.locator('.listen').first().click();
    await untilPlaying(page);
    expect(await page.getByLabel('Volume').isVisible()).toBe(false);
  });
});

test('a sound whose file is not to be had says so, and plays once it is back', async ({ visit }) => {
  await visit(phone, async (page) => {
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

test('a sound that is gone says so', async ({ dev, visit }) => {
  await visit(phone, async (page) => {
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

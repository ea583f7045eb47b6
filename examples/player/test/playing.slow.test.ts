import { expect } from 'vitest';
import { button, focused, listen, next, open, playing, position, test, untilPlays } from './fixture.ts';

test.beforeAll(({ site }) => void site);

/** Code that makes the audio element of the next page and its amplifier global variables. */
const noteAudio = `{
  globalThis.Audio = class extends Audio { constructor() { globalThis.audio = super(); } };
  const { createGain } = AudioContext.prototype;
  AudioContext.prototype.createGain = function () { return (globalThis.amplifier = createGain.call(this)); };
}`;

test('the sound that was clicked last plays, counts once, pauses and leaves the history', async ({ site, visit }) => {
  await visit('desk', async (page) => {
    const plays = async () => (await site.sql`select sum(plays)::int from public.play_counts`)[0]?.['sum'] ?? 0;
    const before = await plays();
    await page.addInitScript(noteAudio);
    await page.reload();
    await listen(page);
    const first = await playing(page);
    await open(page, 'Browse');
    const rows = page.locator('.rows .listen');
    const [slow, last] = [rows.nth(2), rows.nth(4)];
    await page.route(`**/sounds/${await slow.getAttribute('value')}`, async (route) => {
      await last.click({ clickCount: 4 }); // before the response arrives
      await route.continue();
    });
    await slow.click();
    await expect.poll(() => last.getAttribute('aria-current')).toBe('true');
    await untilPlays(page);
    const title = await playing(page);
    expect(await last.locator('strong').innerText()).toContain(title);
    expect(await slow.getAttribute('aria-current')).toBeNull();
    await last.click();
    await button(page, 'Play').waitFor();
    await last.click();
    await untilPlays(page);

    // A repetition does not count as a play. Without repetition, the next sound follows.
    const seekToTheEnd = 'audio.currentTime = audio.duration - 0.2';
    await button(page, 'Repeat').click();
    await page.evaluate(`audio.addEventListener('seeked', () => { audio.isAtStart = audio.currentTime < 10; });
      ${seekToTheEnd}`);
    await expect.poll(() => page.evaluate('audio.isAtStart')).toBe(true);
    expect(await playing(page)).toBe(title);
    await button(page, 'Repeat').click();
    await page.evaluate(seekToTheEnd);
    await expect.poll(() => playing(page)).not.toBe(title);
    await untilPlays(page);
    const titles = [await playing(page), title, first];
    await open(page, 'History');
    await expect.poll(() => page.locator('.rows strong').allTextContents()).toEqual(titles);
    expect(await plays()).toBe(before + 3);

    await page.locator('.rows .remove').first().click();
    await expect.poll(() => page.locator('.rows strong').count()).toBe(2);
    expect(await focused(page)).toBe(`Remove from the history: ${title}`);
    await button(page, 'Clear the history').click();
    await page.getByText('The history is empty.').waitFor();
  });
});

test('the sleep timer and the lock screen control the sound', async ({ visit }) => {
  await visit('desk', async (page) => {
    await page.clock.install();
    await page.addInitScript(`{
      const session = navigator.mediaSession;
      globalThis.handlers = {};
      session.setActionHandler = (action, handler) => {
        handlers[action] = handler;
        MediaSession.prototype.setActionHandler.call(session, action, handler);
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
    const artwork = await page.evaluate('navigator.mediaSession.metadata.artwork[0].src');
    expect(artwork).toBe(await page.locator('#bar img').getAttribute('src'));
    for (const action of ['pause', 'pause', 'play', 'play']) {
      await press(action);
      await button(page, action === 'pause' ? 'Play' : 'Pause').waitFor();
      await expect.poll(state).toBe(action === 'pause' ? 'paused' : 'playing');
    }
    await press('seekto', 10);
    await expect.poll(() => position(page)).toBeGreaterThanOrEqual(10);
    await press('nexttrack');
    await expect.poll(shown).not.toBe(first);
    expect(await playing(page)).toBe(await shown());
    await press('previoustrack');
    await expect.poll(shown).toBe(first);
    await untilPlays(page);

    const timer = page.getByLabel('Sleep timer');
    await timer.selectOption('5 min');
    await timer.selectOption('No timer');
    await page.clock.fastForward('05:01');
    await timer.selectOption('15 min');
    await page.clock.fastForward('14:00');
    expect(await button(page, 'Pause').isVisible()).toBe(true);
    await page.clock.fastForward('01:01');
    await button(page, 'Play').waitFor();
    expect(await timer.inputValue()).toBe('0');
    await timer.selectOption('5 min');
    const held = Promise.withResolvers<void>();
    await page.route('**/api/v1/sounds/*', (route) => held.promise.then(() => route.continue()));
    await button(page, 'Next').click();
    await page.locator('#bar').getByText('Loading').waitFor();
    await page.clock.fastForward('05:01');
    await button(page, 'Play').waitFor();
    held.resolve();
    await page.unrouteAll({ behavior: 'wait' });
    await button(page, 'Play').click();
    await untilPlays(page);

    await press('stop');
    await expect.poll(state).toBe('none');
    expect(await page.locator('#bar').isVisible()).toBe(false);
  });
});

test('a sound that fails shows the reason, and plays after the cause is removed', async ({ site, desk: page }) => {
  const bar = page.locator('#bar');
  await page.route('**/object/sign/audio/**', (route) => route.fulfill({ status: 500 }));
  await button(page, 'Next').click();
  await bar.getByText('This sound cannot be played now.').waitFor();
  await button(page, 'Try again').click();
  await bar.getByText('This sound cannot be played now.').waitFor();
  await page.unrouteAll();
  await page.locator('.listen[aria-current]').first().click();
  await untilPlays(page);

  const row = page.locator('.cards .listen').last();
  const id = (await row.getAttribute('value')) ?? '';
  await site.sql`update public.sounds set is_active = false where id = ${id}`;
  await row.click();
  await bar.getByText('It is no longer there.').waitFor();
  await site.sql`update public.sounds set is_active = true where id = ${id}`;
  await button(page, 'Try again').click();
  await untilPlays(page);
});

test('the keyboard reaches the bar before the lists, and controls the sound', async ({ desk: page }) => {
  const [previous, first] = [button(page, 'Previous'), await playing(page)];
  expect(await previous.getAttribute('aria-disabled')).toBe('true');
  await button(page, 'Next').focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => playing(page)).not.toBe(first);
  expect(await focused(page)).toBe('Next');
  await previous.click();
  await expect.poll(() => playing(page)).toBe(first);
  await untilPlays(page);

  await page.locator('main').focus();
  await page.keyboard.press('Space');
  await button(page, 'Play').waitFor();
  await page.keyboard.press('ArrowRight');
  await expect.poll(() => position(page)).toBeGreaterThanOrEqual(10);
  await page.keyboard.press('ArrowLeft');
  await expect.poll(() => position(page)).toBeLessThan(10);
  for (let count = 0; count < 4; count += 1) await page.keyboard.down('Space'); // a key that is held repeats
  await page.keyboard.up('Space');
  await untilPlays(page);

  // Screen readers read each change of the text aloud.
  await page.evaluate(`globalThis.changes = 0;
    new MutationObserver(({ length }) => { changes += length; })
      .observe(document.querySelector('[aria-label="Position"]'), { attributeFilter: ['aria-valuetext'] })`);
  const before = await position(page);
  await expect.poll(() => position(page)).toBeGreaterThan(before + 2);
  expect(await page.evaluate('changes')).toBe(0);
  const seek = page.getByLabel('Position');
  await button(page, 'Now playing').click();
  await seek.press('ArrowRight');
  expect(await seek.getAttribute('aria-valuetext')).toBe(await page.locator('#bar time').innerText());
  await page.keyboard.press('Escape');

  await open(page, 'Browse');
  const isInBar = () => page.evaluate('document.activeElement.closest("#bar") !== null');
  await page.keyboard.press('Shift+Tab');
  expect(await isInBar()).toBe(true);
  await page.getByRole('link', { name: 'Account' }).focus();
  await page.keyboard.press('Tab');
  expect(await isInBar()).toBe(true);
  const search = page.getByLabel('Search sounds');
  await search.pressSequentially('deep rain');
  expect(await search.inputValue()).toBe('deep rain');
  await button(page, 'Pause').waitFor();
});

test('only one tab plays', async ({ site, phone: page }) => {
  const other = await page.context().newPage();
  await other.goto(site.url);
  await other.locator('.cards .listen').first().click();
  await untilPlays(other);
  await button(page, 'Play').waitFor();
});

test('the sound, its position, its list, the volume and even loudness survive a reload', async ({
  site,
  desk: page,
}) => {
  await page.addInitScript(noteAudio);
  const title = await playing(page);
  await site.sql`update public.sounds set loudness_lufs = -27, true_peak_dbtp = -10 where title = ${title}`;
  const [volume, isEven] = [page.getByLabel('Volume'), button(page, 'Even loudness')];
  const wave = async () => (await page.locator('.wave').getAttribute('style'))?.length;
  await volume.fill('0.25');
  await page.getByLabel('Position').fill('15');
  await button(page, 'Pause').click();
  const copied = page.waitForResponse((response) => response.url().includes('/catalogue/changes'));
  await page.reload();
  await expect.poll(() => playing(page)).toBe(title);
  expect(await position(page)).toBeGreaterThanOrEqual(15);
  await copied; // the player takes the loudness from the copy of the catalogue
  expect([await volume.inputValue(), await page.evaluate('audio.volume')]).toEqual(['0.25', 0.25]);
  await button(page, 'Play').click();
  await untilPlays(page);
  expect(await position(page)).toBeGreaterThanOrEqual(15);
  await volume.fill('0.5');
  expect(await page.evaluate('audio.volume')).toBe(0.5);
  const gain = () => page.evaluate<number>('amplifier.gain.value');
  await expect.poll(gain).toBeCloseTo(2.818, 2); // 9 dB
  await isEven.click();
  await expect.poll(gain).toBe(1);
  const line = await wave();
  await next(page);
  expect(await gain()).toBe(1);
  await expect.poll(wave).not.toBe(line);

  // Some platforms do not allow pages to set the volume.
  const fixed = '{ get: () => 1, set() {} }';
  await page.reload();
  expect(await isEven.getAttribute('aria-pressed')).toBe('false');
  await page.addInitScript(`Object.defineProperty(HTMLMediaElement.prototype, 'volume', ${fixed})`);
  await page.reload();
  await page.locator('.listen').first().waitFor();
  expect(await page.locator('#bar').isVisible()).toBe(true);
  expect([await volume.isVisible(), await isEven.isVisible()]).toEqual([false, false]);
  await open(page, 'Account');
  await button(page, 'Sign out').click();
  await page.reload();
  await button(page, 'Sign in').waitFor();
  expect(await page.locator('#bar').isVisible()).toBe(false);
});

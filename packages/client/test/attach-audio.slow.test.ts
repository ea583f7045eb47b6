/** @module-tag browser */
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { tone } from '../../../test/support/audio.ts';
import { test } from './page.ts';

/** Serves a recording to a page. Its address is valid until a new one is requested. */
async function serveRecording(page: Page) {
  const recording = tone(60);
  const service = { valid: 0, renewals: 0, outage: 'none' };
  await page.exposeFunction('renew', () => {
    if (service.outage === 'service') throw new Error('It does not answer.');
    service.renewals += 1;
    return ++service.valid;
  });
  await page.route('**/audio/*', (route) => {
    const isValid = route.request().url().endsWith(`/audio/${service.valid}`);
    if (service.outage === 'files' || !isValid) return route.fulfill({ status: 400 });
    const [first = 0] = (route.request().headers()['range']?.match(/\d+/g) ?? []).map(Number);
    const body = recording.subarray(first, first + 100_000);
    const range = `bytes ${first}-${first + body.length - 1}/${recording.length}`;
    const headers = { 'Content-Type': 'audio/wav', 'Accept-Ranges': 'bytes', 'Content-Range': range };
    return route.fulfill({ status: 206, headers, body });
  });
  await page.evaluate(`import('/client.js').then(({ attachAudio }) => {
    const address = (number, lifetimeMs) => globalThis.audio = {
      id: 'a sound',
      url: location.origin + '/audio/' + number,
      expiresAt: new Date(Date.now() + lifetimeMs),
      renew: async () => address(await renew(), 300_000),
    };
    globalThis.detach = () => {};
    globalThis.saved = [];
    globalThis.flushed = [];
    const progress = {
      save: async (id, seconds) => void saved.push([id, seconds && Math.floor(seconds)]),
      flush: async (options) => void flushed.push(options),
    };
    globalThis.attach = (number, lifetimeMs) => {
      detach();
      globalThis.element = new Audio();
      element.muted = true; // browsers play muted audio without a click
      globalThis.failures = 0;
      globalThis.detach = attachAudio(element, address(number, lifetimeMs), { onFailure: () => failures++, progress });
    };
  })`);
  const isLoaded = () => expect.poll(() => page.evaluate('element.readyState')).toBeGreaterThan(1);
  const state = () =>
    page.evaluate('({ isPlaying: !element.paused && element.currentTime > 0, at: Math.floor(element.currentTime) })');
  return {
    service,
    state,
    isLoaded,
    /** Attaches the recording at its valid address. @param lifetimeMs lifetime that `expiresAt` states */
    attach: async (lifetimeMs: number) => {
      await page.evaluate(`attach(${service.valid}, ${lifetimeMs})`);
      await isLoaded();
    },
    play: async () => {
      await page.evaluate('void element.play().catch(() => {})');
      await expect.poll(state).toMatchObject({ isPlaying: true });
    },
    seekTo: (seconds: number) => page.evaluate(`void (element.currentTime = ${seconds})`),
  };
}

test('attachAudio renews an address that fails, or has expired before a play or a seek', async ({ open }) => {
  const page = await open();
  const { service, state, attach, isLoaded, play, seekTo } = await serveRecording(page);
  await attach(0);
  service.valid += 1;
  await seekTo(30);
  await expect.poll(() => service.renewals).toBe(1);
  await isLoaded();
  expect(await state()).toEqual({ isPlaying: false, at: 30 });

  await attach(0);
  service.valid += 1;
  await play();
  expect(service.renewals).toBe(2);
  await page.evaluate('void (audio.expiresAt = new Date(0))');
  await seekTo(40);
  await expect.poll(() => service.renewals).toBe(3);
  await expect.poll(state).toEqual({ isPlaying: true, at: 40 });

  await attach(300_000);
  await play();
  service.valid += 1;
  await seekTo(40);
  await expect.poll(() => service.renewals).toBe(4);
  await expect.poll(state).toEqual({ isPlaying: true, at: 40 });
  expect(service.renewals).toBe(4);
});

test.for(['service', 'files'])('a sound without its %s fails once, then plays on', async (outage, { open }) => {
  const page = await open();
  const { service, state, attach, play, seekTo } = await serveRecording(page);
  await attach(300_000);
  await play();
  service.valid += 1;
  service.outage = outage;
  await seekTo(40);
  await expect.poll(() => page.evaluate('failures')).toBe(1);
  expect(await page.evaluate('element.paused')).toBe(true);
  service.outage = 'none';
  await play();
  await expect.poll(state).toMatchObject({ at: 40 });
  expect(await page.evaluate('failures')).toBe(1);
});

test('attachAudio saves positions from which a sound can continue', async ({ open }) => {
  const page = await open();
  const { service, attach, play, seekTo } = await serveRecording(page);
  const lastSaved = () => page.evaluate('saved.at(-1)');
  await attach(300_000);
  await play();
  await seekTo(14);
  await page.evaluate('element.pause()');
  await expect.poll(() => page.evaluate('element.seeking')).toBe(false);
  expect(await lastSaved()).toBeUndefined();
  await play();
  await seekTo(30);
  await expect.poll(lastSaved).toEqual(['a sound', 30]);
  await seekTo(45);
  await expect.poll(lastSaved).toEqual(['a sound', null]);
  await seekTo(35);
  await expect.poll(lastSaved).toEqual(['a sound', 35]);
  service.valid += 1;
  service.outage = 'service';
  await seekTo(20);
  await expect.poll(() => page.evaluate('failures')).toBe(1);
  expect(await lastSaved()).not.toEqual(['a sound', null]);
  service.outage = 'none';
  await play();
  await seekTo(3);
  await expect.poll(lastSaved).toEqual(['a sound', null]);
  await page.evaluate('element.loop = true, saved.length = 0');
  await seekTo(30);
  await page.evaluate('element.pause()');
  await expect.poll(() => page.evaluate('element.seeking')).toBe(false);
  expect(await lastSaved()).toBeUndefined();
});

test('attachAudio saves no position of an element that has not played since the last one', async ({ open }) => {
  const page = await open();
  const { service, attach, play, seekTo } = await serveRecording(page);
  const saved = () => page.evaluate('saved.splice(0)');
  const seeked = async (seconds: number) => {
    await seekTo(seconds);
    await expect.poll(() => page.evaluate('element.seeking')).toBe(false);
  };
  await attach(300_000);
  await seeked(20); // a start that only shows where the listener was
  await page.evaluate('detach()');
  expect(await saved()).toEqual([]);

  await attach(300_000);
  await seeked(20);
  await play();
  await expect.poll(saved).toEqual([['a sound', 20]]);
  await page.waitForFunction('element.currentTime > 21');
  await page.evaluate("dispatchEvent(new Event('pagehide'))"); // the page goes away, and comes back
  expect(await saved()).toEqual([['a sound', 21]]);
  expect(await page.evaluate('flushed')).toEqual([{ keepalive: true }]);
  await page.evaluate('element.pause()');
  await expect.poll(saved).not.toEqual([]);
  await seeked(40);
  service.outage = 'service';
  await page.evaluate('void (audio.expiresAt = new Date(0))');
  await seekTo(30);
  await expect.poll(() => page.evaluate('failures')).toBe(1);
  await page.evaluate('detach()');
  expect(await saved()).toEqual([]);
});

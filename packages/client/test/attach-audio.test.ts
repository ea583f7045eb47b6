import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished } from 'vitest';
import { tone } from '../../../test/support/audio.ts';
import { canRunBrowser, inBrowser } from '../../../test/support/browser.ts';
import { test } from '../../../test/support/test.ts';
import { bundleClient } from './bundle.ts';

/** A page with the client, and a recording whose address is valid until the next one is asked for. */
async function servePage() {
  const recording = tone(60);
  const asked: string[] = [];
  let valid = 0;
  let isDown = false;
  const module = await bundleClient();
  const server = createServer(({ url = '', headers: { range } }, response) => {
    if (url === '/client.js') return void response.setHeader('Content-Type', 'text/javascript').end(module);
    if (url === '/valid') return void response.end(String(valid));
    if (url === '/renew') {
      asked.push('renew');
      return void response.end(String(++valid));
    }
    if (!url.startsWith('/audio/'))
      return void response
        .setHeader('Content-Type', 'text/html')
        .end('<!doctype html><link rel="icon" href="data:,">');
    response.setHeader('Access-Control-Allow-Origin', '*');
    if (isDown || url !== `/audio/${valid}`) return void response.writeHead(400).end();
    const [first = 0, last = recording.length - 1] = (range?.match(/\d+/g) ?? []).map(Number);
    const part = recording.subarray(first, Math.min(last + 1, first + 100_000));
    response.writeHead(206, {
      'Content-Type': 'audio/wav',
      'Accept-Ranges': 'bytes',
      'Content-Range': `bytes ${first}-${first + part.length - 1}/${recording.length}`,
    });
    response.end(part);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    renewals: () => asked.length,
    expire: () => ++valid,
    /** Makes all addresses fail. */
    setDown: (value: boolean) => {
      isDown = value;
    },
  };
}

/** Attaches the recording on a page. @param lifetimeMs of its address, as the app was told */
const attach = (lifetimeMs: number) => `(async () => {
  const first = await (await fetch('/valid')).text();
  const { attachAudio } = await import('/client.js');
  const address = (number, lifetimeMs) => globalThis.audio = {
    url: location.origin + '/audio/' + number,
    expiresAt: new Date(Date.now() + lifetimeMs),
    renew: async () => {
      if (globalThis.isServiceDown) throw new Error('It does not answer.');
      return address(await (await fetch('/renew')).text(), 300_000);
    },
  };
  globalThis.element = new Audio();
  element.muted = true; // a page may play that without a click
  globalThis.failures = 0;
  globalThis.detach = attachAudio(element, address(first, ${lifetimeMs}), () => failures++);
})()`;

const state =
  '({ isPlaying: !element.paused && element.currentTime > 0, at: Math.floor(element.currentTime) })';

test('an expired address is renewed before a play or a seek, and only a playing sound plays on', async ({
  skip,
}) => {
  skip(!canRunBrowser, 'Install chromium to play audio in a browser.');
  const { origin, renewals, expire } = await servePage();
  await inBrowser(origin, { width: 1280, colorScheme: 'light' }, async (page) => {
    const isLoaded = () => expect.poll(() => page.evaluate('element.readyState')).toBeGreaterThan(1);
    await page.evaluate(attach(0));
    await isLoaded();
    expire();
    await page.evaluate('void (element.currentTime = 30)');
    await expect.poll(renewals).toBe(1);
    await isLoaded();
    expect(await page.evaluate(state)).toEqual({ isPlaying: false, at: 30 });

    await page.evaluate(`detach(), ${attach(0)}`);
    await isLoaded();
    expire();
    await page.evaluate('void element.play().catch(() => {})');
    await expect.poll(() => page.evaluate(state)).toMatchObject({ isPlaying: true });
    expect(renewals()).toBe(2);

    await page.evaluate(`detach(), ${attach(300_000)}`);
    await page.evaluate('element.play()');
    await expect.poll(() => page.evaluate(state)).toMatchObject({ isPlaying: true });
    await page.evaluate('void (audio.expiresAt = new Date(0), element.currentTime = 40)');
    await expect.poll(renewals).toBe(3);
    await expect.poll(() => page.evaluate(state)).toEqual({ isPlaying: true, at: 40 });
  });
});

test('an address that fails during playback is renewed once, and the sound goes on', async ({ skip }) => {
  skip(!canRunBrowser, 'Install chromium to play audio in a browser.');
  const { origin, renewals, expire } = await servePage();
  await inBrowser(origin, { width: 1280, colorScheme: 'light' }, async (page) => {
    await page.evaluate(attach(300_000));
    await page.evaluate('element.play()');
    await expect.poll(() => page.evaluate(state)).toMatchObject({ isPlaying: true });
    expire();
    await page.evaluate('void (element.currentTime = 40)');
    await expect.poll(renewals).toBe(1);
    await expect.poll(() => page.evaluate(state)).toEqual({ isPlaying: true, at: 40 });
    expect(renewals()).toBe(1);
  });
});

test('a sound that cannot play on is reported once, and goes on with the next play', async ({ skip }) => {
  skip(!canRunBrowser, 'Install chromium to play audio in a browser.');
  const { origin, expire, setDown } = await servePage();
  await inBrowser(origin, { width: 1280, colorScheme: 'light' }, async (page) => {
    const outages = {
      'of the service': (value: boolean) => page.evaluate(`void (globalThis.isServiceDown = ${value})`),
      'of its files': setDown,
    };
    for (const [outage, setOutage] of Object.entries(outages)) {
      await page.evaluate(attach(300_000));
      await page.evaluate('element.play()');
      await expect.poll(() => page.evaluate(state)).toMatchObject({ isPlaying: true });
      expire();
      await setOutage(true);
      await page.evaluate('void (element.currentTime = 40)');
      await expect.poll(() => page.evaluate('failures'), { message: outage }).toBe(1);
      expect(await page.evaluate('element.paused')).toBe(true);
      await setOutage(false);
      await page.evaluate('void element.play().catch(() => {})');
      await expect.poll(() => page.evaluate(state), { message: outage }).toEqual({ isPlaying: true, at: 40 });
      expect(await page.evaluate('failures')).toBe(1);
      await page.evaluate('detach()');
    }
  });
});

import { LOCAL_KEYS } from 'local-supabase/keys';
import { expect } from 'vitest';
import { button, desk, listen, position, test, untilPlaying } from './fixture.ts';

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

const isLong = (address: URL) => address.pathname.endsWith('/long.wav');

/** The demo user hears a long recording first. */
const testLong = test.extend<{ $file: { long: string } }>({
  long: [
    async ({ dev: { supabaseUrl, sql } }, use) => {
      const { secretKey } = LOCAL_KEYS;
      const headers = {
        apikey: secretKey,
        Authorization: `Bearer ${secretKey}`,
        'Content-Type': 'audio/wav',
      };
      const object = `${supabaseUrl}/storage/v1/object/audio/long.wav`;
      expect((await fetch(object, { method: 'POST', headers, body: longRecording() })).status).toBe(200);
      await sql`insert into public.sounds (title, audio_path, sort_order) values ('A long one', 'long.wav', -1000)`;
      await use('A long one');
    },
    { scope: 'file', auto: true },
  ],
});

testLong('a sound waits while there is no network, and plays on where it was', async ({ visit }) => {
  await visit(desk, async (page) => {
    await listen(page);
    await page.context().setOffline(true);
    await page.getByLabel('Position').fill('200');
    await page.locator('#bar').getByText('Waiting for the network …').waitFor();
    await page.context().setOffline(false);
    await expect.poll(() => position(page)).toBeGreaterThan(200);
    await page.getByText('Waiting for the network …').waitFor({ state: 'hidden' });
    await button(page, 'Pause').waitFor();
  });
});

testLong(
  'a sound goes on at its position when its address has expired in a long pause',
  async ({ visit }) => {
    await visit(desk, async (page) => {
      const addresses: string[] = [];
      page.on('request', (request) => isLong(new URL(request.url())) && addresses.push(request.url()));
      await listen(page);
      await expect.poll(() => position(page)).toBeGreaterThan(0);
      await button(page, 'Pause').click();
      await button(page, 'Play').waitFor();
      const expired = addresses[0];
      await page.route(isLong, (route) =>
        route.request().url() === expired ? route.fulfill({ status: 400 }) : route.continue(),
      );
      await page.getByLabel('Position').fill('200');
      await expect.poll(() => addresses.at(-1)).not.toBe(expired);
      await button(page, 'Play').click(); // it does not begin by itself
      await untilPlaying(page);
      await expect.poll(() => position(page)).toBeGreaterThan(200);
      expect(addresses.at(-1)).not.toBe(expired);
    });
  },
);

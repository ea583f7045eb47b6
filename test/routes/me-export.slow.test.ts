import { once } from 'node:events';
import { get, type RequestListener } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { expect } from 'vitest';
import { token } from '../support/access-token.ts';
import { withSupabase } from '../support/fake-supabase.ts';
import { test } from '../support/test.ts';

const piece = JSON.stringify('x'.repeat(50_000));

// The slowest client is disconnected after two windows of 6 s. The deadline of an export is a minute.
test('an export is read as fast as its client reads, and aborted below 64 KB/s', { timeout: 30_000 }, async () => {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  let sentBytes = 0;
  function* withoutEnd() {
    yield '[';
    for (;;) {
      sentBytes += piece.length;
      yield piece;
    }
  }
  const send: RequestListener = (_req, res) => {
    res.on('close', resolve).writeHead(200, { 'Content-Type': 'application/json' });
    void pipeline(Readable.from(withoutEnd()), res).catch(() => {});
  };
  await withSupabase(send, async (_api, { url }) => {
    const headers = { Authorization: `Bearer ${await token()}` };
    const call = get(`${url}/me/export`, { headers });
    const [response] = await once(call, 'response');
    const reading = setInterval(() => response.read(1_000), 100); // reads 10 KB/s
    response.on('error', () => {});
    await ended;
    clearInterval(reading);
    // Buffers of the kernel hold a few MB on each side of the gateway.
    expect(sentBytes).toBeLessThan(30_000_000);
  });
});

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, get, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';
import { request } from 'undici';
import { describe, expect } from 'vitest';
import { sharedSecret, token } from '../support/access-token.ts';
import { withSupabase } from '../support/fake-supabase.ts';
import { environment, residentMb, startListening } from '../support/server-process.ts';
import { test } from '../support/test.ts';

describe('exports that are larger than what a gateway should hold', () => {
  const pieces = 200; // 10 MB in all
  const piece = JSON.stringify('x'.repeat(50_000));
  const sendLarge: RequestListener = async (_req, res) => {
    res.writeHead(200, { 'Content-Type': 'application/json' });
    const all = Array.from({ length: pieces }, (_, index) => `${index === 0 ? '[' : ','}${piece}`);
    await pipeline(Readable.from([...all, ']']), res).catch(() => {});
  };

  test('twelve large exports at once take little memory', async ({ onTestFinished }) => {
    const upstream = createServer(sendLarge).listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    const { port } = upstream.address() as AddressInfo;
    const { child, exited, origin } = await startListening({
      ...environment(),
      SUPABASE_URL: `http://127.0.0.1:${port}`,
      SUPABASE_JWT_SECRET: sharedSecret,
    });
    onTestFinished(async () => {
      child.kill('SIGTERM');
      await exited;
      upstream.close();
    });
    expect((await fetch(`${origin}/healthz`)).status).toBe(200);
    const before = residentMb(child.pid);
    const running = { on: true, peakMb: 0 };
    const watching = (async () => {
      while (running.on) {
        running.peakMb = Math.max(running.peakMb, residentMb(child.pid));
        await setTimeout(20);
      }
    })();
    const exports = Array.from({ length: 12 }, async () => {
      const { statusCode, body } = await request(`${origin}/api/v1/me/export`, {
        headers: { Authorization: `Bearer ${await token(randomUUID())}` },
      });
      let length = 0;
      for await (const chunk of body) length += chunk.length;
      return [statusCode, length];
    });
    const sent = '{"data":[]}'.length + pieces * (piece.length + 1) - 1;
    expect(await Promise.all(exports)).toEqual(Array(12).fill([200, sent]));
    running.on = false;
    await watching;
    expect(running.peakMb - before).toBeLessThan(150);
  });

  // The slowest client is cut after two windows of 6 s; the deadline of an export is a minute.
  test('an export ends when its client reads less than 64 KB/s', { timeout: 30_000 }, async () => {
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    function* withoutEnd() {
      yield '[';
      for (;;) yield piece;
    }
    const send: RequestListener = (_req, res) => {
      res.on('close', resolve).writeHead(200, { 'Content-Type': 'application/json' });
      void pipeline(Readable.from(withoutEnd()), res).catch(() => {});
    };
    await withSupabase(send, async (_api, { url }) => {
      const headers = { Authorization: `Bearer ${await token()}` };
      const call = get(`${url}/me/export`, { headers });
      const [response] = await once(call, 'response');
      const reading = setInterval(() => response.read(1_000), 100); // 10 KB/s
      response.on('error', () => {});
      await ended;
      clearInterval(reading);
    });
  });
});

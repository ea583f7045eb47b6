import type { RequestListener } from 'node:http';
import { describe, expect, inject } from 'vitest';
import { withSupabase } from '../support/fake-supabase.ts';
import { password, test } from '../support/test.ts';

describe('the address of a client', () => {
  test('Supabase gets the address of the client, not that of the gateway', async () => {
    const seen: (string | string[] | undefined)[] = [];
    const noteHeaders: RequestListener = (req, res) => {
      seen.push(req.headers['sb-forwarded-for'], req.headers['apikey'], req.headers.authorization);
      res.writeHead(500).end();
    };
    await withSupabase(noteHeaders, async (api) => {
      await api
        .post('/auth/signin')
        .set('X-Forwarded-For', '203.0.113.7')
        .send({ email: 'a@example.com', password });
    });
    // No proxy is trusted here, so what the client claims about itself does not count.
    expect(seen).toEqual(['127.0.0.1', inject('stack').secretKey, undefined]);
  });

  test('Supabase gets the address without a port that a trusted proxy names', async () => {
    const seen: unknown[] = [];
    const noteAddress: RequestListener = (req, res) => {
      seen.push(req.headers['sb-forwarded-for']);
      res.writeHead(500).end();
    };
    const sent = {
      '203.0.113.7': '203.0.113.7',
      '203.0.113.7:4711': '203.0.113.7',
      '2001:db8::1': '2001:db8::1',
      '[2001:db8::1]:4711': '2001:db8::1',
      unknown: '127.0.0.1',
      '203.0.113.7:4711:1': '127.0.0.1',
    };
    await withSupabase(
      noteAddress,
      async (api) => {
        for (const named of Object.keys(sent)) {
          const signIn = api.post('/auth/signin').set('X-Forwarded-For', named);
          await signIn.send({ email: 'a@example.com', password }).expect(500);
        }
      },
      { TRUST_PROXY: '1' },
    );
    expect(seen).toEqual(Object.values(sent));
  });
});

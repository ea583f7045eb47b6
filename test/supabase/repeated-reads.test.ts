import type { RequestListener } from 'node:http';
import { describe, expect } from 'vitest';
import { token } from '../support/access-token.ts';
import { bearer } from '../support/api.ts';
import { withSupabase } from '../support/fake-supabase.ts';
import { test } from '../support/test.ts';

describe('a dead connection of the data API', () => {
  /** A data API whose first calls meet a dead connection. */
  const answerLater = (lost: number, body: string, code = 'PGRST001') => {
    const calls: (string | undefined)[] = [];
    const behave: RequestListener = (req, res) => {
      const isLost = calls.push(req.url) <= lost;
      res.writeHead(isLost ? 503 : 200, { 'Content-Type': 'application/json' });
      res.end(isLost ? JSON.stringify({ code, message: 'lost', details: null, hint: null }) : body);
    };
    return { calls, behave };
  };

  test.for(['57P01', 'PGRST001'])('repeats a read that met a dead connection (%s)', async (code) => {
    const { calls, behave } = answerLater(20, '[]', code);
    await withSupabase(behave, async (api) => void (await api.get('/categories').expect(200)));
    expect(calls).toHaveLength(21);
  });

  test('returns 500 at the deadline when all connections stay dead, without flooding', async () => {
    const { calls, behave } = answerLater(Number.POSITIVE_INFINITY, '');
    await withSupabase(behave, async (api) => void (await api.get('/categories').expect(500)));
    expect(calls.length).toBeLessThan(150);
  });

  test('does not repeat a write on a dead connection', async () => {
    const { calls, behave } = answerLater(1, 'null');
    await withSupabase(behave, async (api) => {
      const favorite = api.post('/favorites').auth(await token(), bearer);
      await favorite.send({ sound_id: '7d9f1a52-4f0e-4b43-9a5e-0d9d3c1b2a10' }).expect(500);
      expect(calls).toEqual(['/rest/v1/rpc/add_favorite']);
    });
  });
});

import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { token } from '../support/access-token.ts';
import { bearer } from '../support/api.ts';
import { withSupabase } from '../support/fake-supabase.ts';
import { test } from '../support/test.ts';

test('a failing touch_last_seen is retried once a minute per user and logged once', async ({ expect }) => {
  let notes = 0;
  const behave: RequestListener = (req, res) => {
    res.setHeader('Content-Type', 'application/json');
    if (!req.url?.includes('touch_last_seen')) res.end('[]');
    else if (++notes > 0) res.writeHead(405).end('{"code":"25006","message":"read-only"}');
  };
  await withSupabase(behave, async (api, { logged }) => {
    const warnings = () => logged.filter((line) => line.includes('last_seen_at could not be written'));
    const users = [await token(randomUUID()), await token(randomUUID())];
    const read = async () => {
      for (const user of users) await api.get('/favorites').auth(user, bearer).expect(200);
    };
    await read();
    await expect.poll(() => notes).toBe(2);
    await expect.poll(() => warnings().length).toBe(1);
    for (let count = 0; count < 5; count++) await read();
    expect([notes, warnings().length]).toEqual([2, 1]);
  });
});

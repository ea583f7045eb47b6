import { randomBytes } from 'node:crypto';
import { Agent, request } from 'undici';
import { expect, test } from 'vitest';
import { sharedSecret, token } from '../support/access-token.ts';
import { environment, startListening } from '../support/server-process.ts';

/** Number of tokens of one user, as after many refreshes. */
const tokens = 2_000;

test('thousands of long tokens of one user do not exhaust the memory of a gateway', async () => {
  const { child, exited, origin } = await startListening({
    ...environment(),
    SUPABASE_JWT_SECRET: sharedSecret,
    RATE_LIMIT_PER_MINUTE: '1',
    // Leave 20 MB for tokens. All tokens together take 15 MB, and their claims another 15 MB.
    NODE_OPTIONS: '--max-old-space-size=56',
  });
  const dispatcher = new Agent({ connections: 8 });
  const user_metadata = { note: randomBytes(2_700).toString('hex') };
  const statuses = new Map<number, number>();
  let sent = 0;
  const clients = Array.from({ length: 8 }, async () => {
    while (sent < tokens) {
      const authorization = `Bearer ${await token(undefined, { session_id: String(sent++), user_metadata })}`;
      const { statusCode, body } = await request(`${origin}/api/v1/home`, { dispatcher, headers: { authorization } });
      await body.dump();
      statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1);
    }
  });
  await Promise.all(clients);
  expect(statuses.get(429)).toBeGreaterThan(tokens - 10);
  expect((await fetch(`${origin}/healthz`)).status).toBe(200);
  await dispatcher.close();
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
});

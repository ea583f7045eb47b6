import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { json, text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { newPassword, verify } from '../routes/mailed-codes.ts';
import { token } from '../support/access-token.ts';
import { type Api, bearer } from '../support/api.ts';
import { sendSession, withSupabase } from '../support/fake-supabase.ts';
import { newEmail, password, test } from '../support/test.ts';
import { reject, tally, times, withTwoGateways } from './bursts.ts';

const from = (address: number) => ['X-Forwarded-For', `203.0.113.${address}`] as const;

test('a client may try ten codes an hour on all gateways, and the owner can still sign in', {
  tags: ['redis'],
}, async () => {
  const code = '87654321';
  const behave: RequestListener = async (req, res) => {
    if ((await text(req)).includes(code)) sendSession(res);
    else reject(res, 403, 'otp_expired');
  };
  await withTwoGateways(behave, async (apis) => {
    const email = newEmail();
    const send = async (api: Api, address: string, tried: string, client = 1) =>
      (await verify(api, address, tried).set(...from(client))).status;
    const guesses: number[] = [];
    for (let n = 0; n < 12; n++) guesses.push(await send(apis[n % 2 ? 1 : 0], email, '12345678'));
    expect(guesses).toEqual([...Array(10).fill(401), 429, 429]);
    const refused = await verify(apis[0], email.toUpperCase(), code).set(...from(1));
    expect(refused.status).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(3_000);
    expect(await send(apis[0], newEmail(), '12345678')).toBe(401); // other accounts are not limited
    expect(await send(apis[1], email, code, 2)).toBe(200);
  });
});

test('100 codes and 200 passwords an hour may fail for one account from all clients', async () => {
  await withSupabase(
    (_req, res) => reject(res),
    async (api) => {
      const email = 'ada@example.com';
      const guesses = {
        100: () => verify(api, email, '12345678'),
        200: () => api.post('/auth/signin').send({ email, password: 'a guess' }),
      };
      for (const [limit, guess] of Object.entries(guesses)) {
        const tried = await times(Number(limit) + 1, async (n) => {
          const network = Math.floor(n / 10).toString(16);
          return (await guess().set('X-Forwarded-For', `2001:db8:${network}::1`)).status; // ten tries of each network
        });
        expect(tally(tried)).toEqual({ 401: Number(limit), 429: 1 });
      }
    },
    { TRUST_PROXY: '1' },
  );
});

test('wrong codes of one IPv4 /24 do not stop the owner at another network', async () => {
  await withSupabase(
    (_req, res) => reject(res),
    async (api) => {
      const email = newEmail();
      const guess = async (address: string) =>
        (await verify(api, email, '12345678').set('X-Forwarded-For', address)).status;
      const statuses: number[] = [];
      for (let client = 1; client <= 4; client++)
        statuses.push(...(await times(10, () => guess(`198.51.100.${client}`))));
      expect(tally(statuses)).toEqual({ 401: 30, 429: 10 });
      expect(await guess('198.51.101.1')).toBe(401);
    },
    { TRUST_PROXY: '1' },
  );
});

test('ten rejected passwords an hour limit one session, not the other sessions of its user', async () => {
  await withSupabase(
    async (req, res) => {
      const { current_password } = (await json(req)) as { current_password: string };
      if (current_password !== password) return reject(res, 400, 'current_password_invalid');
      return res.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
    },
    async (api) => {
      const [owner, session_id] = [randomUUID(), randomUUID()];
      const stolen = await token(owner, { session_id });
      const change = (current_password: string, accessToken = stolen) => {
        const request = api.post('/auth/password').auth(accessToken, bearer);
        return request.send({ password: newPassword, current_password });
      };
      for (let count = 0; count < 10; count++) {
        await change(password).expect(200);
        await change('a guess').expect(400);
      }
      await change(password).expect(429);
      await change(password, await token(owner, { session_id, refreshed: true })).expect(429);
      await change(password, await token(owner, { session_id: randomUUID() })).expect(200);
    },
  );
});

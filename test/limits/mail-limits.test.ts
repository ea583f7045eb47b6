import type { RequestListener, ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import type { Api } from '../support/api.ts';
import { sendSession, withSupabase } from '../support/fake-supabase.ts';
import { newEmail, password } from '../support/test.ts';
import { reject, signIn, tally, times } from './bursts.ts';

const behindProxy = { TRUST_PROXY: '1' };

/** Sends a request that may mail a code. */
const ask = (api: Api, path: 'recover' | 'resend' | 'signup', email: string, client: number) =>
  api.post(`/auth/${path}`).set('X-Forwarded-For', `203.0.113.${client}`).send({ email, password });

/** Sends equal requests at once, and counts their statuses. */
const statuses = async (count: number, send: () => ReturnType<typeof ask>) =>
  tally(await times(count, async () => (await send()).status));

const sendJson = (res: ServerResponse, body: object) =>
  res.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));

test('the limits of mails for an account and a client count only mails that were sent', async () => {
  let calls = 0;
  const behave: RequestListener = (req, res) => {
    if (!/recover|resend/.test(req.url ?? '')) return sendSession(res); // a sign-up sends no mail
    const turn = ++calls > 6 ? 'sent' : calls % 2;
    if (turn === 0) return req.socket.destroy();
    return turn === 1 ? reject(res, 429, 'over_request_rate_limit') : sendJson(res, {});
  };
  await withSupabase(
    behave,
    async (api) => {
      const email = newEmail();
      await ask(api, 'signup', email, 48).expect(200);
      for (const status of [429, 500, 429, 500, 429, 500]) await ask(api, 'recover', email, 49).expect(status);
      for (const path of ['recover', 'resend'] as const) {
        for (let client = 0; client < 5; client++) await ask(api, path, email, client).expect(200);
        await ask(api, path, email, 50).expect(429).expect('X-Error-Reason', 'limit_mails');
        await ask(api, path, ` ${email.toUpperCase()}`, 51).expect(429);
      }
      expect(await statuses(31, () => ask(api, 'recover', newEmail(), 60))).toEqual({ 200: 30, 429: 1 });
      await ask(api, 'recover', newEmail(), 61).expect(200);
    },
    behindProxy,
  );
});

/** Accepts sign-ins, and requires that the address of every sign-up is confirmed. */
const confirming: RequestListener = (req, res) =>
  req.url?.includes('/token')
    ? sendSession(res)
    : sendJson(res, { id: '7d9f1a52-4f0e-4b43-9a5e-0d9d3c1b2a10', email: 'ada@example.com' });

test.for(['resend', 'signup', 'recover'] as const)(
  'five POST /auth/%s of strangers do not stop the owner of an account from recovering it',
  async (path) => {
    await withSupabase(
      confirming,
      async (api) => {
        const owner = newEmail();
        const trusted = 200;
        expect(await signIn(api, owner, { from: `203.0.113.${trusted}` })).toMatchObject({ status: 200 });
        for (let stranger = 0; stranger < 5; stranger++) await ask(api, path, owner, stranger).expect(200);
        await ask(api, path, owner, 100).expect(429);
        await ask(api, 'recover', owner, 101).expect(path === 'recover' ? 429 : 200);
        expect(await statuses(6, () => ask(api, 'recover', owner, trusted))).toEqual({ 200: 5, 429: 1 });
      },
      behindProxy,
    );
  },
);

test('30 mails of a neighbour do not stop a trusted client at the same address', async () => {
  await withSupabase(
    confirming,
    async (api) => {
      const owner = newEmail();
      expect(await signIn(api, owner, { from: '203.0.113.1' })).toMatchObject({ status: 200 });
      for (const path of ['resend', 'recover'] as const)
        expect(await statuses(15, () => ask(api, path, newEmail(), 1))).toEqual({ 200: 15 });
      await ask(api, 'recover', newEmail(), 1).expect(429);
      await ask(api, 'recover', owner, 1).expect(200);
    },
    behindProxy,
  );
});

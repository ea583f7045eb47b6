import type { RequestListener, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import type { Api } from '../support/api.ts';
import { sendSession, withSupabase } from '../support/fake-supabase.ts';
import { newEmail, password } from '../support/test.ts';
import { reject, signIn, tally, times } from './bursts.ts';

const behindProxy = { TRUST_PROXY: '1' };

/** Returns a client address in the network with this number. */
const inNetwork = (network: number) => `203.0.${network}.7`;

/** Sends a request that may mail a code. */
const ask = (api: Api, path: 'recover' | 'resend' | 'signup', email: string, network: number) =>
  api.post(`/auth/${path}`).set('X-Forwarded-For', inNetwork(network)).send({ email, password });

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
    },
    behindProxy,
  );
});

/** Accepts sign-ins, requires that the address of every sign-up is confirmed, and counts recoveries and resends. */
function confirming() {
  const mailed: string[] = [];
  const behave: RequestListener = async (req, res) => {
    const body = await text(req);
    if (req.url?.includes('/token')) return sendSession(res);
    if (/recover|resend/.test(req.url ?? '')) mailed.push(JSON.parse(body).email);
    return sendJson(res, { id: '7d9f1a52-4f0e-4b43-9a5e-0d9d3c1b2a10', email: 'ada@example.com' });
  };
  return { mailed, behave };
}

test('one network gets two mails an hour for an account, of the five in total', async () => {
  const { behave } = confirming();
  await withSupabase(
    behave,
    async (api) => {
      for (const path of ['signup', 'recover'] as const) {
        const email = newEmail();
        const from = (address: string) =>
          api.post(`/auth/${path}`).set('X-Forwarded-For', address).send({ email, password });
        for (const client of ['2001:db8:1:100::1', '2001:db8:1:200::1']) await from(client).expect(200);
        await from('2001:db8:1:300::1').expect(429).expect('X-Error-Reason', 'limit_mails');
        await from('2001:db8:2:100::1').expect(200);
      }
    },
    behindProxy,
  );
});

test.for([
  ['sign-ups and resends', ['signup', 'resend']],
  ['recoveries', ['recover']],
] as const)('five %s of strangers do not stop the owner from recovering the account', async ([, paths]) => {
  const isRecovery = paths[0] === 'recover';
  const { mailed, behave } = confirming();
  await withSupabase(
    behave,
    async (api) => {
      const owner = newEmail();
      const trusted = 200;
      expect(await signIn(api, owner, { from: inNetwork(trusted) })).toMatchObject({ status: 200 });
      for (let stranger = 0; stranger < 5; stranger++)
        await ask(api, paths[stranger % paths.length] ?? paths[0], owner, stranger).expect(200);
      for (const path of paths) await ask(api, path, owner, 100).expect(429).expect('X-Error-Reason', 'limit_mails');
      await ask(api, 'recover', owner, 101).expect(isRecovery ? 429 : 200);
      const before = mailed.length;
      const answers = await statuses(6, () => ask(api, 'recover', owner, trusted));
      expect(answers).toEqual(isRecovery ? { 429: 6 } : { 200: 2, 429: 4 });
      expect(mailed.length - before).toBe(isRecovery ? 3 : 5); // the owner gets mails beyond the limits
    },
    behindProxy,
  );
});

test('a trusted client gets a mail after 30 mails of a neighbour, and the same 429 as all others', async () => {
  const { mailed, behave } = confirming();
  await withSupabase(
    behave,
    async (api) => {
      const owner = newEmail();
      expect(await signIn(api, owner, { from: inNetwork(1) })).toMatchObject({ status: 200 });
      for (const path of ['resend', 'recover'] as const)
        expect(await statuses(15, () => ask(api, path, newEmail(), 1))).toEqual({ 200: 15 });
      const began = performance.now();
      const answers = await Promise.all([ask(api, 'recover', newEmail(), 1), ask(api, 'recover', owner, 1)]);
      expect(performance.now() - began).toBeGreaterThanOrEqual(499);
      for (const { status, headers } of answers)
        expect([status, headers['retry-after']]).toEqual([429, answers[0].headers['retry-after']]);
      expect(mailed.filter((email) => email === owner)).toHaveLength(1);
      for (let round = 0; round < 2; round++)
        expect(await statuses(3, () => ask(api, 'resend', owner, 1))).toEqual({ 429: 3 });
      expect(mailed.filter((email) => email === owner)).toHaveLength(3); // mails beyond the limit are bounded
    },
    behindProxy,
  );
});

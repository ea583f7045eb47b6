import { randomUUID } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { text } from 'node:stream/consumers';
import timers, { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, inject, vi } from 'vitest';
import type { Api } from '../support/api.ts';
import { until, withSupabase } from '../support/fake-supabase.ts';
import { canConfirm, noConfirmations, testWithConfirmations } from '../support/project.ts';
import { newEmail, password, type Sql } from '../support/test.ts';

const env = { TRUST_PROXY: '1', SIGN_UP_LIMIT_PER_HOUR: '1000', PASSWORD_CALLS_AT_ONCE: '100' };
const test = testWithConfirmations(env);
test.beforeEach(({ skip }) => skip(!canConfirm(), noConfirmations));

/** Returns one address of each kind: unknown, unconfirmed, confirmed, banned. */
async function makeAddresses(url: string, sql: Sql): Promise<string[]> {
  const [unknown, unconfirmed, confirmed, banned] = [newEmail(), newEmail(), newEmail(), newEmail()];
  const { secretKey } = inject('stack');
  const headers = { apikey: secretKey, Authorization: `Bearer ${secretKey}`, 'Content-Type': 'application/json' };
  for (const email of [unconfirmed, confirmed, banned]) {
    const body = JSON.stringify({ email, password, email_confirm: email !== unconfirmed });
    const made = await fetch(`${url}/auth/v1/admin/users`, { method: 'POST', headers, body });
    expect(made.status).toBe(200);
  }
  await sql`update auth.users set banned_until = '2999-01-01' where email = ${banned}`;
  return [unknown, unconfirmed, confirmed, banned];
}

const code = '12345678';
const calls = {
  'sign-up': ['/auth/signup', { password }],
  'sign-in': ['/auth/signin', { password: 'not the password' }],
  recover: ['/auth/recover', {}],
  resend: ['/auth/resend', {}],
  'verify a recovery': ['/auth/verify', { type: 'recovery', code }],
  'verify a sign-up': ['/auth/verify', { type: 'signup', code, password }],
} as const;

let networks = 0;

/** Sends each call from a separate network, because mails to an address are limited per network. */
const send = (api: Api, call: keyof typeof calls, email: string) => {
  const [path, sent] = calls[call];
  const client = `198.18.${networks++ % 256}.1`;
  return api
    .post(path)
    .set('X-Forwarded-For', client)
    .send({ email, ...sent });
};

/** Returns the visible parts of a response, without those that depend on the time or are derived from the address. */
async function see(api: Api, call: keyof typeof calls, email: string) {
  const { status, headers, body } = await send(api, call, email);
  const ofMoment = ['date', 'etag', 'x-request-id', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'x-service-time'];
  const lasting = Object.entries(headers).filter(([name]) => !ofMoment.includes(name));
  const seen = JSON.stringify({ status, headers: Object.fromEntries(lasting.sort()), body });
  return seen.replaceAll(email, 'EMAIL').replace(/"id":"[0-9a-f-]{36}"/, '"id":"ID"');
}

describe('secrecy of accounts', () => {
  test.for(Object.keys(calls) as (keyof typeof calls)[])(
    'status, headers and body do not reveal an account: %s',
    async (call, { project: { api, url }, sql }) => {
      const emails = await makeAddresses(url, sql);
      expect(new Set(await Promise.all(emails.map((email) => see(api, call, email)))).size).toBe(1);
    },
  );

  test('the time does not reveal an account: a response takes 500 ms with a fast or slow Auth', async () => {
    const { promise: passed, resolve: pass } = Promise.withResolvers<void>();
    const held: (() => void)[] = [];
    let asked = 0;
    await withSupabase(
      async (req, res) => {
        const reply = (status: number, body: object) =>
          res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
        const settings = { disable_signup: false, mailer_autoconfirm: false, external: { email: true } };
        if (req.url === '/auth/v1/settings') return void reply(200, settings);
        const { email } = JSON.parse(await text(req)) as { email: string };
        const answer = () =>
          req.url?.includes('token')
            ? reply(400, { code: 'invalid_credentials' })
            : reply(200, { id: randomUUID(), email });
        asked++;
        if (email.startsWith('slow')) held.push(answer);
        else answer();
      },
      async (api) => {
        // Replace node:timers/promises by hand, because fake timers of vitest do not cover it.
        const pausing = vi.spyOn(timers, 'setTimeout').mockImplementation(() => passed as Promise<undefined>);
        syncBuiltinESMExports();
        let answered = 0;
        for (const call of ['sign-up', 'recover', 'resend', 'sign-in'] as const)
          for (const kind of call === 'sign-in' ? ['fast'] : ['fast', 'slow'])
            void see(api, call, `${kind}-${call}@example.com`).then(() => answered++);
        await until(() => asked === 7);
        for (let turn = 0; turn < 100; turn++) await nextTurn();
        expect(answered).toBe(0);
        pass();
        await until(() => answered === 7);
        const pausesMs = pausing.mock.calls.map(([ms]) => ms);
        pausing.mockRestore();
        syncBuiltinESMExports();
        expect(pausesMs).toEqual(Array(7).fill(500));
        for (const answer of held) answer();
      },
      env,
    );
  });

  test('the id of repeated sign-ups does not reveal an account', async ({ project: { api, url }, sql }) => {
    const ids = (await makeAddresses(url, sql)).map(async (email) => {
      const signUp = (address: string) => send(api, 'sign-up', address).expect(200);
      const answers = await Promise.all([signUp(email), signUp(email.toUpperCase())]);
      answers.push(await signUp(email));
      const [id, ...others] = answers.map(({ body }) => body.data.user.id as string);
      for (const { body } of answers)
        expect(body).toEqual({ data: { needs_email_confirmation: true, user: { id, email } } });
      expect(others).toEqual([id, id]);
      expect(await sql`select from auth.users where id::text = ${id ?? null}`).toHaveLength(0);
      return id;
    });
    expect(new Set(await Promise.all(ids)).size).toBe(4);
  });
});

import { randomUUID } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { text } from 'node:stream/consumers';
import timers, { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, inject, vi } from 'vitest';
import type { Api } from '../support/api.ts';
import { withSupabase } from '../support/fake-supabase.ts';
import { canConfirm, noConfirmations, testWithConfirmations } from '../support/project.ts';
import { newEmail, password, type Sql } from '../support/test.ts';

const env = { TRUST_PROXY: '1', SIGN_UP_LIMIT_PER_HOUR: '1000', PASSWORD_CALLS_AT_ONCE: '100' };
const test = testWithConfirmations(env);
test.beforeEach(({ skip }) => skip(!canConfirm(), noConfirmations));

const kinds = ['unknown', 'unconfirmed', 'confirmed', 'banned'] as const;

/** Returns an address of this kind. */
async function makeAddress(url: string, sql: Sql, kind: (typeof kinds)[number]): Promise<string> {
  const email = newEmail();
  if (kind === 'unknown') return email;
  const { secretKey } = inject('stack');
  const made = await fetch(`${url}/auth/v1/admin/users`, {
    method: 'POST',
    headers: { apikey: secretKey, Authorization: `Bearer ${secretKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ email, password, email_confirm: kind !== 'unconfirmed' }),
  });
  expect(made.status).toBe(200);
  if (kind === 'banned') await sql`update auth.users set banned_until = '2999-01-01' where email = ${email}`;
  return email;
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

/** Returns what a client sees of a response, without what belongs to the moment or is made from the address. */
async function see(api: Api, call: keyof typeof calls, email: string) {
  const [path, sent] = calls[call];
  const { status, headers, body } = await api
    .post(path)
    .set('X-Forwarded-For', `198.51.100.${Math.floor(256 * Math.random())}`)
    .send({ email, ...sent });
  const ofMoment = ['date', 'etag', 'x-request-id', 'x-ratelimit-remaining', 'x-ratelimit-reset'];
  const lasting = Object.entries(headers).filter(([name]) => !ofMoment.includes(name));
  const seen = JSON.stringify({ status, headers: Object.fromEntries(lasting.sort()), body });
  return seen.replaceAll(email, 'EMAIL').replace(/"id":"[0-9a-f-]{36}"/, '"id":"ID"');
}

/** Waits without a timer. */
async function until(isTrue: () => boolean) {
  while (!isTrue()) await nextTurn();
}

describe('whether an address has an account', () => {
  test.for(Object.keys(calls) as (keyof typeof calls)[])(
    'does not show in the status, headers and body of a response: %s',
    async (call, { project: { api, url }, sql }) => {
      const seen = kinds.map(async (kind) => see(api, call, await makeAddress(url, sql, kind)));
      expect(new Set(await Promise.all(seen)).size).toBe(1);
    },
  );

  test('does not show in the time of a response: each takes 500 ms, however fast or slow Auth is', async () => {
    const pausesMs: (number | undefined)[] = [];
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
        // A fake clock for node:timers/promises, which vitest has none for.
        const pausing = vi.spyOn(timers, 'setTimeout').mockImplementation((async (ms?: number) => {
          pausesMs.push(ms);
          await passed;
        }) as typeof timers.setTimeout);
        syncBuiltinESMExports();
        const answered: string[] = [];
        const sent = (['sign-up', 'recover', 'resend'] as const).flatMap((call) =>
          ['fast', 'slow'].map((kind) => [call, kind] as const),
        );
        for (const [call, kind] of [...sent, ['sign-in', 'fast'] as const])
          void see(api, call, `${kind}-${call}@example.com`).then(() => answered.push(call));
        await until(() => asked === 7);
        for (let turn = 0; turn < 100; turn++) await nextTurn();
        expect(answered).toEqual([]);
        pass();
        await until(() => answered.length === 7);
        pausing.mockRestore();
        syncBuiltinESMExports();
        expect(pausesMs).toEqual(Array(7).fill(500));
        for (const answer of held) answer();
      },
      env,
    );
  });

  test('does not show in the id of repeated sign-ups', async ({ project: { api, url }, sql }) => {
    const ids = kinds.map(async (kind) => {
      const email = await makeAddress(url, sql, kind);
      const signUp = (address: string) =>
        api
          .post('/auth/signup')
          .set('X-Forwarded-For', '198.51.100.99')
          .send({ email: address, password, full_name: 'Ada' })
          .expect(200);
      const answers = await Promise.all([signUp(email), signUp(email.toUpperCase())]);
      answers.push(await signUp(email));
      for (const { body } of answers) {
        expect(body).toEqual({
          data: { needs_email_confirmation: true, user: { id: expect.any(String), email } },
        });
      }
      const [id, ...others] = answers.map(({ body }) => body.data.user.id as string);
      expect(others).toEqual([id, id]);
      expect(await sql`select from auth.users where id::text = ${id ?? null}`).toHaveLength(0);
      return id;
    });
    expect(new Set(await Promise.all(ids)).size).toBe(kinds.length);
  });
});

test('an address gets at most five mails an hour, whoever signs up with it', async ({ project: { api } }) => {
  const email = newEmail();
  const signUp = (client: number) =>
    api.post('/auth/signup').set('X-Forwarded-For', `203.0.113.${client}`).send({ email, password });
  for (let client = 1; client <= 4; client++) await signUp(client).expect(200);
  await api.post('/auth/resend').set('X-Forwarded-For', '203.0.113.5').send({ email }).expect(200);
  await signUp(6).expect(429).expect('X-Error-Reason', 'limit_mails');
  await api.post('/auth/recover').set('X-Forwarded-For', '203.0.113.7').send({ email }).expect(429);
});

import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, inject } from 'vitest';
import type { Api } from '../support/api.ts';
import { sendSession, withSupabase } from '../support/fake-supabase.ts';
import { canConfirm, noConfirmations, testWithConfirmations } from '../support/project.ts';
import { newEmail, password, type Sql } from '../support/test.ts';

const test = testWithConfirmations({ TRUST_PROXY: '1', SIGN_UP_LIMIT_PER_HOUR: '1000' });
test.beforeEach(({ skip }) => skip(!canConfirm(), noConfirmations));

const kinds = ['unknown', 'unconfirmed', 'confirmed', 'banned'] as const;
type Kind = (typeof kinds)[number];

/** An address of this kind. Its password takes as long to check as one of a real project. */
async function makeAddress(url: string, sql: Sql, kind: Kind): Promise<string> {
  const email = newEmail();
  if (kind === 'unknown') return email;
  const { secretKey } = inject('stack');
  const made = await fetch(`${url}/auth/v1/admin/users`, {
    method: 'POST',
    headers: { apikey: secretKey, Authorization: `Bearer ${secretKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ email, password, email_confirm: kind !== 'unconfirmed' }),
  });
  expect(made.status).toBe(200);
  await sql`
    update auth.users set
      encrypted_password = extensions.crypt(${password}, extensions.gen_salt('bf', 9)),
      banned_until = case when ${kind === 'banned'} then timestamptz '2999-01-01' end
    where email = ${email}`;
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

/** What a client sees of an answer, without what is of its moment, or made from the address. */
async function see(api: Api, call: keyof typeof calls, email: string, ip: string) {
  const [path, sent] = calls[call];
  const started = performance.now();
  const { status, headers, body } = await api
    .post(path)
    .set('X-Forwarded-For', ip)
    .send({ email, ...sent });
  const took = performance.now() - started;
  const ofMoment = ['date', 'etag', 'x-request-id', 'x-ratelimit-remaining', 'x-ratelimit-reset'];
  const lasting = Object.entries(headers).filter(([name]) => !ofMoment.includes(name));
  const seen = JSON.stringify({ status, headers: Object.fromEntries(lasting.sort()), body });
  return { took, seen: seen.replaceAll(email, 'EMAIL').replace(/"id":"[0-9a-f-]{36}"/, '"id":"ID"') };
}

/** Who comes first waits least: each kind does as often. */
const inTurn = <T>(kinds: readonly T[], round: number): T[] => {
  const first = round % kinds.length;
  return [...kinds.slice(first), ...kinds.slice(0, first)];
};

/** @param q 0.5 for the median */
function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(q * (sorted.length - 1))] ?? 0;
}

/** @param times of each kind of address, in milliseconds; those of the first say how much the machine itself adds */
function expectSameTime(what: string, times: readonly number[][]) {
  const medians = times.map((taken) => quantile(taken, 0.5));
  const spread = quantile(times[0] ?? [], 0.75) - quantile(times[0] ?? [], 0.25);
  const difference = Math.max(...medians) - Math.min(...medians);
  expect(difference, `${what}: ${medians.map(Math.round)}`).toBeLessThan(Math.max(20, spread));
}

describe('whether an address has an account', () => {
  // Tried twice: a busy machine moves the medians of one run, a difference that is there those of both.
  test('shows neither in statuses, bodies and headers nor in the median time of any answer', {
    retry: 1,
  }, async ({ project: { api, url }, sql }) => {
    const names = Object.keys(calls) as (keyof typeof calls)[];
    const took = new Map(
      names.map((call) => [call, { unknown: [], unconfirmed: [], confirmed: [], banned: [] }]),
    ) as Map<string, Record<Kind, number[]>>;
    const seen = new Map(names.map((call) => [call, new Set<string>()]));
    for (let round = 0; round < 40; round++) {
      // Each call has an address of its own: two for one address may wait for each other.
      const asking = names.flatMap((call) => inTurn(kinds, round).map((kind) => ({ call, kind })));
      const made = await Promise.all(
        asking.map(async ({ call, kind }) => {
          const email = kind === 'unknown' ? newEmail() : await makeAddress(url, sql, kind);
          return { call, kind, email };
        }),
      );
      const asked = made.map(async ({ call, kind, email }) => {
        const answer = await see(api, call, email, `198.51.100.${round}`);
        took.get(call)?.[kind].push(answer.took);
        seen.get(call)?.add(answer.seen);
      });
      await Promise.all(asked);
    }
    for (const call of names) {
      expect([...(seen.get(call) ?? [])], call).toHaveLength(1);
      expectSameTime(call, Object.values(took.get(call) ?? {}));
    }
  });

  test('does not show however much longer Auth takes for some addresses, also when its mails are slow', async () => {
    // Milliseconds, as measured on a real Auth; the last is a mail server that takes its time.
    const patience = { unknown: 15, known: 180, mailed: 900 };
    await withSupabase(
      async (req, res) => {
        const reply = (status: number, body: object) =>
          res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
        if (req.url === '/auth/v1/settings')
          return void reply(200, {
            disable_signup: false,
            mailer_autoconfirm: false,
            external: { email: true },
          });
        const { email } = JSON.parse(await text(req)) as { email: string };
        await setTimeout(patience[email.split('-')[0] as keyof typeof patience]);
        if (req.url === '/auth/v1/signup') reply(200, { id: randomUUID(), email });
        else reply(400, { code: 'invalid_credentials' });
      },
      async (api) => {
        await see(api, 'sign-up', 'known-first@example.com', '198.51.100.1');
        for (const [call, kinds] of [
          ['sign-up', ['unknown', 'known', 'mailed']],
          ['sign-in', ['unknown', 'known']],
        ] as const) {
          const times: Record<string, number[]> = { unknown: [], known: [], mailed: [] };
          for (let batch = 0; batch < 4; batch++) {
            const asked = Array.from({ length: 10 }, (_, index) => 10 * batch + index).flatMap((round) =>
              inTurn(kinds, round).map(async (kind) => {
                const { took } = await see(api, call, `${kind}-${round}@example.com`, `198.51.100.${round}`);
                times[kind]?.push(took);
              }),
            );
            await Promise.all(asked);
          }
          expectSameTime(
            call,
            kinds.map((kind) => times[kind] ?? []),
          );
        }
      },
      { TRUST_PROXY: '1', SIGN_UP_LIMIT_PER_HOUR: '1000', PASSWORD_CALLS_AT_ONCE: '1000' },
    );
  });

  test('does not show under load either: no rejection comes sooner than the hashes of the last minute took', async () => {
    // Milliseconds, as measured beside four parallel sign-ins.
    const load = { unknown: 5, known: 865 };
    await withSupabase(
      async (req, res) => {
        const { email, password: sent } = JSON.parse(await text(req)) as { email: string; password: string };
        await setTimeout(load[email.split('-')[0] as keyof typeof load]);
        if (sent === password) sendSession(res);
        else res.writeHead(400, { 'Content-Type': 'application/json' }).end('{"code":"invalid_credentials"}');
      },
      async (api) => {
        const own = { email: 'known-own@example.com', password };
        await Promise.all(Array.from({ length: 4 }, () => api.post('/auth/signin').send(own).expect(200)));
        const times: Record<string, number[]> = { unknown: [], known: [] };
        for (let batch = 0; batch < 2; batch++) {
          const asked = Array.from({ length: 8 }, (_, index) => 8 * batch + index).flatMap((round) =>
            inTurn(['unknown', 'known'], round).map(async (kind) => {
              const email = `${kind}-${round}@example.com`;
              const { took } = await see(api, 'sign-in', email, `198.51.${round}.1`);
              times[kind]?.push(took);
            }),
          );
          await Promise.all(asked);
        }
        expectSameTime('sign-in', Object.values(times));
      },
      { TRUST_PROXY: '1', PASSWORD_CALLS_AT_ONCE: '1000' },
    );
  });

  test('does not show when one signs up twice at once or at short intervals: one id, of no account', async ({
    project: { api, url },
    sql,
  }) => {
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

  test('is mailed to nobody more than five times an hour, whoever signs up with the address', async ({
    project: { api },
  }) => {
    const email = newEmail();
    const signUp = (client: number) =>
      api.post('/auth/signup').set('X-Forwarded-For', `203.0.113.${client}`).send({ email, password });
    for (let client = 1; client <= 4; client++) await signUp(client).expect(200);
    await api.post('/auth/resend').set('X-Forwarded-For', '203.0.113.5').send({ email }).expect(200);
    await signUp(6).expect(429).expect('X-Error-Reason', 'limit_mails');
    await api.post('/auth/recover').set('X-Forwarded-For', '203.0.113.7').send({ email }).expect(429);
  });
});

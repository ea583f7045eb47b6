import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import { withSupabase } from '../support/fake-supabase.ts';
import { canConfirm, noConfirmations, testWithConfirmations } from '../support/project.ts';
import { newEmail, password } from '../support/test.ts';
import { expectSameTime, inTurn, kinds, makeAddress, rounds, see } from './secret-accounts.ts';

const test = testWithConfirmations({ TRUST_PROXY: '1', SIGN_UP_LIMIT_PER_HOUR: '1000' });
test.beforeEach(({ skip }) => skip(!canConfirm(), noConfirmations));

describe('whether an address has an account', () => {
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
          const times: Record<keyof typeof patience, number[]> = { unknown: [], known: [], mailed: [] };
          const asked = Array.from({ length: rounds }, (_, round) =>
            inTurn(kinds, round).map(async (kind) => {
              const { took } = await see(api, call, `${kind}-${round}@example.com`, `198.51.100.${round}`);
              times[kind][round] = took;
            }),
          );
          await Promise.all(asked.flat());
          for (const kind of kinds) expectSameTime(`${call}, ${kind}`, times[kind], times.unknown);
        }
      },
      { TRUST_PROXY: '1', SIGN_UP_LIMIT_PER_HOUR: '1000', PASSWORD_CALLS_AT_ONCE: '1000' },
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
});

test('an address is sent at most five mails an hour, whoever signs up with it', async ({
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

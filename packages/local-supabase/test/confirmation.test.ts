import { describe, expect, inject } from 'vitest';
import { codeSentTo, mailsTo } from '../../../test/support/mail.ts';
import { recoveryCode, resend, signIn, verify } from './sessions.ts';
import { codeOf, newEmail, password, type Supabase, testWithConfirmations as test } from './supabase.ts';

const signUp = (supabase: Supabase, email: string, secret = password) =>
  supabase.call('/auth/v1/signup', { body: { email, password: secret, data: { full_name: 'Jo' } } });

async function signUpUnconfirmed(supabase: Supabase) {
  const email = newEmail();
  const { status, body } = await signUp(supabase, email);
  expect(status).toBe(200);
  return { email, id: body.id as string, code: await codeSentTo(supabase.mailUrl, email) };
}

/** Says that the last mail to an address was sent some minutes ago. */
const noteMailSent = ({ sql }: Supabase, email: string, minutesAgo: number) =>
  sql`
    update auth.users set confirmation_sent_at = now() - make_interval(mins => ${minutesAgo}) where email = ${email}`;

describe.runIf(inject('stack').embedded)('confirmation of addresses', () => {
  test('a confirmation code confirms the account and opens a session, once', async ({ supabase }) => {
    const { email, id, code } = await signUpUnconfirmed(supabase);
    expect((await signIn(supabase, email)).body.code).toBe('email_not_confirmed');
    const { status, body } = await verify(supabase, 'signup', email, code);
    expect([status, body.user.id]).toEqual([200, id]);
    expect(body.user).toMatchObject({
      email_confirmed_at: expect.any(String),
      user_metadata: { email_verified: true },
    });
    expect((await verify(supabase, 'signup', email, code)).body.code).toBe('otp_expired');
    expect((await signIn(supabase, email)).status).toBe(200);
  });

  test('a confirmation code is invalid an hour later and for other purposes', async ({ supabase }) => {
    const { email, code } = await signUpUnconfirmed(supabase);
    expect((await verify(supabase, 'recovery', email, code)).body.code).toBe('otp_expired');
    await noteMailSent(supabase, email, 61);
    expect((await verify(supabase, 'signup', email, code)).body.code).toBe('otp_expired');
  });

  test.for([
    ['asking for it again', resend],
    ['signing up again', (supabase: Supabase, email: string) => signUp(supabase, email, 'another one')],
  ] as const)(
    'a code is replaced by %s, but not within the gap between mails',
    async ([, again], { supabase }) => {
      const { email, code: first } = await signUpUnconfirmed(supabase);
      await noteMailSent(supabase, email, -1); // however slow this machine is, the gap is not over
      expect(await codeOf(again(supabase, email))).toBe('429 over_email_send_rate_limit');
      expect(await mailsTo(supabase.mailUrl, email)).toHaveLength(1);
      await noteMailSent(supabase, email, 2);
      expect((await again(supabase, email)).status).toBe(200);
      const second = await codeSentTo(supabase.mailUrl, email);
      expect((await verify(supabase, 'signup', email, first)).body.code).toBe('otp_expired');
      expect((await verify(supabase, 'signup', email, second)).status).toBe(200);
      expect((await signIn(supabase, email)).status).toBe(200);
    },
  );

  test('a recovery code confirms the account and ends the confirmation code', async ({ supabase }) => {
    const { email, code } = await signUpUnconfirmed(supabase);
    const { status } = await verify(supabase, 'recovery', email, await recoveryCode(supabase, email));
    expect(status).toBe(200);
    expect((await signIn(supabase, email)).status).toBe(200);
    expect((await verify(supabase, 'signup', email, code)).body.code).toBe('otp_expired');
  });

  test('a second sign-up after confirming returns a placeholder user', async ({ supabase }) => {
    const { email, id } = await signUpUnconfirmed(supabase);
    await supabase.sql`update auth.users set email_confirmed_at = now() where email = ${email}`;
    const { status, body } = await signUp(supabase, email, 'another one');
    expect(status).toBe(200);
    expect(body).toMatchObject({ email, identities: [], role: '', user_metadata: { full_name: 'Jo' } });
    expect(body.id).not.toBe(id);
    expect(await codeOf(signUp(supabase, email, 'weak'))).toBe('422 weak_password');
  });
});

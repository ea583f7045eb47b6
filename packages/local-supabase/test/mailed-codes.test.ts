import { expect, inject } from 'vitest';
import { codeSentTo, mailsTo } from '../../../test/support/mail.ts';
import { codeOf, newEmail, password, type Supabase, test, testWith } from './supabase.ts';

const post = (supabase: Supabase, path: string, body: object) => supabase.call(`/auth/v1/${path}`, { body });

const verify = (supabase: Supabase, type: 'signup' | 'recovery', email: string, token: string) =>
  codeOf(post(supabase, 'verify', { type, email, token }));

const invalid = '403 otp_expired';

test('recovery mails have a minimum interval, and a new password ends their code', async ({ supabase, skip }) => {
  skip(!supabase.mailUrl, 'Set TEST_SUPABASE_MAIL_URL to read the mails of that Supabase.');
  const { email, accessToken: token } = await supabase.signUp();
  await post(supabase, 'recover', { email });
  const code = await codeSentTo(supabase.mailUrl, email);
  await supabase.sql`update auth.users set recovery_sent_at = now() + interval '1 minute' where email = ${email}`;
  expect(await codeOf(post(supabase, 'recover', { email }))).toBe('429 over_email_send_rate_limit');
  const change = { password: 'another one', data: { colour: 'red' } };
  const { status, body } = await supabase.call('/auth/v1/user', { method: 'PUT', token, body: change });
  expect([status, body.user_metadata.colour]).toEqual([200, 'red']);
  expect(await verify(supabase, 'recovery', email, code)).toBe(invalid);
});

// The project of TEST_SUPABASE_URL may have confirmations disabled.
const confirming = testWith({ emailConfirmations: true }).runIf(inject('stack').embedded);

async function signUpUnconfirmed(supabase: Supabase) {
  const email = newEmail();
  expect((await post(supabase, 'signup', { email, password })).status).toBe(200);
  return { email, code: await codeSentTo(supabase.mailUrl, email) };
}

/** Changes the time of the last mail to an address. */
const noteMailSent = ({ sql }: Supabase, email: string, minutesAgo: number) => sql`
  update auth.users set confirmation_sent_at = now() - make_interval(mins => ${minutesAgo}) where email = ${email}`;

confirming('a confirmation code is invalid an hour later and for other purposes', async ({ supabase }) => {
  const { email, code } = await signUpUnconfirmed(supabase);
  expect(await verify(supabase, 'recovery', email, code)).toBe(invalid);
  await noteMailSent(supabase, email, 61);
  expect(await verify(supabase, 'signup', email, code)).toBe(invalid);
  await noteMailSent(supabase, email, 59);
  expect(await verify(supabase, 'signup', email, code)).toMatch(/^200/);
});

confirming.for(['resend', 'signup'])(
  'a repeated %s replaces the code, but not within the interval between mails',
  async (path, { supabase }) => {
    const again = (email: string) => post(supabase, path, { type: 'signup', email, password });
    const { email, code: first } = await signUpUnconfirmed(supabase);
    await noteMailSent(supabase, email, -1); // so that a slow machine does not exceed the interval
    expect(await codeOf(again(email))).toBe('429 over_email_send_rate_limit');
    expect(await mailsTo(supabase.mailUrl, email)).toHaveLength(1);
    await noteMailSent(supabase, email, 2);
    expect((await again(email)).status).toBe(200);
    const second = await codeSentTo(supabase.mailUrl, email);
    expect(await verify(supabase, 'signup', email, first)).toBe(invalid);
    expect(await verify(supabase, 'signup', email, second)).toMatch(/^200/);
  },
);

confirming.for(['otp', 'magiclink'])(
  'POST /%s makes an account whose address is not confirmed',
  async (path, { supabase }) => {
    const email = newEmail();
    expect((await post(supabase, path, { email, create_user: true })).status).toBe(200);
    const account = () =>
      supabase.sql`select email_confirmed_at is not null as confirmed from auth.users where email = ${email}`;
    expect(await account()).toEqual([{ confirmed: false }]);
    const code = await codeSentTo(supabase.mailUrl, email);
    expect(await verify(supabase, 'signup', email, code)).toMatch(/^200/);
    expect(await account()).toEqual([{ confirmed: true }]);
  },
);

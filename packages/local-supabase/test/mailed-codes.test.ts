import { expect, inject } from 'vitest';
import { codeSentTo, mailsTo } from '../../../test/support/mail.ts';
import { codeOf, newEmail, password, type Supabase, test, testWith } from './supabase.ts';

const post = (supabase: Supabase, path: string, body: object) => supabase.call(`/auth/v1/${path}`, { body });

const verify = (supabase: Supabase, type: 'signup' | 'recovery', email: string, token: string) =>
  codeOf(post(supabase, 'verify', { type, email, token }));

const invalid = '403 otp_expired';

test('a newer recovery code and a new password make a recovery code invalid', async ({ supabase, skip }) => {
  skip(!supabase.mailUrl, 'Set TEST_SUPABASE_MAIL_URL to read the mails of that Supabase.');
  const { email, accessToken: token } = await supabase.signUp();
  const recover = async () => {
    await post(supabase, 'recover', { email });
    return codeSentTo(supabase.mailUrl, email);
  };
  const first = await recover();
  // Lets the gap between two mails pass.
  await supabase.sql`
    update auth.users set recovery_sent_at = recovery_sent_at - interval '2 minutes' where email = ${email}`;
  const second = await recover();
  expect(await verify(supabase, 'recovery', email, first)).toBe(invalid);
  const change = { password: 'another one', data: { colour: 'red' } };
  const { status, body } = await supabase.call('/auth/v1/user', { method: 'PUT', token, body: change });
  expect([status, body.user_metadata.colour]).toEqual([200, 'red']);
  expect(await verify(supabase, 'recovery', email, second)).toBe(invalid);
});

// A project of the environment confirms no addresses.
const confirming = testWith({ emailConfirmations: true }).runIf(inject('stack').embedded);

const signUp = (supabase: Supabase, email: string, secret = password) =>
  post(supabase, 'signup', { email, password: secret, data: { full_name: 'Jo' } });

async function signUpUnconfirmed(supabase: Supabase) {
  const email = newEmail();
  const { id } = (await signUp(supabase, email)).body;
  return { email, id, code: await codeSentTo(supabase.mailUrl, email) };
}

/** Says that the last mail to an address was sent some minutes ago. */
const noteMailSent = ({ sql }: Supabase, email: string, minutesAgo: number) =>
  sql`
    update auth.users set confirmation_sent_at = now() - make_interval(mins => ${minutesAgo}) where email = ${email}`;

confirming('a confirmation code is invalid an hour later and for other purposes', async ({ supabase }) => {
  const { email, code } = await signUpUnconfirmed(supabase);
  expect(await verify(supabase, 'recovery', email, code)).toBe(invalid);
  await noteMailSent(supabase, email, 61);
  expect(await verify(supabase, 'signup', email, code)).toBe(invalid);
  await noteMailSent(supabase, email, 59);
  expect(await verify(supabase, 'signup', email, code)).toMatch(/^200/);
});

confirming.for([
  [
    'asking for it again',
    (supabase: Supabase, email: string) => post(supabase, 'resend', { type: 'signup', email }),
  ],
  ['signing up again', signUp],
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
    expect(await verify(supabase, 'signup', email, first)).toBe(invalid);
    expect(await verify(supabase, 'signup', email, second)).toMatch(/^200/);
  },
);

confirming('a second sign-up after confirming returns a placeholder user', async ({ supabase }) => {
  const { email, id } = await signUpUnconfirmed(supabase);
  await supabase.sql`update auth.users set email_confirmed_at = now() where email = ${email}`;
  const { status, body } = await signUp(supabase, email, 'another one');
  expect(status).toBe(200);
  expect(body).toMatchObject({ email, identities: [], role: '', user_metadata: { full_name: 'Jo' } });
  expect(body.id).not.toBe(id);
  expect(await codeOf(signUp(supabase, email, 'weak'))).toBe('422 weak_password');
});

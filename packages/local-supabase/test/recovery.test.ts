import { expect, inject } from 'vitest';
import { ban, changePassword, claimsOf, recoveryCode, refresh, signIn, signOut, verify } from './sessions.ts';
import { codeOf, type Supabase, test } from './supabase.ts';

const noMail = 'Set TEST_SUPABASE_MAIL_URL to read the mails of that Supabase.';
const expired = { code: 'otp_expired', message: 'Token has expired or is invalid' };
const momentOf = (session: { access_token: string }) => claimsOf(session.access_token).amr[0].timestamp;

/** Lets the gap between two mails to an address pass. */
const passGap = ({ sql }: Supabase, email: string) =>
  sql`update auth.users set recovery_sent_at = recovery_sent_at - interval '2 minutes' where email = ${email}`;

test('the newest recovery code opens a session, once', async ({ supabase, skip }) => {
  skip(!supabase.mailUrl, noMail);
  const { email } = await supabase.signUp();
  const first = await recoveryCode(supabase, email);
  await passGap(supabase, email);
  const second = await recoveryCode(supabase, email);
  expect((await verify(supabase, 'recovery', email, first)).body).toEqual(expired);
  expect((await verify(supabase, 'recovery', email, second)).status).toBe(200);
  expect(await codeOf(verify(supabase, 'recovery', email, second))).toBe('403 otp_expired');
});

test('a change of the password makes a recovery code invalid', async ({ supabase, skip }) => {
  skip(!supabase.mailUrl, noMail);
  const { email, accessToken } = await supabase.signUp();
  const code = await recoveryCode(supabase, email);
  expect((await changePassword(supabase, accessToken, { password: 'another one' })).status).toBe(200);
  expect((await verify(supabase, 'recovery', email, code)).body).toEqual(expired);
});

test('the access token holds the time of the sign-in, which a refresh keeps', async ({ supabase, skip }) => {
  skip(!supabase.mailUrl, noMail);
  const { email } = await supabase.signUp();
  const before = Math.floor(Date.now() / 1000);
  const { body } = await verify(supabase, 'recovery', email, await recoveryCode(supabase, email));
  for (const session of [(await signIn(supabase, email)).body, body])
    expect(Math.abs(momentOf(session) - before)).toBeLessThan(60);
  if (!inject('stack').embedded) return; // a project of the environment may hide auth.sessions
  const { session_id } = claimsOf(body.access_token);
  await supabase.sql`
    update auth.sessions set created_at = created_at - interval '20 minutes' where id = ${session_id}`;
  const first = (await refresh(supabase, body.refresh_token)).body;
  const second = (await refresh(supabase, first.refresh_token)).body;
  for (const session of [first, second]) expect(momentOf(session)).toBe(momentOf(body) - 20 * 60);
});

test('a new password needs an active session, and other data needs no password', async ({ supabase }) => {
  const { id, email, accessToken } = await supabase.signUp();
  const { status, body } = await changePassword(supabase, accessToken, { data: { colour: 'red' } });
  expect([status, body.user_metadata.colour]).toEqual([200, 'red']);
  const change = (token: string) => codeOf(changePassword(supabase, token, { password: 'another one' }));
  const [header, claims] = accessToken.split('.');
  expect(await change(`${header}.${claims}.AAAA`)).toBe('403 bad_jwt');
  const { access_token: banned } = (await signIn(supabase, email)).body;
  await signOut(supabase, accessToken);
  expect(await change(accessToken)).toBe('403 session_not_found');
  await ban(supabase, id);
  expect(await change(banned)).toBe('403 user_banned');
  await supabase.sql`delete from auth.users where id = ${id}`;
  expect(await change(accessToken)).toBe('403 user_not_found');
});

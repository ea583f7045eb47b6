import { describe, expect, inject } from 'vitest';
import { ban, changePassword, claimsOf, recoveryCode, refresh, signIn, signOut, verify } from './sessions.ts';
import { type Supabase, test } from './supabase.ts';

const noMail = 'Set TEST_SUPABASE_MAIL_URL to read the mails of that Supabase.';
const expired = { code: 'otp_expired', message: 'Token has expired or is invalid' };

/** Lets the gap between two mails to an address pass. */
const passGap = ({ sql }: Supabase, email: string) =>
  sql`update auth.users set recovery_sent_at = recovery_sent_at - interval '2 minutes' where email = ${email}`;

describe('the code of a recovery mail', () => {
  test.beforeEach(({ supabase, skip }) => skip(!supabase.mailUrl, noMail));

  test('the code opens sessions for simultaneous requests, and none later', async ({ supabase }) => {
    const { email } = await supabase.signUp();
    const code = await recoveryCode(supabase, email);
    const tries = await Promise.all(
      Array.from({ length: 5 }, () => verify(supabase, 'recovery', email, code)),
    );
    const statuses = tries.map(({ status }) => status);
    expect(statuses).toContain(200);
    for (const status of statuses) expect([200, 403]).toContain(status);
    expect((await verify(supabase, 'recovery', email, code)).status).toBe(403);
  });

  test('the code of a second mail replaces the first one', async ({ supabase }) => {
    const { email } = await supabase.signUp();
    const first = await recoveryCode(supabase, email);
    await passGap(supabase, email);
    const second = await recoveryCode(supabase, email);
    expect((await verify(supabase, 'recovery', email, first)).body).toEqual(expired);
    expect((await verify(supabase, 'recovery', email, second)).status).toBe(200);
  });

  test('a change of the password makes the code invalid', async ({ supabase }) => {
    const { email, accessToken } = await supabase.signUp();
    const code = await recoveryCode(supabase, email);
    expect((await changePassword(supabase, accessToken, { password: 'another one' })).status).toBe(200);
    expect((await verify(supabase, 'recovery', email, code)).body).toEqual(expired);
  });
});

describe('the moment of signing in', () => {
  const momentOf = (session: { access_token: string }) => claimsOf(session.access_token).amr[0].timestamp;

  test('the access token holds the time of the sign-in', async ({ supabase, skip }) => {
    skip(!supabase.mailUrl, noMail);
    const { email } = await supabase.signUp();
    const before = Math.floor(Date.now() / 1000);
    const code = await recoveryCode(supabase, email);
    for (const { body } of [await signIn(supabase, email), await verify(supabase, 'recovery', email, code)])
      expect(Math.abs(momentOf(body) - before)).toBeLessThan(60);
  });

  test.runIf(inject('stack').embedded)('a refresh keeps the time of the sign-in', async ({ supabase }) => {
    const { email } = await supabase.signUp();
    const { body } = await verify(supabase, 'recovery', email, await recoveryCode(supabase, email));
    const { session_id } = claimsOf(body.access_token);
    await supabase.sql`
      update auth.sessions set created_at = created_at - interval '20 minutes' where id = ${session_id}`;
    const first = (await refresh(supabase, body.refresh_token)).body;
    const second = (await refresh(supabase, first.refresh_token)).body;
    for (const session of [first, second]) expect(momentOf(session)).toBe(momentOf(body) - 20 * 60);
  });
});

describe('a new password', () => {
  test('a new password needs an active session', async ({ supabase }) => {
    const { id, email, accessToken } = await supabase.signUp();
    const request = { method: 'PUT', body: { password: 'another one' } };
    const change = (token: string) => supabase.call('/auth/v1/user', { ...request, token });
    const [header, claims] = accessToken.split('.');
    const forged = await change(`${header}.${claims}.AAAA`);
    expect([forged.status, forged.body.code]).toEqual([403, 'bad_jwt']);
    const { access_token: banned } = (await signIn(supabase, email)).body;
    await signOut(supabase, accessToken);
    const ended = await change(accessToken);
    expect([ended.status, ended.body.code]).toEqual([403, 'session_not_found']);
    await ban(supabase, id);
    expect((await change(banned)).body.code).toBe('user_banned');
    await supabase.sql`delete from auth.users where id = ${id}`;
    const deleted = await change(accessToken);
    expect([deleted.status, deleted.body.code]).toEqual([403, 'user_not_found']);
  });

  test('other data can be changed without a new password', async ({ supabase }) => {
    const { accessToken } = await supabase.signUp();
    const { status, body } = await changePassword(supabase, accessToken, { data: { colour: 'red' } });
    expect([status, body.user_metadata.colour]).toEqual([200, 'red']);
  });
});

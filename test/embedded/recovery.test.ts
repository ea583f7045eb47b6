import { describe, expect, inject } from 'vitest';
import { mailsTo } from '../support/mail.ts';
import {
  ban,
  changePassword,
  claimsOf,
  recover,
  recoveryCode,
  refresh,
  signIn,
  signOut,
  verify,
} from './sessions.ts';
import { newEmail, password, type Supabase, test } from './supabase.ts';

const noMail = 'Set TEST_SUPABASE_MAIL_URL to read the mails of that Supabase.';
const expired = { code: 'otp_expired', message: 'Token has expired or is invalid' };

/** Lets the gap between two mails to an address pass. */
const passGap = ({ sql }: Supabase, email: string) =>
  sql`update auth.users set recovery_sent_at = recovery_sent_at - interval '2 minutes' where email = ${email}`;

const other = (code: string) => String((Number(code) + 1) % 10 ** code.length).padStart(code.length, '0');

describe('the code of a recovery mail', () => {
  test.beforeEach(({ supabase, skip }) => skip(!supabase.mailUrl, noMail));

  test('opens a session, once', async ({ supabase }) => {
    const { id, email } = await supabase.signUp();
    const asked = await recover(supabase, email.toUpperCase());
    expect([asked.status, asked.body]).toEqual([200, {}]);
    const code = await recoveryCode(supabase, email);
    const { status, body } = await verify(supabase, 'recovery', email.toUpperCase(), code);
    expect(status).toBe(200);
    expect(body).toMatchObject({ token_type: 'bearer', expires_in: 3600, user: { id, email } });
    expect((await refresh(supabase, body.refresh_token)).status).toBe(200);
    const again = await verify(supabase, 'recovery', email, code);
    expect([again.status, again.body]).toEqual([403, expired]);
  });

  test('opens sessions for those who try it at the same moment, and none later', async ({ supabase }) => {
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

  test('is refused in one way, whatever is wrong with it', async ({ supabase }) => {
    const { email } = await supabase.signUp();
    const stranger = await supabase.signUp();
    const late = await supabase.signUp();
    const code = await recoveryCode(supabase, email);
    const lateCode = await recoveryCode(supabase, late.email);
    await supabase.sql`
      update auth.users set recovery_sent_at = now() - interval '61 minutes' where email = ${late.email}`;
    for (const [type, address, token] of [
      ['recovery', email, other(code)],
      ['signup', email, code],
      ['recovery', stranger.email, code],
      ['recovery', newEmail(), code],
      ['recovery', late.email, lateCode],
    ] as const) {
      const { status, body } = await verify(supabase, type, address, token);
      expect([type, address, status, body]).toEqual([type, address, 403, expired]);
    }
    expect((await verify(supabase, 'recovery', email, code)).status).toBe(200);
  });

  test('is replaced by the next one', async ({ supabase }) => {
    const { email } = await supabase.signUp();
    const first = await recoveryCode(supabase, email);
    await passGap(supabase, email);
    const second = await recoveryCode(supabase, email);
    expect((await verify(supabase, 'recovery', email, first)).body).toEqual(expired);
    expect((await verify(supabase, 'recovery', email, second)).status).toBe(200);
  });

  test('dies when the password is changed meanwhile', async ({ supabase }) => {
    const { email, accessToken } = await supabase.signUp();
    const code = await recoveryCode(supabase, email);
    expect((await changePassword(supabase, accessToken, { password: 'another one' })).status).toBe(200);
    expect((await verify(supabase, 'recovery', email, code)).body).toEqual(expired);
  });

  test('opens nothing for a banned user', async ({ supabase }) => {
    const { id, email } = await supabase.signUp();
    const code = await recoveryCode(supabase, email);
    await ban(supabase, id);
    for (const token of [code, other(code)]) {
      const { status, body } = await verify(supabase, 'recovery', email, token);
      expect([status, body.code]).toEqual([403, 'user_banned']);
    }
  });

  test('is asked for by nobody who has no account, and they are not told', async ({ supabase }) => {
    const email = newEmail();
    const { status, body } = await recover(supabase, email);
    expect([status, body]).toEqual([200, {}]);
    expect(await mailsTo(supabase.mailUrl, email)).toEqual([]);
  });

  test.for([
    ['/auth/v1/recover', {}],
    ['/auth/v1/recover', { email: 'nobody' }],
    ['/auth/v1/resend', { type: 'signup' }],
    ['/auth/v1/resend', { type: 'signup', email: 'nobody' }],
    ['/auth/v1/resend', { email: 'a@example.com' }],
    ['/auth/v1/verify', { type: 'recovery', email: 'a@example.com' }],
    ['/auth/v1/verify', { type: 'recovery', token: '123456' }],
    ['/auth/v1/verify', { email: 'a@example.com', token: '123456' }],
  ] as const)('%s with %o is refused', async ([path, body], { supabase }) => {
    const answer = await supabase.call(path, { body });
    expect([answer.status, answer.body.code]).toEqual([400, 'validation_failed']);
  });
});

describe('the way of signing in', () => {
  const amrOf = (session: { access_token: string }) => claimsOf(session.access_token).amr;

  test('is named in the access token', async ({ supabase, skip }) => {
    skip(!supabase.mailUrl, noMail);
    const { email } = await supabase.signUp();
    const before = Math.floor(Date.now() / 1000);
    const code = await recoveryCode(supabase, email);
    for (const [method, { body }] of [
      ['password', await signIn(supabase, email)],
      ['otp', await verify(supabase, 'recovery', email, code)],
    ] as const) {
      const [{ timestamp }] = amrOf(body);
      expect(amrOf(body)).toEqual([{ method, timestamp: expect.any(Number) }]);
      expect(Math.abs(timestamp - before)).toBeLessThan(60);
    }
  });

  test.runIf(inject('stack').embedded)(
    'keeps its moment when the session is refreshed',
    async ({ supabase }) => {
      const { email } = await supabase.signUp();
      const { body } = await verify(supabase, 'recovery', email, await recoveryCode(supabase, email));
      const { session_id } = claimsOf(body.access_token);
      await supabase.sql`
      update auth.sessions set created_at = created_at - interval '20 minutes' where id = ${session_id}`;
      const first = (await refresh(supabase, body.refresh_token)).body;
      const second = (await refresh(supabase, first.refresh_token)).body;
      const [{ method, timestamp }] = amrOf(body);
      for (const session of [first, second]) {
        expect(amrOf(session)).toEqual([{ method, timestamp: timestamp - 20 * 60 }]);
      }
    },
  );
});

describe('a new password', () => {
  test('ends all other sessions, and signs in from now on', async ({ supabase }) => {
    const { email, accessToken, refreshToken } = await supabase.signUp();
    const elsewhere = (await signIn(supabase, email)).body;
    const { status, body } = await changePassword(supabase, accessToken, { password: 'another one' });
    expect([status, body.email]).toEqual([200, email]);
    const gone = await refresh(supabase, elsewhere.refresh_token);
    expect([gone.status, gone.body.code]).toEqual([400, 'refresh_token_not_found']);
    expect((await supabase.call('/auth/v1/user', { token: elsewhere.access_token })).body.code).toBe(
      'session_not_found',
    );
    expect((await refresh(supabase, refreshToken)).status).toBe(200);
    expect((await signIn(supabase, email)).body.code).toBe('invalid_credentials');
    expect((await signIn(supabase, email, 'another one')).status).toBe(200);
  });

  test('needs no old one after a recovery', async ({ supabase, skip }) => {
    skip(!supabase.mailUrl, noMail);
    const { email } = await supabase.signUp();
    const { body } = await verify(supabase, 'recovery', email, await recoveryCode(supabase, email));
    expect((await changePassword(supabase, body.access_token, { password: 'another one' })).status).toBe(200);
    expect((await signIn(supabase, email, 'another one')).status).toBe(200);
  });

  test.for([
    ['the same password', password, 422, 'same_password'],
    ['a short password', 'short', 422, 'weak_password'],
    ['an empty password', '', 422, 'weak_password'],
    ['a password of 73 bytes', `${'a'.repeat(71)}é`, 400, 'validation_failed'],
  ] as const)(
    'that is %s is refused, and changes nothing',
    async ([, secret, expected, code], { supabase }) => {
      const { email, accessToken } = await supabase.signUp();
      const elsewhere = (await signIn(supabase, email)).body;
      const { status, body } = await changePassword(supabase, accessToken, { password: secret });
      expect([status, body.code]).toEqual([expected, code]);
      expect((await refresh(supabase, elsewhere.refresh_token)).status).toBe(200);
      expect((await signIn(supabase, email)).status).toBe(200);
    },
  );

  test('needs a session that lives', async ({ supabase }) => {
    const { id, email, accessToken } = await supabase.signUp();
    const request = { method: 'PUT', body: { password: 'another one' } };
    const change = (token?: string) =>
      supabase.call('/auth/v1/user', { ...request, ...(token && { token }) });
    const [header, claims] = accessToken.split('.');
    // Without a token the key stands for nobody, and its own token is no user's.
    for (const refused of [await change(), await change(`${header}.${claims}.AAAA`)])
      expect([refused.status, refused.body.code]).toEqual([403, 'bad_jwt']);
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

  test('is not needed to change other data', async ({ supabase }) => {
    const { accessToken } = await supabase.signUp();
    const { status, body } = await changePassword(supabase, accessToken, { data: { colour: 'red' } });
    expect([status, body.user_metadata.colour]).toEqual([200, 'red']);
  });
});

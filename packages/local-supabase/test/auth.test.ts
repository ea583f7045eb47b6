import { randomUUID } from 'node:crypto';
import { expect, inject, onTestFinished } from 'vitest';
import { mailsTo } from '../../../test/support/mail.ts';
import { ban, claimsOf, codeOf, newEmail, password, signIn, test, testWith } from './supabase.ts';

test('sign-up returns the user, and a token for one hour with the claims of Auth', async ({ supabase }) => {
  const email = newEmail();
  const body = { email: email.toUpperCase(), password, data: { full_name: 'Jo' } };
  const session = (await supabase.call('/auth/v1/signup', { body })).body;
  const { id } = session.user;
  const shared = {
    email,
    phone: '',
    aud: 'authenticated',
    role: 'authenticated',
    is_anonymous: false,
    app_metadata: { provider: 'email', providers: ['email'] },
    user_metadata: { full_name: 'Jo', email, sub: id },
  };
  expect(session.user).toMatchObject({ ...shared, created_at: expect.stringMatching(/T.*Z$/) });
  const claims = claimsOf(session.access_token);
  const ofSession = { iss: expect.stringMatching(/\/auth\/v1$/), session_id: expect.any(String) };
  expect(claims).toMatchObject({ ...shared, ...ofSession, sub: id, amr: [{ method: 'password' }] });
  expect(claims.exp).toBe(session.expires_at);
  expect(claims.exp - claims.iat).toBe(3600);
});

testWith({ anonymousSignIns: true })('sign-up without an address makes an anonymous user', async ({ supabase }) => {
  const { status, body } = await supabase.call('/auth/v1/signup', { body: {} });
  expect([status, body.user]).toEqual([
    200,
    expect.objectContaining({ email: '', is_anonymous: true, app_metadata: {}, identities: [] }),
  ]);
  const claims = { sub: body.user.id, is_anonymous: true, amr: [{ method: 'anonymous' }], role: 'authenticated' };
  expect(claimsOf(body.access_token)).toMatchObject(claims);
  const next = { refresh_token: body.refresh_token };
  const refreshed = (await supabase.call('/auth/v1/token?grant_type=refresh_token', { body: next })).body;
  expect(claimsOf(refreshed.access_token)).toMatchObject(claims);
});

test.for([
  ['sign-up with a known address', {}, '422 user_already_exists'],
  ['sign-up with a short password', { email: newEmail(), password: 'short' }, '422 weak_password'],
  ['sign-up with an empty password', { email: newEmail(), password: '' }, '400 validation_failed'],
  ['sign-up with 73 bytes', { email: newEmail(), password: 'é'.repeat(37) }, '400 validation_failed'],
  ['sign-up with a malformed address', { email: 'nobody' }, '400 validation_failed'],
  ['sign-up without an address', { email: undefined }, '422 anonymous_provider_disabled'],
  ['sign-up with a number for an address', { email: 7 }, '400 bad_json'],
  ['sign-in without an address', { email: undefined }, '400 validation_failed'],
  ['an unknown grant', {}, '400 invalid_credentials'],
  ['sign-in with a body that is no JSON', '{', '400 bad_json'],
  ['sign-in with a body that is no object', '[]', '400 bad_json'],
] as const)('%s is rejected', async ([title, given, expected], { supabase }) => {
  const email = (await supabase.signUp()).email.toUpperCase();
  const body = typeof given === 'string' ? given : { email, password, ...given };
  const grant = title === 'an unknown grant' ? 'magic' : 'password';
  const path = title.startsWith('sign-up') ? 'signup' : `token?grant_type=${grant}`;
  const answer = await supabase.call(`/auth/v1/${path}`, { body });
  expect(`${answer.status} ${answer.body.code}`).toBe(expected);
  if (answer.body.code === 'weak_password') expect(answer.body.weak_password.reasons).toEqual(['length']);
});

test('triggers see a sign-up as Auth writes it, and a failing trigger rolls it back', async ({ supabase }) => {
  const { sql } = supabase;
  // Use a security definer, because Auth's role has no rights outside its schema.
  await sql.unsafe(`
    create schema compat;
    create table compat.seen (email text, metadata jsonb, confirmed boolean, role text, n int generated always as identity);
    create function compat.see() returns trigger language plpgsql security definer set search_path = '' as $$
    begin
      if new.email like 'rejected%' then raise exception 'no'; end if;
      insert into compat.seen
        values (new.email, new.raw_user_meta_data, new.email_confirmed_at is not null, session_user);
      return new;
    end $$;
    create trigger compat_see after insert or update of raw_user_meta_data on auth.users
      for each row execute function compat.see();`);
  onTestFinished(async () => void (await sql.unsafe('drop schema compat cascade')));
  const signUp = (email: string) =>
    supabase.call('/auth/v1/signup', { body: { email, password, data: { full_name: 'Jo' } } });
  const [email, rejected] = [newEmail(), `rejected-${newEmail()}`];
  expect((await signUp(email)).status).toBe(200);
  const seen = await sql`select metadata, confirmed, role from compat.seen where email = ${email} order by n`;
  expect(seen[0]).toEqual({ metadata: { full_name: 'Jo' }, confirmed: false, role: 'supabase_auth_admin' });
  expect(seen.at(-1)).toMatchObject({ metadata: { full_name: 'Jo', email } });
  expect(await codeOf(signUp(rejected))).toBe('500 unexpected_failure');
  expect(await sql`select from auth.users where email = ${rejected}`).toHaveLength(0);
});

test('sign-in ignores the case of the address, and checks the ban before the password', async ({ supabase }) => {
  const user = await supabase.signUp();
  const { status, body } = await signIn(supabase, user.email.toUpperCase());
  expect([status, body.user.id]).toEqual([200, user.id]);
  expect(claimsOf(body.access_token).session_id).not.toBe(claimsOf(user.accessToken).session_id);
  for (const failed of [await signIn(supabase, newEmail()), await signIn(supabase, user.email, 'wrong')]) {
    const invalid = { code: 'invalid_credentials', message: 'Invalid login credentials' };
    expect([failed.status, failed.body]).toEqual([400, invalid]);
    expect(failed.headers.get('x-supabase-api-version')).toBe('2024-01-01');
    expect(failed.headers.get('x-sb-error-code')).toBe('invalid_credentials');
  }
  await ban(supabase, user.id);
  for (const secret of [password, 'wrong'])
    expect(await codeOf(signIn(supabase, user.email, secret))).toBe('400 user_banned');
  await supabase.sql`update auth.users set banned_until = now() - interval '1 second' where id = ${user.id}`;
  expect((await signIn(supabase, user.email)).status).toBe(200);
});

const users = '/auth/v1/admin/users';

test('a phone number is rejected, not ignored', async ({ supabase }) => {
  const phone = '+41790000000';
  const { accessToken: token } = await supabase.signUp();
  const service = { apikey: supabase.secretKey };
  for (const [method, path, request] of [
    ['POST', 'signup', {}],
    ['POST', 'otp', {}],
    ['PUT', 'user', { token }],
    ['POST', 'admin/users', service],
  ] as const)
    expect(await codeOf(supabase.call(`/auth/v1/${path}`, { method, body: { phone, password }, ...request }))).toBe(
      '400 phone_provider_disabled',
    );
});

test('the admin API returns the code of a recovery, which opens a session', async ({ supabase }) => {
  const { email } = await supabase.signUp();
  const apikey = supabase.secretKey;
  const link = { type: 'recovery', email };
  const { body } = await supabase.call('/auth/v1/admin/generate_link', { apikey, body: link });
  expect(body.email_otp).toMatch(/^\d{8}$/);
  const code = { type: 'recovery', email, token: body.email_otp };
  expect((await supabase.call('/auth/v1/verify', { body: code })).body.user.email).toBe(email);
});

test('the admin API creates and deletes a user, only with the secret key', async ({ supabase }) => {
  const admin = (path: string, request: object) =>
    supabase.call(users + path, { apikey: supabase.secretKey, ...request });
  const body = { email: newEmail(), password };
  const made = await admin('', { body: { ...body, email_confirm: true } });
  const { id } = made.body;
  expect([made.status, made.body.email]).toEqual([200, body.email]);
  if (supabase.mailUrl) expect(await mailsTo(supabase.mailUrl, body.email)).toEqual([]);
  expect(await codeOf(admin('', { body }))).toBe('422 email_exists');
  expect((await signIn(supabase, body.email)).status).toBe(200);

  const { accessToken: token } = await supabase.signUp();
  for (const caller of [{}, { token }, { token, apikey: supabase.secretKey }])
    for (const [path, request] of [
      [users, { body: { email: newEmail(), password } }],
      [`${users}/${id}`, { method: 'DELETE' }],
    ] as const)
      expect((await supabase.call(path, { ...caller, ...request })).status).toBeGreaterThanOrEqual(401);
  expect((await admin(`/${id}`, { method: 'DELETE' })).status).toBe(200);
  for (const gone of [id, randomUUID()])
    expect(await codeOf(admin(`/${gone}`, { method: 'DELETE' }))).toBe('404 user_not_found');
});

// The project of TEST_SUPABASE_URL may have another setting.
testWith({ emailSignIn: false }).runIf(inject('stack').embedded)(
  'sign-up and sign-in by e-mail are rejected if that provider is disabled',
  async ({ supabase }) => {
    const body = { email: newEmail(), password };
    expect(await codeOf(supabase.call('/auth/v1/signup', { body }))).toBe('400 email_provider_disabled');
    expect(await codeOf(signIn(supabase, body.email))).toBe('422 email_provider_disabled');
  },
);

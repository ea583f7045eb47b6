import { expect, inject } from 'vitest';
import { ban, claimsOf, signIn } from './sessions.ts';
import { codeOf, newEmail, password, test, testWith } from './supabase.ts';

test('sign-up returns a session of an hour, its user and a token with the claims of Auth', async ({
  supabase,
}) => {
  const email = newEmail();
  const { status, body } = await supabase.call('/auth/v1/signup', {
    body: { email: email.toUpperCase(), password, data: { full_name: 'Jo' } },
  });
  expect(status).toBe(200);
  expect(body).toMatchObject({ token_type: 'bearer', expires_in: 3600 });
  const shared = { email, phone: '', aud: 'authenticated', role: 'authenticated', is_anonymous: false };
  const { id } = body.user;
  expect(body.user).toMatchObject({
    ...shared,
    app_metadata: { provider: 'email', providers: ['email'] },
    user_metadata: { full_name: 'Jo', email, sub: id },
    identities: [{ provider: 'email', id, user_id: id }],
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
  });
  const claims = claimsOf(body.access_token);
  expect(claims).toMatchObject({
    ...shared,
    iss: expect.stringMatching(/\/auth\/v1$/),
    sub: id,
    app_metadata: { provider: 'email' },
    user_metadata: { full_name: 'Jo' },
    aal: 'aal1',
    amr: [{ method: 'password' }],
    session_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    exp: body.expires_at,
  });
  expect(claims.exp - claims.iat).toBe(3600);
});

test.for([
  ['a known address', {}, '422 user_already_exists'],
  ['a short password', { email: newEmail(), password: 'short' }, '422 weak_password'],
  ['an empty password', { email: newEmail(), password: '' }, '400 validation_failed'],
  ['a password of 73 bytes', { email: newEmail(), password: `${'a'.repeat(71)}é` }, '400 validation_failed'],
  ['a malformed address', { email: 'nobody' }, '400 validation_failed'],
  ['no address', { email: undefined }, '422 anonymous_provider_disabled'],
  ['a number for an address', { email: 7 }, '400 bad_json'],
] as const)('sign-up with %s is rejected', async ([, given, expected], { supabase }) => {
  const { email } = await supabase.signUp();
  const body = { email: email.toUpperCase(), password, ...given };
  const answer = await supabase.call('/auth/v1/signup', { body });
  expect(await codeOf(Promise.resolve(answer))).toBe(expected);
  if (expected.endsWith('weak_password')) expect(answer.body.weak_password.reasons).toEqual(['length']);
});

test('triggers see a sign-up as Auth writes it, and one that fails rolls it back', async ({ supabase }) => {
  const { sql } = supabase;
  // Definer, because Auth's role has no rights outside its own schema.
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
  try {
    const signUp = (email: string) =>
      supabase.call('/auth/v1/signup', { body: { email, password, data: { full_name: 'Jo' } } });
    const [email, rejected] = [newEmail(), `rejected-${newEmail()}`];
    expect((await signUp(email)).status).toBe(200);
    const seen =
      await sql`select metadata, confirmed, role from compat.seen where email = ${email} order by n`;
    expect(seen[0]).toEqual({ metadata: { full_name: 'Jo' }, confirmed: false, role: 'supabase_auth_admin' });
    expect(seen.at(-1)).toMatchObject({ metadata: { full_name: 'Jo', email } });
    expect(await codeOf(signUp(rejected))).toBe('500 unexpected_failure');
    expect(await sql`select from auth.users where email = ${rejected}`).toHaveLength(0);
  } finally {
    await sql.unsafe('drop schema compat cascade');
  }
});

test('sign-in opens a new session whatever the case of the address, or fails with one error', async ({
  supabase,
}) => {
  const user = await supabase.signUp();
  const { status, body } = await signIn(supabase, user.email.toUpperCase());
  expect([status, body.user.id]).toEqual([200, user.id]);
  expect(claimsOf(body.access_token).session_id).not.toBe(claimsOf(user.accessToken).session_id);
  for (const call of [signIn(supabase, newEmail()), signIn(supabase, user.email, 'wrong password')]) {
    const failed = await call;
    const invalid = { code: 'invalid_credentials', message: 'Invalid login credentials' };
    expect([failed.status, failed.body]).toEqual([400, invalid]);
    expect(failed.headers.get('x-supabase-api-version')).toBe('2024-01-01');
    expect(failed.headers.get('x-sb-error-code')).toBe('invalid_credentials');
  }
});

test('sign-in rejects a banned user before it checks the password', async ({ supabase }) => {
  const { id, email } = await supabase.signUp();
  await ban(supabase, id);
  for (const secret of [password, 'wrong password'])
    expect(await codeOf(signIn(supabase, email, secret))).toBe('400 user_banned');
  await supabase.sql`update auth.users set banned_until = now() - interval '1 second' where id = ${id}`;
  expect((await signIn(supabase, email)).status).toBe(200);
});

test.for([
  ['no address', 'password', { password }, '400 validation_failed'],
  ['an unknown grant', 'magic', {}, '400 invalid_credentials'],
  ['a body that is no JSON', 'password', '{', '400 bad_json'],
  ['a body that is no object', 'password', '[]', '400 bad_json'],
] as const)('sign-in with %s is rejected', async ([, grant, body, expected], { supabase }) => {
  expect(await codeOf(supabase.call(`/auth/v1/token?grant_type=${grant}`, { body }))).toBe(expected);
});

// A setting that a stack given by TEST_SUPABASE_URL need not have.
testWith({ emailSignIn: false }).runIf(inject('stack').embedded)(
  'sign-up and sign-in by e-mail are rejected where that provider is switched off',
  async ({ supabase }) => {
    const body = { email: newEmail(), password };
    expect(await codeOf(supabase.call('/auth/v1/signup', { body }))).toBe('400 email_provider_disabled');
    expect(await codeOf(signIn(supabase, body.email))).toBe('422 email_provider_disabled');
  },
);

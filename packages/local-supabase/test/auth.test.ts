import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { describe, expect } from 'vitest';
import { atOnce, ban, claimsOf, signIn } from './sessions.ts';
import { newEmail, password, test } from './supabase.ts';

describe('sign-up', () => {
  test('returns a session of an hour with its user', async ({ supabase }) => {
    const email = newEmail();
    const { status, body } = await supabase.call('/auth/v1/signup', {
      body: { email: email.toUpperCase(), password, data: { full_name: 'Jo' } },
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ token_type: 'bearer', expires_in: 3600 });
    expect(Math.abs(body.expires_at - Date.now() / 1000 - 3600)).toBeLessThan(30);
    expect(claimsOf(body.access_token).exp).toBe(body.expires_at);
    expect(body.user).toMatchObject({
      email,
      phone: '',
      aud: 'authenticated',
      role: 'authenticated',
      is_anonymous: false,
      app_metadata: { provider: 'email', providers: ['email'] },
      user_metadata: { full_name: 'Jo', email, sub: body.user.id },
      identities: [{ provider: 'email', id: body.user.id, user_id: body.user.id }],
    });
    expect(body.user.created_at).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  });

  test('returns an access token with the claims of Auth', async ({ supabase }) => {
    const { id, email, accessToken } = await supabase.signUp(newEmail(), { full_name: 'Jo' });
    const claims = claimsOf(accessToken);
    expect(claims).toMatchObject({
      iss: expect.stringMatching(/\/auth\/v1$/),
      sub: id,
      aud: 'authenticated',
      role: 'authenticated',
      email,
      phone: '',
      app_metadata: { provider: 'email' },
      user_metadata: { full_name: 'Jo' },
      aal: 'aal1',
      amr: [{ method: 'password' }],
      session_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      is_anonymous: false,
    });
    expect(claims.exp - claims.iat).toBe(3600);
  });

  test.for([
    ['a known address', { email: 'known' }, 422, 'user_already_exists'],
    ['a short password', { password: 'short' }, 422, 'weak_password'],
    ['an empty password', { password: '' }, 400, 'validation_failed'],
    ['a password of 73 bytes', { password: `${'a'.repeat(71)}é` }, 400, 'validation_failed'],
    ['a malformed address', { email: 'nobody' }, 400, 'validation_failed'],
    ['no address', { email: undefined }, 422, 'anonymous_provider_disabled'],
    ['a number for an address', { email: 7 }, 400, 'bad_json'],
  ] as const)('with %s is rejected', async ([, given, expected, code], { supabase }) => {
    const { email: known } = await supabase.signUp();
    const email = 'email' in given && given.email === 'known' ? known.toUpperCase() : newEmail();
    const { status, body } = await supabase.call('/auth/v1/signup', {
      body: { email, password, ...given, ...('email' in given && given.email === 'known' && { email }) },
    });
    expect([status, body.code]).toEqual([expected, code]);
    if (code === 'weak_password') expect(body.weak_password.reasons).toEqual(['length']);
  });

  test('creates one account for three simultaneous requests and fails for two', async ({ supabase }) => {
    const email = newEmail();
    const signUp = () => supabase.call('/auth/v1/signup', { body: { email, password } });
    const answers = await atOnce(supabase, email, [signUp, signUp, signUp]);
    const statuses = answers.map(({ status, body }) => [status, body.code, body.message]).sort();
    const failed = [500, 'unexpected_failure', 'Database error saving new user'];
    expect(statuses).toEqual([[200, undefined, undefined], failed, failed]);
    expect((await signIn(supabase, email)).status).toBe(200);
  });

  test('shows triggers the data of the request, then the complete user, and rolls back', async ({
    supabase,
  }) => {
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
      const { email } = await supabase.signUp(newEmail(), { full_name: 'Jo' });
      const seen =
        await sql`select metadata, confirmed, role from compat.seen where email = ${email} order by n`;
      expect(seen[0]).toEqual({
        metadata: { full_name: 'Jo' },
        confirmed: false,
        role: 'supabase_auth_admin',
      });
      expect(seen.at(-1)).toMatchObject({ metadata: { full_name: 'Jo', email } });

      const rejected = `rejected-${newEmail()}`;
      const { status, body } = await supabase.call('/auth/v1/signup', {
        body: { email: rejected, password },
      });
      expect([status, body.code]).toEqual([500, 'unexpected_failure']);
      expect(await sql`select from auth.users where email = ${rejected}`).toHaveLength(0);
    } finally {
      await sql.unsafe('drop schema compat cascade');
    }
  });
});

describe('sign-in', () => {
  test('opens a new session whatever the case of the address', async ({ supabase }) => {
    const user = await supabase.signUp();
    const { status, body } = await signIn(supabase, user.email.toUpperCase());
    expect([status, body.user.id]).toEqual([200, user.id]);
    expect(claimsOf(body.access_token).session_id).not.toBe(claimsOf(user.accessToken).session_id);
  });

  test('answers an unknown address as a wrong password', async ({ supabase }) => {
    const { email } = await supabase.signUp();
    const answers = [await signIn(supabase, newEmail()), await signIn(supabase, email, 'wrong password')];
    for (const { status, body } of answers) {
      expect([status, body]).toEqual([
        400,
        { code: 'invalid_credentials', message: 'Invalid login credentials' },
      ]);
    }
  });

  test('rejects a banned user before it checks the password', async ({ supabase }) => {
    const { id, email } = await supabase.signUp();
    await ban(supabase, id);
    const answers = [await signIn(supabase, email), await signIn(supabase, email, 'wrong password')];
    expect(answers.map(({ status, body }) => [status, body.code])).toEqual([
      [400, 'user_banned'],
      [400, 'user_banned'],
    ]);
    await supabase.sql`update auth.users set banned_until = now() - interval '1 second' where id = ${id}`;
    expect((await signIn(supabase, email)).status).toBe(200);
  });

  test('rejects a request without an address and an unknown grant', async ({ supabase }) => {
    const noAddress = await supabase.call('/auth/v1/token?grant_type=password', { body: { password } });
    expect([noAddress.status, noAddress.body.code]).toEqual([400, 'validation_failed']);
    const unknown = await supabase.call('/auth/v1/token?grant_type=magic', { body: {} });
    expect([unknown.status, unknown.body.code]).toEqual([400, 'invalid_credentials']);
  });
});

describe('errors of Auth', () => {
  const wrong = { body: { email: 'a@b.co', password: 'wrong' } };
  const path = '/auth/v1/token?grant_type=password';

  test('have a code that is a word since API version 2024-01-01', async ({ supabase }) => {
    const { status, body, headers } = await supabase.call(path, wrong);
    expect([status, body]).toEqual([
      400,
      { code: 'invalid_credentials', message: 'Invalid login credentials' },
    ]);
    expect(headers.get('x-supabase-api-version')).toBe('2024-01-01');
    expect(headers.get('x-sb-error-code')).toBe('invalid_credentials');
  });

  test('say that a body is no JSON object', async ({ supabase }) => {
    for (const body of ['{', '', '[]', '"text"']) {
      const answer = await supabase.call(path, { body });
      expect([body, answer.status, answer.body.code]).toEqual([body, 400, 'bad_json']);
    }
  });

  test('come from the edge for a missing API key', async ({ supabase }) => {
    const { status, body } = await supabase.call(path, { ...wrong, apikey: null });
    expect([status, body.message]).toEqual([401, 'No API key found in request']);
  });
});

test('the published key set verifies access tokens and holds no shared secret', async ({ supabase }) => {
  const { accessToken } = await supabase.signUp();
  const { status, body } = await supabase.call('/auth/v1/.well-known/jwks.json', { apikey: null });
  expect(status).toBe(200);
  if (decodeProtectedHeader(accessToken).alg === 'HS256') expect(body).toEqual({ keys: [] });
  else expect((await jwtVerify(accessToken, createLocalJWKSet(body))).payload.aud).toBe('authenticated');
});

test('the health check of Auth succeeds', async ({ supabase }) => {
  const { status, body } = await supabase.call('/auth/v1/health');
  expect([status, body.name]).toEqual([200, 'GoTrue']);
});

import { describe, expect } from 'vitest';
import { forge } from '../../../test/support/forge.ts';
import { ban, claimsOf, refresh, signIn, signOut } from './sessions.ts';
import { type Supabase, test } from './supabase.ts';

describe('refreshing a session', () => {
  test('exchanges the refresh token for a new one in the same session', async ({ supabase }) => {
    const user = await supabase.signUp();
    const { status, body } = await refresh(supabase, user.refreshToken);
    expect([status, body.user.id]).toEqual([200, user.id]);
    expect(body.refresh_token).not.toBe(user.refreshToken);
    expect(claimsOf(body.access_token).session_id).toBe(claimsOf(user.accessToken).session_id);
  });

  test('returns the current token for the previous one, any number of times', async ({ supabase }) => {
    const { refreshToken: first } = await supabase.signUp();
    const second = (await refresh(supabase, first)).body.refresh_token;
    for (const _ of [1, 2]) expect((await refresh(supabase, first)).body.refresh_token).toBe(second);
    expect((await refresh(supabase, second)).status).toBe(200);
  });

  /** Three tokens of one session, each got for the one before, which were used a minute ago. */
  async function threeTokens(supabase: Supabase) {
    const { id, accessToken, refreshToken: first } = await supabase.signUp();
    const second = (await refresh(supabase, first)).body.refresh_token;
    const third = (await refresh(supabase, second)).body.refresh_token;
    await supabase.sql`
      update auth.refresh_tokens set updated_at = updated_at - interval '1 minute' where user_id = ${id}`;
    return { id, accessToken, first, second, third };
  }

  test('exchanges an older token for another one within 10 s of its use', async ({ supabase }) => {
    const { refreshToken: first } = await supabase.signUp();
    const second = (await refresh(supabase, first)).body.refresh_token;
    const third = (await refresh(supabase, second)).body.refresh_token;
    const { status, body } = await refresh(supabase, first);
    expect(status).toBe(200);
    expect([first, second, third]).not.toContain(body.refresh_token);
  });

  test('rejects an older token after 10 s, and the current one 10 s later', async ({ supabase }) => {
    const { id, first, second, third } = await threeTokens(supabase);
    const { status, body } = await refresh(supabase, first);
    expect([status, body.code]).toEqual([400, 'refresh_token_already_used']);
    await supabase.sql`
      update auth.refresh_tokens set updated_at = updated_at - interval '11 seconds' where user_id = ${id}`;
    for (const token of [third, second, first]) {
      expect((await refresh(supabase, token)).body.code).toBe('refresh_token_already_used');
    }
  });

  test('keeps a session whose current token is used within 10 s of a rejected one', async ({ supabase }) => {
    const { first, third } = await threeTokens(supabase);
    expect((await refresh(supabase, first)).body.code).toBe('refresh_token_already_used');
    const next = await refresh(supabase, third);
    expect(next.status).toBe(200);
    expect((await refresh(supabase, next.body.refresh_token)).status).toBe(200);
  });

  test('exchanges a token once for many simultaneous requests', async ({ supabase }) => {
    const { refreshToken } = await supabase.signUp();
    const answers = await Promise.all(Array.from({ length: 10 }, () => refresh(supabase, refreshToken)));
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.refresh_token}`))).toHaveLength(1);
    expect(answers[0]?.status).toBe(200);
  });

  test('rejects the token of a session that was signed out', async ({ supabase }) => {
    const { accessToken, refreshToken } = await supabase.signUp();
    expect((await signOut(supabase, accessToken)).status).toBe(204);
    const { status, body } = await refresh(supabase, refreshToken);
    expect([status, body.code]).toEqual([400, 'refresh_token_not_found']);
  });

  test('rejects the token of a session that an administrator deleted', async ({ supabase }) => {
    const { id, refreshToken } = await supabase.signUp();
    await supabase.sql`delete from auth.sessions where user_id = ${id}`;
    expect((await refresh(supabase, refreshToken)).body.code).toBe('refresh_token_not_found');
  });

  test('rejects a malformed token', async ({ supabase }) => {
    for (const token of ['nonsense', '']) {
      const { status, body } = await refresh(supabase, token);
      expect([status, body.code]).toEqual([400, 'validation_failed']);
    }
  });

  test('rejects an unknown token', async ({ supabase }) => {
    const { status, body } = await refresh(supabase, 'abcdefghijkl');
    expect([status, body.code]).toEqual([400, 'refresh_token_not_found']);
  });

  test('rejects the token of a banned user', async ({ supabase }) => {
    const { id, refreshToken } = await supabase.signUp();
    await ban(supabase, id);
    const { status, body } = await refresh(supabase, refreshToken);
    expect([status, body.code]).toEqual([400, 'user_banned']);
  });
});

describe('sign-out', () => {
  test('ends this session and keeps the other sessions of the user', async ({ supabase }) => {
    const { email, accessToken } = await supabase.signUp();
    const other = await signIn(supabase, email);
    expect((await signOut(supabase, accessToken)).status).toBe(204);
    expect((await refresh(supabase, other.body.refresh_token)).status).toBe(200);
    const again = await signOut(supabase, accessToken);
    expect([again.status, again.body.code]).toEqual([403, 'session_not_found']);
  });
});

describe('routes for signed-in users', () => {
  test('reject a token that is forged, expired, unsigned or without a user', async ({ supabase, skip }) => {
    const { accessToken } = await supabase.signUp();
    const sign = (claims: object) => forge(skip, { ...claims });
    const claims = claimsOf(accessToken);
    const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${accessToken.split('.')[1]}.`;
    const cases: [string, number, string][] = [
      ['nonsense', 403, 'bad_jwt'],
      [`${accessToken.slice(0, -4)}AAAA`, 403, 'bad_jwt'],
      [unsigned, 403, 'bad_jwt'],
      [await sign({ ...claims, exp: claims.iat - 1 }), 403, 'bad_jwt'],
      [await sign({ ...claims, sub: crypto.randomUUID() }), 403, 'user_not_found'],
      [await sign({ ...claims, sub: 'nobody' }), 400, 'bad_jwt'],
    ];
    for (const [token, expected, code] of cases) {
      for (const path of ['/auth/v1/user', '/auth/v1/logout']) {
        const method = path.endsWith('logout') ? 'POST' : 'GET';
        const { status, body } = await supabase.call(path, { method, token });
        expect([path, token, status, body.code]).toEqual([path, token, expected, code]);
      }
    }
  });

  test('reject the token of a banned user', async ({ supabase }) => {
    const { id, accessToken: token } = await supabase.signUp();
    await ban(supabase, id);
    const { status, body } = await supabase.call('/auth/v1/user', { token });
    expect([status, body.code]).toEqual([403, 'user_banned']);
  });
});

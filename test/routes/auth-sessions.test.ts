import { decodeJwt, decodeProtectedHeader } from 'jose';
import { describe, expect } from 'vitest';
import { type Api, bearer } from '../support/api.ts';
import { newEmail, password, type Session, signUp, test } from '../support/test.ts';

describe('POST /auth/signin', () => {
  test('POST /auth/signin gives a session that opens the catalogue', async ({ api }) => {
    const { user } = await signUp(api);
    const { body } = await api.post('/auth/signin').send({ email: user.email, password }).expect(200);
    expect(body.data.user).toEqual(user);
    await api.get('/sounds').auth(body.data.access_token, bearer).expect(200);
  });

  test('unknown address, wrong password and locked account look the same', async ({ api, sql }) => {
    const known = await signUp(api);
    const locked = await signUp(api);
    await sql`update public.customers set is_active = false where id = ${locked.user.id}`;
    const answers = await Promise.all([
      api.post('/auth/signin').send({ email: newEmail(), password }),
      api.post('/auth/signin').send({ email: known.user.email, password: 'wrong password' }),
      api.post('/auth/signin').send({ email: locked.user.email, password }),
      api.post('/auth/signin').send({ email: locked.user.email, password: 'wrong password' }),
    ]);
    for (const { status, headers, body } of answers) {
      expect(status).toBe(401);
      expect(headers['www-authenticate']).toBe('Bearer realm="sounds"');
      expect(headers['x-error-reason']).toBe('invalid_credentials');
      expect(body).toEqual(answers[0]?.body);
    }
  });
});

const refresh = (api: Api, token: unknown) => api.post('/auth/refresh').send({ refresh_token: token });

describe('POST /auth/refresh', () => {
  test('POST /auth/refresh rotates both tokens and carries no user', async ({ api }) => {
    const first = await signUp(api);
    const second = await refresh(api, first.refresh_token).expect(200);
    expect(Object.keys(second.body.data).sort()).toEqual(
      ['access_token', 'expires_at', 'expires_in', 'refresh_token', 'token_type'].sort(),
    );
    const third = await refresh(api, second.body.data.refresh_token).expect(200);
    const sessions = [first, second.body.data, third.body.data];
    expect(new Set(sessions.map((session) => session.refresh_token)).size).toBe(3);
    // HS256 signatures are deterministic, so two tokens of the same second are equal.
    if (decodeProtectedHeader(first.access_token).alg !== 'HS256')
      expect(new Set(sessions.map((session) => session.access_token)).size).toBe(3);
    await api.get('/sounds').auth(third.body.data.access_token, bearer).expect(200);
  });

  test('a token that was replaced long ago is rejected', async ({ api, sql }) => {
    const session = await signUp(api);
    const second = await refresh(api, session.refresh_token);
    await refresh(api, second.body.data.refresh_token);
    // Auth accepts a used token for some seconds. This makes them pass.
    await sql`update auth.refresh_tokens set updated_at = updated_at - interval '1 hour' where user_id = ${session.user.id}`;
    await refresh(api, session.refresh_token).expect(401);
  });

  test('simultaneous refreshes of one token all get a session of its user', async ({ api }) => {
    const sessions = await Promise.all([signUp(api), signUp(api)]);
    const answers = await Promise.all(
      [0, 1, 0, 1, 0, 1].map(async (who) => {
        const session = sessions[who] as Session;
        return [session.user.id, await refresh(api, session.refresh_token)] as const;
      }),
    );
    for (const [userId, { status, body }] of answers) {
      expect(status).toBe(200);
      expect(decodeJwt(body.data.access_token).sub).toBe(userId);
    }
  });

  test('an unknown, malformed or ended token is 401', async ({ api }) => {
    const { access_token, refresh_token } = await signUp(api);
    await api.post('/auth/signout').auth(access_token, bearer).expect(200);
    for (const token of [refresh_token, 'abcdefghijkl', 'x', ' ', '💥'.repeat(20), access_token]) {
      const { status, headers } = await refresh(api, token);
      expect([status, headers['x-error-reason']], token).toEqual([401, 'session_ended']);
    }
  });
});

describe('POST /auth/signout', () => {
  test('ends the session of the token and leaves another one of the user alive', async ({ api }) => {
    const phone = await signUp(api);
    const tablet = await api.post('/auth/signin').send({ email: phone.user.email, password }).expect(200);
    const { body } = await api.post('/auth/signout').auth(phone.access_token, bearer).expect(200);
    expect(body).toEqual({ data: { ok: true } });
    await refresh(api, phone.refresh_token).expect(401);
    await refresh(api, tablet.body.data.refresh_token).expect(200);
  });

  test('signing out twice is no error', async ({ api }) => {
    const { access_token } = await signUp(api);
    await api.post('/auth/signout').auth(access_token, bearer);
    await api.post('/auth/signout').auth(access_token, bearer).expect(200);
  });

  test('neither body nor content type is needed, and a malformed body does no harm', async ({ api }) => {
    const { access_token } = await signUp(api);
    await api.post('/auth/signout').auth(access_token, bearer).type('json').send('{"broken').expect(200);
  });
});

import { decodeJwt } from 'jose';
import { describe, expect } from 'vitest';
import { type apiOf, newEmail, password, type Session, test } from './support/test.ts';

type Answer = { data: Session };

describe('POST /auth/signin', () => {
  test('gives a session that opens the catalogue', async ({ api }) => {
    const { user } = await api.signUp();
    const { status, body } = await api.post<Answer>('/auth/signin', {
      body: { email: user.email, password },
    });
    expect(status).toBe(200);
    expect(body.data.user).toEqual(user);
    expect((await api.get('/sounds', { token: body.data.access_token })).status).toBe(200);
  });

  test('an unknown address, a wrong password and a locked account get one and the same answer', async ({
    api,
    sql,
  }) => {
    const known = await api.signUp();
    const locked = await api.signUp();
    await sql`update public.customers set is_active = false where id = ${locked.user.id}`;
    const answers = await Promise.all([
      api.post('/auth/signin', { body: { email: newEmail(), password } }),
      api.post('/auth/signin', { body: { email: known.user.email, password: 'wrong password' } }),
      api.post('/auth/signin', { body: { email: locked.user.email, password } }),
      api.post('/auth/signin', { body: { email: locked.user.email, password: 'wrong password' } }),
    ]);
    for (const { status, headers, body } of answers) {
      expect(status).toBe(401);
      expect(headers.get('www-authenticate')).toBe('Bearer realm="sounds"');
      expect(body).toEqual(answers[0]?.body);
    }
  });

  test('a missing or malformed field is refused', async ({ api }) => {
    for (const body of [
      {},
      { email: newEmail() },
      { password },
      { email: 'x', password },
      { email: 1, password: 2 },
    ]) {
      expect((await api.post('/auth/signin', { body })).status).toBe(400);
    }
  });
});

describe('POST /auth/refresh', () => {
  const refresh = (api: ReturnType<typeof apiOf>, token: unknown) =>
    api.post<Answer>('/auth/refresh', { body: { refresh_token: token } });

  test('rotates both tokens, twice, and carries no user', async ({ api }) => {
    const first = await api.signUp();
    const second = await refresh(api, first.refresh_token);
    expect(second.status).toBe(200);
    expect(Object.keys(second.body.data).sort()).toEqual(
      ['access_token', 'expires_at', 'expires_in', 'refresh_token', 'token_type'].sort(),
    );
    const third = await refresh(api, second.body.data.refresh_token);
    expect(third.status).toBe(200);
    expect(
      new Set([first, second.body.data, third.body.data].map((tokens) => tokens.refresh_token)).size,
    ).toBe(3);
    expect(
      new Set([first, second.body.data, third.body.data].map((tokens) => tokens.access_token)).size,
    ).toBe(3);
    expect((await api.get('/sounds', { token: third.body.data.access_token })).status).toBe(200);
  });

  test('a token that was rotated out long ago is refused', async ({ api, sql }) => {
    const session = await api.signUp();
    const second = await refresh(api, session.refresh_token);
    await refresh(api, second.body.data.refresh_token);
    // Auth forgives reuse for some seconds; this makes those seconds pass.
    await sql`update auth.refresh_tokens set updated_at = updated_at - interval '1 hour' where user_id = ${session.user.id}`;
    expect((await refresh(api, session.refresh_token)).status).toBe(401);
  });

  test('devices that refresh with one token at the same moment all get a session of the right user', async ({
    api,
  }) => {
    const sessions = await Promise.all([api.signUp(), api.signUp()]);
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
    const { access_token, refresh_token } = await api.signUp();
    expect((await api.post('/auth/signout', { token: access_token })).status).toBe(200);
    for (const token of [refresh_token, 'abcdefghijkl', 'x', ' ', '💥'.repeat(20), access_token]) {
      expect((await refresh(api, token)).status, token).toBe(401);
    }
  });

  test('a missing, empty or endless token is 400', async ({ api }) => {
    for (const token of [undefined, '', null, 5, 'x'.repeat(4097)]) {
      expect((await refresh(api, token)).status).toBe(400);
    }
  });
});

describe('POST /auth/signout', () => {
  test('ends the session of the token and leaves another one of the user alive', async ({ api }) => {
    const phone = await api.signUp();
    const tablet = (await api.post<Answer>('/auth/signin', { body: { email: phone.user.email, password } }))
      .body.data;
    const { status, body } = await api.post('/auth/signout', { token: phone.access_token });
    expect(status).toBe(200);
    expect(body).toEqual({ data: { ok: true } });
    const refresh = (token: string) => api.post('/auth/refresh', { body: { refresh_token: token } });
    expect((await refresh(phone.refresh_token)).status).toBe(401);
    expect((await refresh(tablet.refresh_token)).status).toBe(200);
  });

  test('signing out twice is no error', async ({ api }) => {
    const { access_token } = await api.signUp();
    await api.post('/auth/signout', { token: access_token });
    expect((await api.post('/auth/signout', { token: access_token })).status).toBe(200);
  });

  test('neither body nor content type is needed, and a broken body does no harm', async ({ api }) => {
    const { access_token } = await api.signUp();
    const answer = await api.post('/auth/signout', { token: access_token, body: '{"broken' });
    expect(answer.status).toBe(200);
  });

  test('without a token it is 401', async ({ api }) => {
    expect((await api.post('/auth/signout')).status).toBe(401);
  });
});

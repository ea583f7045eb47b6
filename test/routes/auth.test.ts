import { decodeJwt, decodeProtectedHeader } from 'jose';
import { describe, expect } from 'vitest';
import type { Api } from '../support/api.ts';
import { clientWith, newEmail, newUser, password, type Session, signUp, test } from '../support/test.ts';

const signIn = (api: Api, { user: { email } }: Session, secret = password) =>
  api.post('/auth/signin').send({ email, password: secret });

const refresh = (api: Api, token: unknown) => api.post('/auth/refresh').send({ refresh_token: token });

describe('POST /auth/signup', () => {
  test('returns a session with the fields of the contract, and creates the customer', async ({ api, sql }) => {
    for (const [given, full_name, secret] of [
      [' \u0085Ada Lovelace\u0085', 'Ada Lovelace', ' 1234 '], // minimum length of a password
      [null, null, 'é'.repeat(36)], // null counts as missing; maximum length of a password
    ]) {
      const account = { email: `o^brien%${newEmail()}`, password: secret }; // RFC 5321 allows ^ and %
      const { email } = account;
      const { body } = await api
        .post('/auth/signup')
        .send({ ...account, full_name: given })
        .expect(200);
      const { exp, sub: id } = decodeJwt(body.data.access_token);
      const tokens = { access_token: expect.any(String), refresh_token: expect.any(String) };
      const lifetime = { token_type: 'bearer', expires_in: 3600, expires_at: exp };
      expect(body).toEqual({ data: { ...tokens, ...lifetime, user: { id, email } } });
      const [customer] = await sql`select email, full_name, source from public.customers where id = ${id ?? ''}`;
      expect(customer).toEqual({ email, full_name, source: 'email' });
      await api.post('/auth/signin').send(account).expect(200);
    }
  });

  test('rejects an address that has an account, without revealing the account', async ({ api }) => {
    const { user } = await signUp(api);
    const { body } = await api
      .post('/auth/signup')
      .send({ email: user.email.toUpperCase(), password })
      .expect(400)
      .expect('X-Error-Reason', 'address_taken')
      .expect('X-Error-Field', 'email');
    expect(body.error.message).not.toMatch(/exist|already|taken|registered/i);
  });
});

test('a password may be typed in any Unicode form, also in one that an older account stores', async ({
  api,
  user,
  sql,
}) => {
  const [composed, decomposed] = ['Ẅörld é 한글'.normalize('NFC'), 'Ẅörld é 한글'.normalize('NFD')];
  for (const [chosen, typed] of [
    [composed, decomposed],
    [decomposed, composed],
  ]) {
    const account = { email: newEmail(), password: chosen };
    const { body } = await api.post('/auth/signup').send(account).expect(200);
    await signIn(api, body.data, typed).expect(200);
    await signIn(api, body.data, chosen).expect(200);
    await signIn(api, body.data, `${typed}.`).expect(401);
  }
  await sql`
    update auth.users set encrypted_password = extensions.crypt(${decomposed}, extensions.gen_salt('bf'))
    where id = ${user.user.id}`;
  await signIn(api, user, decomposed).expect(200);
  await signIn(api, user, composed).expect(401);
  await api
    .post('/auth/signup')
    .send({ email: newEmail(), password: 'é́'.normalize('NFD').repeat(2) })
    .expect(400);
});

test('every endpoint reads an e-mail address as people paste and type it', async ({ api }) => {
  const name = newEmail().split('@')[0];
  const stored = `${name}@xn--bcher-kva.example`;
  const account = { email: ` ${name}\u200b@b\u00fccher.example`, password };
  const { user } = (await api.post('/auth/signup').send(account).expect(200)).body.data;
  expect(user.email).toBe(stored);
  expect((await api.post('/auth/signin').send({ email: stored, password }).expect(200)).body.data.user).toEqual(user);
  for (const email of [`${name}＠Bücher.example`, `\u2068${name}@bu\u0308cher。example\u2069`]) {
    expect((await api.post('/auth/signin').send({ email, password }).expect(200)).body.data.user).toEqual(user);
    await api.post('/auth/recover').send({ email }).expect(200);
  }
  for (const email of ['ada@', '＠example.com', 'ada\u200b@', 'ada@xn--a.example\u0378'])
    await api.post('/auth/recover').send({ email }).expect(400).expect('X-Error-Field', 'email');
});

test('POST /auth/signin returns a session, and the same 401 for every failure', async ({ api, gateway, sql }) => {
  const [known, locked] = [await signUp(api), await signUp(api)];
  const { body } = await signIn(api, known).expect(200);
  expect(body.data.user).toEqual(known.user);
  await clientWith(gateway, body.data.access_token).get('/sounds').expect(200);

  await sql`update public.customers set is_active = false where id = ${locked.user.id}`;
  const answers = await Promise.all([
    api.post('/auth/signin').send({ email: newEmail(), password }),
    signIn(api, known, 'wrong password'),
    signIn(api, locked),
  ]);
  for (const answer of answers) {
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toBe('Bearer realm="sounds"');
    expect(answer.headers['x-error-reason']).toBe('invalid_credentials');
    expect(answer.body).toEqual(answers[0]?.body);
  }
});

describe('POST /auth/refresh', () => {
  test('rotates tokens, returns no user, and rejects tokens that were used long ago', async ({ api, gateway, sql }) => {
    const first = await signUp(api);
    const { user, ...tokens } = first;
    const sessions = [tokens];
    for (let time = 0; time < 2; time++) {
      if (time > 0) await refresh(api, first.refresh_token).expect(200); // as if the first response had been lost
      const { body } = await refresh(api, sessions.at(-1)?.refresh_token).expect(200);
      expect(Object.keys(body.data)).toEqual(Object.keys(tokens));
      sessions.push(body.data);
    }
    expect(new Set(sessions.map((session) => session.refresh_token)).size).toBe(3);
    // HS256 signatures are deterministic, so two tokens from the same second may be equal.
    if (decodeProtectedHeader(first.access_token).alg !== 'HS256')
      expect(new Set(sessions.map((session) => session.access_token)).size).toBe(3);
    await clientWith(gateway, String(sessions[2]?.access_token)).get('/sounds').expect(200);
    // Auth accepts a used token for some seconds. Set back its use, so that they are over.
    const age = () =>
      sql`update auth.refresh_tokens set updated_at = updated_at - interval '1 hour' where user_id = ${user.id}`;
    await age();
    await refresh(api, first.refresh_token).expect(401);
    await age();
    await refresh(api, sessions[2]?.refresh_token).expect(401); // the session has ended
  });

  test('returns a session of the right user for each of many simultaneous refreshes', async ({ api }) => {
    const sessions = await Promise.all([signUp(api), signUp(api)]);
    const sent = [...sessions, ...sessions, ...sessions].map(async ({ user, refresh_token }) => {
      const { body } = await refresh(api, refresh_token).expect(200);
      expect(decodeJwt(body.data.access_token).sub).toBe(user.id);
    });
    await Promise.all(sent);
  });
});

test('POST /auth/signout ends only the session of the token', async ({ api, gateway }) => {
  const phone = await newUser(gateway);
  const tablet = (await signIn(api, phone).expect(200)).body.data;
  await phone.app.post('/auth/signout').expect(200, { data: { ok: true } });
  for (const token of [phone.refresh_token, 'abcdefghijkl', ' ', '💥'.repeat(20), phone.access_token])
    await refresh(api, token).expect(401).expect('X-Error-Reason', 'session_ended');
  await refresh(api, tablet.refresh_token).expect(200);
  // Accept a second sign-out, and a malformed body.
  await phone.app.post('/auth/signout').type('json').send('{"broken').expect(200);
});

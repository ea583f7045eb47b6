import { describe, expect } from 'vitest';
import { type Api, bearer } from '../support/api.ts';
import { newEmail, password, type Session, signUp, test } from '../support/test.ts';
import { removeCustomer } from './remove-customer.ts';

const dateTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

async function signUpAda(api: Api): Promise<Session> {
  const account = { email: newEmail(), password, full_name: 'Ada' };
  return (await api.post('/auth/signup').send(account).expect(200)).body.data;
}

const patch = (api: Api, token: string, body: object) =>
  api.patch('/me/customer').auth(token, bearer).send(body);

describe('GET /me', () => {
  test('returns the profile and the kind of credential', async ({ api }) => {
    const { user, access_token } = await signUpAda(api);
    expect((await api.get('/me').auth(access_token, bearer)).body).toEqual({
      data: { id: user.id, email: user.email, full_name: 'Ada', avatar_url: null },
      auth_via: 'jwt',
    });
  });

  test('comes from the token when the customer record is missing', async ({ api, sql }) => {
    const { user, access_token: token } = await signUpAda(api);
    await removeCustomer(sql, user.id);
    expect((await api.get('/me').auth(token, bearer)).body).toEqual({
      data: { id: user.id, email: user.email, full_name: null, avatar_url: null },
      auth_via: 'jwt',
    });
    await api.get('/me/customer').auth(token, bearer).expect(404);
    await patch(api, token, { full_name: 'Ada' }).expect(404);
  });
});

describe('GET /me/customer', () => {
  test('returns the whole record and the kind of credential', async ({ api }) => {
    const { user, access_token } = await signUpAda(api);
    const { body } = await api.get('/me/customer').auth(access_token, bearer).expect(200);
    expect(body).toEqual({
      data: {
        id: user.id,
        email: user.email,
        full_name: 'Ada',
        avatar_url: null,
        phone: null,
        provider: 'email',
        source: 'email',
        locale: null,
        country: null,
        marketing_opt_in: false,
        is_active: true,
        last_seen_at: null,
        created_at: dateTime,
        updated_at: dateTime,
      },
      auth_via: 'jwt',
    });
  });

  test('shows last_seen_at, which moves at most every 15 minutes', async ({ api }) => {
    const { access_token: token } = await signUp(api);
    const record = async () => (await api.get('/me/customer').auth(token, bearer)).body.data;
    const first = await record();
    await expect.poll(async () => (await record()).last_seen_at).toEqual(dateTime);
    const seen = await record();
    expect(seen.updated_at).toBe(first.updated_at);
    await api.get('/home').auth(token, bearer);
    expect((await record()).last_seen_at).toBe(seen.last_seen_at);
  });
});

describe('PATCH /me/customer', () => {
  test('changes the fields it is given and no others, and returns the record', async ({ api }) => {
    const { access_token: token } = await signUpAda(api);
    const before = (await api.get('/me/customer').auth(token, bearer)).body.data;
    const changes = { phone: '+49 (170) 123-45.67', locale: 'PT-br', country: 'de', marketing_opt_in: true };
    const { body } = await patch(api, token, changes).expect(200);
    expect(body).toEqual({
      data: {
        ...before,
        phone: '+491701234567',
        locale: 'pt-BR',
        country: 'DE',
        marketing_opt_in: true,
        last_seen_at: expect.toSatisfy(() => true),
        updated_at: dateTime,
      },
    });
    expect(body.data.updated_at > before.updated_at).toBe(true);
  });

  test('trims text, and null clears a field', async ({ api }) => {
    const { access_token: token } = await signUpAda(api);
    const given = { full_name: '  Ada L.\n', avatar_url: ' https://a.example/x.png?y=1#z ' };
    expect((await patch(api, token, given)).body.data).toMatchObject({
      full_name: 'Ada L.',
      avatar_url: 'https://a.example/x.png?y=1#z',
    });
    for (const space of ['\u0085', '\u001c\u001f', '\u180e', '\u00a0\u3000\ufeff'])
      expect((await patch(api, token, { full_name: `${space}Ada${space}` })).body.data.full_name).toBe('Ada');
    const cleared = { full_name: null, avatar_url: null, phone: null, locale: null, country: null };
    expect((await patch(api, token, cleared)).body.data).toMatchObject(cleared);
  });

  test('takes locales and countries as phones print them', async ({ api }) => {
    const { access_token: token } = await signUpAda(api);
    for (const [given, stored] of [
      [{ locale: 'en_US' }, { locale: 'en-US' }],
      [{ locale: 'zh-Hant_HK' }, { locale: 'zh-Hant-HK' }],
      [{ locale: 'sr_latn_rs' }, { locale: 'sr-Latn-RS' }],
      [{ locale: 'th_TH@calendar=buddhist' }, { locale: 'th-TH' }],
      [{ country: 'xk' }, { country: 'XK' }],
    ] as const)
      expect((await patch(api, token, given).expect(200)).body.data).toMatchObject(stored);
  });

  test('changes nothing without fields, not even updated_at', async ({ api }) => {
    const { access_token: token } = await signUpAda(api);
    const before = (await api.get('/me/customer').auth(token, bearer)).body.data;
    const { body } = await patch(api, token, {}).expect(200);
    expect(body.data).toMatchObject({ updated_at: before.updated_at, full_name: 'Ada' });
  });

  test('writes nothing where one of its fields is rejected', async ({ api }) => {
    const { access_token: token } = await signUpAda(api);
    for (const rejected of [{ country: 'XX' }, { email: newEmail() }])
      await patch(api, token, { full_name: 'Fine', ...rejected }).expect(400);
    const { body } = await api.get('/me/customer').auth(token, bearer);
    expect(body.data.full_name).toBe('Ada');
  });

  test('a field called __proto__ is an unknown field', async ({ api, user }) => {
    const answer = await api
      .patch('/me/customer')
      .auth(user.access_token, bearer)
      .type('json')
      .send('{"__proto__":{"full_name":"x"}}')
      .expect(400);
    expect(answer.body.error.message).toMatch(/^__proto__: /);
  });

  test('parallel changes of different fields are all kept', async ({ api }) => {
    const { access_token: token } = await signUpAda(api);
    const changes = [
      { full_name: 'B' },
      { phone: '+4917012345' },
      { country: 'IT' },
      { locale: 'it' },
      { marketing_opt_in: true },
    ];
    await Promise.all(changes.map((body) => patch(api, token, body).expect(200)));
    const { body } = await api.get('/me/customer').auth(token, bearer);
    expect(body.data).toMatchObject(Object.assign({}, ...changes));
  });
});

import { randomUUID } from 'node:crypto';
import { SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, type TestContext, test } from 'vitest';
import { endpoints } from '../src/app.ts';
import { bearer } from './support/api.ts';
import { cannotForge } from './support/forge.ts';
import { createTarget, type Target } from './support/target.ts';
import { newEmail, password, type Session } from './support/test.ts';

// The contract as one table. It runs against a gateway of its own, or against any deployment:
// TEST_BASE_URL=https://host/api/v1 npm test contract

type Request = { query?: string; headers?: Record<string, string>; body?: object; token?: string };

type Row = {
  method: 'get' | 'post' | 'patch' | 'delete';
  path: string;
  guard: 'none' | 'optional' | 'bearer' | 'user';
  status: 200 | 201;
  /** A good request; null where this deployment offers no way to make one. */
  valid: (target: Target) => Request | Promise<Request> | null;
  /** What to do where there is none. */
  remedy?: 'recoveryCode';
  /** Each must be 400. */
  invalid?: Request[];
};

const withQuery = (query: string): Request => ({ query });

const playOf = (sound_id: string) => ({ id: randomUUID(), sound_id, played_at: new Date().toISOString() });

const table: Row[] = [
  { method: 'get', path: '/config', guard: 'none', status: 200, valid: () => ({}) },
  {
    method: 'post',
    path: '/auth/signup',
    guard: 'none',
    status: 200,
    valid: () => ({ body: { email: newEmail(), password, full_name: 'Ada' } }),
    invalid: [
      { body: {} },
      { body: { email: newEmail() } },
      { body: { email: 'x', password } },
      { body: { email: newEmail(), password: '12345' } },
      { body: { email: newEmail(), password, full_name: 5 } },
    ],
  },
  {
    method: 'post',
    path: '/auth/signin',
    guard: 'none',
    status: 200,
    valid: (target) => ({ body: target.account }),
    invalid: [
      { body: {} },
      { body: { email: 'x', password } },
      { body: { email: newEmail(), password: null } },
    ],
  },
  {
    method: 'post',
    path: '/auth/refresh',
    guard: 'none',
    status: 200,
    valid: async (target) => ({ body: { refresh_token: (await target.signIn('owner')).refresh_token } }),
    invalid: [{ body: {} }, { body: { refresh_token: '' } }, { body: { refresh_token: 1 } }],
  },
  {
    method: 'post',
    path: '/auth/signout',
    guard: 'user',
    status: 200,
    valid: async (target) => ({ token: (await target.signIn('owner')).access_token }),
  },
  ...(['idp', 'google', 'apple'] as const).map(
    (name): Row => ({
      method: 'post',
      path: `/auth/oauth/${name}`,
      guard: 'none',
      status: 200,
      valid: (target) => {
        const token = target.idToken?.(name === 'apple' ? 'apple' : 'google');
        return token ? token.then((id_token) => ({ body: { id_token } })) : null;
      },
      invalid: [{ body: {} }, { body: { id_token: '' } }, { body: { id_token: 'x', nonce: 5 } }],
    }),
  ),
  ...(['/auth/recover', '/auth/resend'] as const).map(
    (path): Row => ({
      method: 'post',
      path,
      guard: 'none',
      status: 200,
      valid: () => ({ body: { email: newEmail() } }),
      invalid: [{ body: {} }, { body: { email: 'x' } }, { body: { email: 5 } }],
    }),
  ),
  {
    method: 'post',
    path: '/auth/verify',
    guard: 'none',
    status: 200,
    remedy: 'recoveryCode',
    valid: ({ newAccount, recoveryCode }) =>
      recoveryCode &&
      (async () => {
        const { email } = (await newAccount()).user;
        return { body: { type: 'recovery', email, code: await recoveryCode(email) } };
      })(),
    invalid: [
      { body: { type: 'recovery', email: newEmail() } },
      { body: { type: 'invite', email: newEmail(), code: '123456' } },
      { body: { type: 'signup', email: newEmail(), code: '123456' } },
      { body: { type: 'recovery', email: 'x', code: '123456' } },
      { body: { type: 'recovery', email: newEmail(), code: '12345' } },
      { body: { type: 'recovery', email: newEmail(), code: 'abcdef' } },
    ],
  },
  {
    method: 'post',
    path: '/auth/password',
    guard: 'user',
    status: 200,
    valid: async ({ newAccount }) => ({
      token: (await newAccount()).access_token,
      body: { password: `${password}, another` },
    }),
    invalid: [
      { body: {} },
      { body: { password: '12345' } },
      { body: { password: 'x'.repeat(73) } },
      { body: { password, current_password: 5 } },
    ],
  },
  {
    method: 'get',
    path: '/sounds',
    guard: 'bearer',
    status: 200,
    valid: () => withQuery('limit=2&featured=false&include_children=true&search=a'),
    invalid: [
      'limit=0',
      'limit=101',
      'limit=x',
      'featured=1',
      'cursor=x',
      'cursor=',
      `search=${'x'.repeat(101)}`,
    ].map(withQuery),
  },
  { method: 'get', path: '/sounds/{id}', guard: 'bearer', status: 200, valid: () => ({}) },
  {
    method: 'post',
    path: '/sounds/{id}/play',
    guard: 'bearer',
    status: 200,
    valid: () => ({ headers: { 'Idempotency-Key': randomUUID() } }),
    invalid: ['', '""', 'two words', 'x'.repeat(256)].map((key) => ({ headers: { 'Idempotency-Key': key } })),
  },
  {
    method: 'post',
    path: '/plays',
    guard: 'bearer',
    status: 200,
    valid: ({ soundId }) => ({ body: { plays: [playOf(soundId)] } }),
    invalid: [
      {},
      { plays: null },
      { plays: [] },
      { plays: [null] },
      { plays: [{ ...playOf(randomUUID()), id: 'x' }] },
      { plays: [{ ...playOf(randomUUID()), played_at: 'yesterday' }] },
      { plays: Array.from({ length: 101 }, () => playOf(randomUUID())) },
    ].map((body) => ({ body })),
  },
  {
    method: 'get',
    path: '/history',
    guard: 'bearer',
    status: 200,
    valid: () => withQuery('limit=2'),
    invalid: ['limit=0', 'limit=101', 'cursor=', 'cursor=x', 'cursor=2026-06-23T09:30:00.000Z'].map(
      withQuery,
    ),
  },
  { method: 'delete', path: '/history/{soundId}', guard: 'bearer', status: 200, valid: () => ({}) },
  { method: 'delete', path: '/history', guard: 'bearer', status: 200, valid: () => ({}) },
  { method: 'get', path: '/favorites', guard: 'bearer', status: 200, valid: () => ({}) },
  {
    method: 'post',
    path: '/favorites',
    guard: 'bearer',
    status: 201,
    valid: (target) => ({ body: { sound_id: target.soundId } }),
    invalid: [{ body: {} }, { body: { sound_id: 'x' } }, { body: { sound_id: null } }],
  },
  { method: 'delete', path: '/favorites/{soundId}', guard: 'bearer', status: 200, valid: () => ({}) },
  { method: 'get', path: '/me', guard: 'bearer', status: 200, valid: () => ({}) },
  {
    method: 'delete',
    path: '/me',
    guard: 'user',
    status: 200,
    valid: async ({ newAccount }) => ({ token: (await newAccount()).access_token }),
  },
  { method: 'get', path: '/me/export', guard: 'user', status: 200, valid: () => ({}) },
  { method: 'get', path: '/me/customer', guard: 'bearer', status: 200, valid: () => ({}) },
  {
    method: 'patch',
    path: '/me/customer',
    guard: 'bearer',
    status: 200,
    valid: () => ({ body: { full_name: 'Ada', marketing_opt_in: false } }),
    invalid: [
      { body: { email: newEmail() } },
      { body: { provider: 'google' } },
      { body: { full_name: '' } },
      { body: { country: 'XX' } },
      { body: { marketing_opt_in: null } },
    ],
  },
  { method: 'get', path: '/home', guard: 'bearer', status: 200, valid: () => ({}) },
  { method: 'get', path: '/categories', guard: 'optional', status: 200, valid: () => ({}) },
];

let target: Target;
let owner: Session;

beforeAll(async () => {
  target = await createTarget();
  owner = await target.signIn('owner');
});
afterAll(() => target?.close());

/**
 * Returns what a test needs. A deployment may lack it: then the test is skipped, and the reporter prints the remedy.
 * With the embedded Supabase nothing is lacking.
 */
const needed = <T>(context: TestContext, thing: T | null, remedy: string): T => {
  if (thing === null) context.skip(remedy);
  return thing as T;
};

const remedies = {
  idToken: 'Only the embedded Supabase takes ID tokens that can be made here.',
  recoveryCode: 'Set TEST_SUPABASE_MAIL_URL to read the mails of that Supabase.',
  forge: cannotForge,
  apiKey: 'Set TEST_API_KEY.',
  revokedApiKey: 'Set TEST_REVOKED_API_KEY.',
};

function send(
  { method, path }: Row,
  { query = '', headers = {}, body, token }: Request,
  id = target.soundId,
) {
  const request = target.api[method](path.replace(/\{\w+\}/, id))
    .query(query)
    .set(headers);
  if (token !== undefined) request.auth(token, bearer);
  return body === undefined ? request : request.send(body);
}

/** Credentials that must be rejected. */
const rejectedCredentials: Record<string, (context: TestContext) => Promise<string> | string> = {
  malformed: () => 'rubbish',
  'with a changed signature': () => `${owner.access_token.slice(0, -4)}AAAA`,
  'with alg none': () => {
    const claims = JSON.parse(Buffer.from(owner.access_token.split('.')[1] ?? '', 'base64url').toString());
    return new UnsecuredJWT(claims).encode();
  },
  'signed with a secret of its own making': () =>
    new SignJWT({ sub: owner.user.id, role: 'authenticated', aud: 'authenticated' })
      .setProtectedHeader({ alg: 'HS256' })
      .setExpirationTime('1h')
      .sign(new TextEncoder().encode('a secret that anybody could have guessed')),
  expired: (context) =>
    needed(context, target.forge, remedies.forge)({ exp: Math.floor(Date.now() / 1000) - 1 }),
  'for another audience': (context) =>
    needed(context, target.forge, remedies.forge)({ aud: 'somebody else' }),
  'of another role': (context) => needed(context, target.forge, remedies.forge)({ role: 'service_role' }),
  'that is a revoked API key': (context) => needed(context, target.revokedApiKey, remedies.revokedApiKey),
  'that is a mistyped API key': () => `sk_live_${'x'.repeat(49)}`,
};

test('the table has every endpoint of the app, guarded as it declares', () => {
  const inWords = ({ method, path, guard }: { method: string; path: string; guard: string }) =>
    `${method} ${path} ${guard}`;
  expect(table.map(inWords).sort()).toEqual(endpoints.map(inWords).sort());
});

describe.each(table)('$method $path', (row) => {
  const guarded = row.guard === 'bearer' || row.guard === 'user';

  test(`answers a good request with ${row.status} and the declared body`, async (context) => {
    const request = needed(context, row.valid(target), remedies[row.remedy ?? 'idToken']);
    await send(row, { ...(guarded && { token: owner.access_token }), ...(await request) }).expect(row.status);
  });

  if (row.guard !== 'none') {
    test(`without a credential is ${guarded ? 401 : 200}`, async () => {
      const { headers } = await send(row, {}).expect(guarded ? 401 : 200);
      if (guarded) expect(headers['www-authenticate']).toBe('Bearer realm="sounds"');
    });

    test.for(Object.entries(rejectedCredentials))(
      'with a credential %s is 401',
      async ([, make], context) => {
        await send(row, { token: await make(context) })
          .expect(401)
          .expect('X-Error-Reason', 'token_invalid')
          .expect('WWW-Authenticate', 'Bearer realm="sounds", error="invalid_token"');
      },
    );

    test(`with an API key is ${row.guard === 'user' ? 'rejected' : 'answered'}`, async (context) => {
      const token = needed(context, target.apiKey, remedies.apiKey);
      await send(row, { ...(await row.valid(target)), token }).expect(
        row.guard === 'user' ? 401 : row.status,
      );
    });
  } else {
    test('ignores a credential', async (context) => {
      const request = needed(context, row.valid(target), remedies[row.remedy ?? 'idToken']);
      await send(row, { ...(await request), token: 'rubbish' }).expect(row.status);
    });
  }

  if (row.invalid) {
    test.for(row.invalid)('is 400 for $query $headers $body', async (request) => {
      await send(row, { ...(guarded && { token: owner.access_token }), ...request }).expect(400);
    });
  }

  if (row.path.includes('{')) {
    test('is 404 for a malformed id and, except for a removal, for an unknown one', async () => {
      const token = owner.access_token;
      await send(row, { token }, 'not-a-uuid').expect(404);
      await send(row, { token }, randomUUID()).expect(row.method === 'delete' ? 200 : 404);
    });
  }
});

describe('data of another user', () => {
  test('is not in favorites, profile or customer record, and cannot be removed', async () => {
    const other = await target.signIn('other');
    const { api, soundId: sound_id } = target;
    const [mine, theirs] = [owner.access_token, other.access_token];
    await api.post('/favorites').auth(mine, bearer).send({ sound_id }).expect(201);
    await api.delete(`/favorites/${sound_id}`).auth(theirs, bearer).expect(200);
    expect((await api.get('/favorites').auth(theirs, bearer)).body).toEqual({ data: [] });
    const favorites = await api.get('/favorites').auth(mine, bearer);
    expect(favorites.body.data).toContainEqual(expect.objectContaining({ sound_id }));
    for (const path of ['/me', '/me/customer']) {
      const { body } = await api.get(path).auth(theirs, bearer);
      expect(body).toMatchObject({ data: { id: other.user.id } });
    }
    await api.delete(`/favorites/${sound_id}`).auth(mine, bearer);
  });
});

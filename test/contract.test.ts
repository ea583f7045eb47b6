import { randomUUID } from 'node:crypto';
import { SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, type TestContext, test } from 'vitest';
import { endpoints } from '../src/app.ts';
import { call } from './support/api.ts';
import { newEmail, password, type Session } from './support/test.ts';
import { createWorld, type World } from './support/world.ts';

// The contract as one table. It runs against a gateway of its own, or against any deployment:
// TEST_BASE_URL=https://host/api/v1 npm test contract

type Request = { path?: string; body?: unknown; token?: string };

type Row = {
  endpoint: string;
  guard: 'none' | 'optional' | 'bearer' | 'user';
  status: 200 | 201;
  /** A good request; null where this deployment offers no way to make one. */
  valid: (world: World) => Request | Promise<Request> | null;
  /** Each must be 400. */
  invalid?: Request[];
};

const query = (search: string): Request => ({ path: `?${search}` });

const table: Row[] = [
  {
    endpoint: 'POST /auth/signup',
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
    endpoint: 'POST /auth/signin',
    guard: 'none',
    status: 200,
    valid: (world) => ({ body: world.account }),
    invalid: [
      { body: {} },
      { body: { email: 'x', password } },
      { body: { email: newEmail(), password: null } },
    ],
  },
  {
    endpoint: 'POST /auth/refresh',
    guard: 'none',
    status: 200,
    valid: async (world) => ({ body: { refresh_token: (await world.signIn('owner')).refresh_token } }),
    invalid: [{ body: {} }, { body: { refresh_token: '' } }, { body: { refresh_token: 1 } }],
  },
  {
    endpoint: 'POST /auth/signout',
    guard: 'user',
    status: 200,
    valid: async (world) => ({ token: (await world.signIn('owner')).access_token }),
  },
  ...(['idp', 'google', 'apple'] as const).map(
    (name): Row => ({
      endpoint: `POST /auth/oauth/${name}`,
      guard: 'none',
      status: 200,
      valid: (world) => {
        const token = world.idToken?.(name === 'apple' ? 'apple' : 'google');
        return token ? token.then((id_token) => ({ body: { id_token } })) : null;
      },
      invalid: [{ body: {} }, { body: { id_token: '' } }, { body: { id_token: 'x', nonce: 5 } }],
    }),
  ),
  {
    endpoint: 'GET /sounds',
    guard: 'bearer',
    status: 200,
    valid: () => query('limit=2&featured=false&include_children=true&search=a'),
    invalid: [
      'limit=0',
      'limit=101',
      'limit=x',
      'featured=1',
      'cursor=x',
      'cursor=',
      `search=${'x'.repeat(101)}`,
    ].map(query),
  },
  { endpoint: 'GET /sounds/{id}', guard: 'bearer', status: 200, valid: () => ({}) },
  { endpoint: 'POST /sounds/{id}/play', guard: 'bearer', status: 200, valid: () => ({}) },
  { endpoint: 'GET /favorites', guard: 'bearer', status: 200, valid: () => ({}) },
  {
    endpoint: 'POST /favorites',
    guard: 'bearer',
    status: 201,
    valid: (world) => ({ body: { sound_id: world.soundId } }),
    invalid: [{ body: {} }, { body: { sound_id: 'x' } }, { body: { sound_id: null } }],
  },
  { endpoint: 'DELETE /favorites/{soundId}', guard: 'bearer', status: 200, valid: () => ({}) },
  { endpoint: 'GET /me', guard: 'bearer', status: 200, valid: () => ({}) },
  { endpoint: 'GET /me/customer', guard: 'bearer', status: 200, valid: () => ({}) },
  {
    endpoint: 'PATCH /me/customer',
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
  { endpoint: 'GET /home', guard: 'bearer', status: 200, valid: () => ({}) },
  { endpoint: 'GET /categories', guard: 'optional', status: 200, valid: () => ({}) },
];

let world: World;
let owner: Session;

beforeAll(async () => {
  world = await createWorld();
  owner = await world.signIn('owner');
});
afterAll(() => world?.close());

/**
 * What a case needs. A deployment may not give it to its tests: the case is skipped then, and the reporter prints how to
 * have it run. The embedded Supabase gives everything.
 */
const needed = <T>(context: TestContext, thing: T | null, remedy: string): T => {
  if (thing === null) context.skip(remedy);
  return thing as T;
};

const remedies = {
  idToken: 'Only the embedded Supabase takes ID tokens that can be made here.',
  forge: 'Set TEST_SUPABASE_JWT_SECRET, if the project signs tokens with a shared secret.',
  apiKey: 'Set TEST_API_KEY.',
  revokedApiKey: 'Set TEST_REVOKED_API_KEY.',
};

function send(row: Row, request: Request) {
  const [method = '', path = ''] = row.endpoint.split(' ');
  const { path: rest = '', ...options } = request;
  return call(world.url, method, path.replace(/\{\w+\}/, world.soundId) + rest, options);
}

/** Credentials that must be refused, as made from a good one. */
const refused: Record<string, (context: TestContext) => Promise<string> | string> = {
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
    needed(context, world.forge, remedies.forge)({ exp: Math.floor(Date.now() / 1000) - 1 }),
  'for another audience': (context) => needed(context, world.forge, remedies.forge)({ aud: 'somebody else' }),
  'of another role': (context) => needed(context, world.forge, remedies.forge)({ role: 'service_role' }),
  'that is a revoked API key': (context) => needed(context, world.revokedApiKey, remedies.revokedApiKey),
  'that is a mistyped API key': () => `sk_live_${'x'.repeat(49)}`,
};

test('the table has every endpoint of the app, guarded as it declares', () => {
  const declared = endpoints.map(({ method, path, guard }) => `${method.toUpperCase()} ${path} ${guard}`);
  expect(table.map(({ endpoint, guard }) => `${endpoint} ${guard}`).sort()).toEqual(declared.sort());
});

describe.each(table)('$endpoint', (row) => {
  const guarded = row.guard === 'bearer' || row.guard === 'user';

  test(`answers a good request with ${row.status} and the declared body`, async (context) => {
    const request = needed(context, row.valid(world), remedies.idToken);
    const { status } = await send(row, { ...(guarded && { token: owner.access_token }), ...(await request) });
    expect(status).toBe(row.status);
  });

  if (row.guard !== 'none') {
    test(`without a credential is ${guarded ? 401 : 200}`, async () => {
      const answer = await send(row, { path: '' });
      expect(answer.status).toBe(guarded ? 401 : 200);
      if (guarded) expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="sounds"');
    });

    test.for(Object.entries(refused))('with a credential %s is 401', async ([, make], context) => {
      const answer = await send(row, { token: await make(context) });
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="sounds", error="invalid_token"');
    });

    test(`with an API key is ${row.guard === 'user' ? 'refused' : 'answered'}`, async (context) => {
      const token = needed(context, world.apiKey, remedies.apiKey);
      const { status } = await send(row, { ...(await row.valid(world)), token });
      expect(status).toBe(row.guard === 'user' ? 401 : row.status);
    });
  } else {
    test('takes no notice of a credential', async (context) => {
      const request = needed(context, row.valid(world), remedies.idToken);
      expect((await send(row, { ...(await request), token: 'rubbish' })).status).toBe(row.status);
    });
  }

  if (row.invalid) {
    test.for(row.invalid)('is 400 for $path $body', async (request) => {
      const { status } = await send(row, { ...(guarded && { token: owner.access_token }), ...request });
      expect(status).toBe(400);
    });
  }

  if (row.endpoint.includes('{')) {
    test('is 404 for an id that is no uuid, and unless it is a removal, for one that names nothing', async () => {
      const [method = '', path = ''] = row.endpoint.split(' ');
      const statusOf = async (id: string) =>
        (await call(world.url, method, path.replace(/\{\w+\}/, id), { token: owner.access_token })).status;
      expect(await statusOf('not-a-uuid')).toBe(404);
      expect(await statusOf(randomUUID())).toBe(method === 'DELETE' ? 200 : 404);
    });
  }
});

describe('data of another user', () => {
  test('is not in favorites, profile or customer record, and cannot be removed', async () => {
    const other = await world.signIn('other');
    const as = (session: Session, method: string, path: string, body?: unknown) =>
      call<{ data: { id?: string; sound_id?: string }[] }>(world.url, method, path, {
        token: session.access_token,
        ...(body !== undefined && { body }),
      });
    await as(owner, 'POST', '/favorites', { sound_id: world.soundId });
    await as(other, 'DELETE', `/favorites/${world.soundId}`);
    expect((await as(other, 'GET', '/favorites')).body.data).toEqual([]);
    expect((await as(owner, 'GET', '/favorites')).body.data.map((item) => item.sound_id)).toContain(
      world.soundId,
    );
    for (const path of ['/me', '/me/customer']) {
      expect((await as(other, 'GET', path)).body).toMatchObject({ data: { id: other.user.id } });
    }
    await as(owner, 'DELETE', `/favorites/${world.soundId}`);
  });
});

import { randomUUID } from 'node:crypto';
import { decodeJwt, SignJWT, UnsecuredJWT } from 'jose';
import { Test } from 'supertest';
import { afterAll, beforeAll, describe, expect, type TestContext, test } from 'vitest';
import { bearer, expectCommonParts } from '../support/api.ts';
import type { Session } from '../support/test.ts';
import { type EndpointRow, type Request, table } from './table.ts';
import { createTarget, type Target } from './target.ts';

// Tests common rules of all endpoints. TEST_BASE_URL=https://host/api/v1 npm test contract checks any deployment, with
// its proxy. It calls every endpoint with the keys in TEST_API_KEY and TEST_REVOKED_API_KEY, and so clears the history
// of their owner. Issue both for the account of TEST_EMAIL in the SQL editor, and revoke the second (docs/admin.md):
// select api_key from admin.create_api_key('Contract suite', 'smoke-1@example.com');

let target: Target;
let owner: Session;

beforeAll(async () => {
  target = await createTarget();
  owner = await target.signIn('owner');
});
afterAll(() => target?.close());

/** Returns a value that a test needs, or skips the test if the deployment lacks it. The reporter prints the remedy. */
const needed = <T>(context: TestContext, thing: T | null, remedy: string): T => {
  if (thing === null) context.skip(remedy);
  return thing as T;
};

const remedies = {
  idToken: 'Only the embedded Supabase accepts ID tokens made by tests.',
  recoveryCode: 'Set TEST_SUPABASE_MAIL_URL to read the mails of that Supabase.',
  appleCode: 'Only the small Apple of the tests makes authorization codes.',
  guests: 'Guests need a project that has them switched on.',
  newAccount: 'New accounts need a project that does not confirm addresses.',
  apiKey: 'Set TEST_API_KEY to an API key of the account of TEST_EMAIL.',
  revokedApiKey: 'Set TEST_REVOKED_API_KEY to a revoked API key of that account.',
};

/** Sends a request, with a credential only if it contains one. */
function send({ method, path }: EndpointRow, { query = '', headers = {}, body, token, id }: Request, other?: string) {
  const request = target.api[method](path.replace(/\{\w+\}/, other ?? id ?? target.soundId))
    .query(query)
    .set(headers);
  if (token !== undefined) request.auth(token, bearer);
  return body === undefined ? request : request.send(body);
}

const isGuarded = ({ guard }: EndpointRow) => guard === 'bearer' || guard === 'user';

async function goodRequest(row: EndpointRow, context: TestContext): Promise<Request> {
  const request = needed(context, await row.valid(target), remedies[row.remedy ?? 'idToken']);
  return isGuarded(row) ? { token: owner.access_token, ...request } : request;
}

/** Returns rows whose tests are named like "POST /auth/signup". */
const named = (rows: EndpointRow[]) => rows.map((row) => [row.method.toUpperCase(), row.path, row] as const);

/** Credentials that must be rejected. See test/supabase/access-token.test.ts for more. */
const rejectedCredentials: Record<string, (context: TestContext) => Promise<string> | string> = {
  'with a changed signature': () => `${owner.access_token.slice(0, -4)}AAAA`,
  'with alg none': () => new UnsecuredJWT(decodeJwt(owner.access_token)).encode(),
  'signed with a made-up secret': () =>
    new SignJWT({ sub: owner.user.id, role: 'authenticated', aud: 'authenticated' })
      .setProtectedHeader({ alg: 'HS256' })
      .setExpirationTime('1h')
      .sign(new TextEncoder().encode('a secret that anybody could have guessed')),
  'that is a revoked API key': (context) => needed(context, target.revokedApiKey, remedies.revokedApiKey),
};

const expectRejected = (row: EndpointRow, token: string) =>
  send(row, { token })
    .expect(401)
    .expect('X-Error-Reason', 'token_invalid')
    .expect('Cache-Control', 'no-store')
    .expect('WWW-Authenticate', 'Bearer realm="sounds", error="invalid_token"');

/** Method, path, callers, status (default 200) and caching (default no-store) of each endpoint. */
const endpoints = `
  get /config none shared, post /auth/signup none, post /auth/signin none, post /auth/refresh none,
  post /auth/signout user, post /auth/oauth/idp none, post /auth/oauth/google none, post /auth/oauth/apple none,
  post /auth/recover none, post /auth/resend none, post /auth/verify none, post /auth/password user,
  get /sounds bearer shared, get /sounds/{id} bearer, post /sounds/files bearer, post /sounds/{id}/play bearer,
  post /plays bearer, get /history bearer revalidate, delete /history bearer, delete /history/{soundId} bearer,
  get /progress bearer revalidate, put /progress bearer,
  get /lists bearer revalidate, put /lists bearer,
  get /favorites bearer revalidate, post /favorites bearer 201, delete /favorites/{soundId} bearer, get /me bearer,
  delete /me user, post /me/apple/revocation user, get /me/export user, get /me/customer bearer, patch /me/customer bearer,
  post /auth/guest none, post /me/guest user,
  get /me/sessions user, delete /me/sessions user, delete /me/sessions/{id} user,
  get /home bearer shared, get /categories optional shared,
  get /catalogue/changes bearer shared`;

test('every endpoint has its method, path, callers, status and caching', () => {
  const existing = table.map((row) => [row.method, row.path, row.guard, row.status, row.cache]);
  const lines = existing.map((parts) => parts.filter(Boolean).join(' '));
  expect(lines).toEqual(endpoints.trim().split(/,\s+/));
});

describe.for(named(table))('%s %s', ([, , row]) => {
  const { cache, guard, method, path, status = 200 } = row;

  test('accepts a valid request, and ignores unknown parameters, fields and unneeded credentials', async (context) => {
    const { query = '', body, ...request } = await goodRequest(row, context);
    const { headers } = await send(row, {
      ...request,
      ...(guard === 'none' && { token: 'rubbish' }),
      query: `${query}&unknown=1&unknown=2`,
      ...(body && { body: method === 'patch' ? body : { ...body, unknown: { a: 1 }, constructor: 1 } }),
    }).expect(status);
    expect(headers['cache-control']).toBe(cache ? 'private, no-cache' : 'no-store');
    if (cache) await send(row, { ...request, query, headers: { 'If-None-Match': '*' } }).expect(304);
  });

  if (guard !== 'none') {
    test('returns 401 for an invalid credential, and for a missing one that it requires', async () => {
      await expectRejected(row, 'rubbish');
      const answer = await send(row, {});
      expect([answer.status, answer.headers['www-authenticate']]).toEqual(
        isGuarded(row) ? [401, 'Bearer realm="sounds"'] : [200, undefined],
      );
    });

    test(`${guard === 'user' ? 'rejects' : 'accepts'} an API key`, async (context) => {
      const token = needed(context, target.apiKey, remedies.apiKey);
      const request = guard === 'user' ? {} : await row.valid(target);
      await send(row, { ...request, token }).expect(guard === 'user' ? 401 : status);
    });
  }

  if (path.includes('{'))
    test('returns 404 for a malformed id and, except in a removal of a sound, for an unknown id', async () => {
      const token = owner.access_token;
      await send(row, { token }, 'not-a-uuid').expect(404);
      // A proxy may reject a malformed escape itself, and its response is not part of the contract.
      if (!process.env['TEST_BASE_URL']) await send(row, { token }, '%zz').expect(404);
      await send(row, { token }, randomUUID()).expect(path.endsWith('{soundId}') ? 200 : 404);
    });

  test.for(Object.entries(row.invalid))('returns 400 and names %s for a wrong value', async ([field, all]) => {
    // Send a deployment only one value for each field, because it limits requests.
    for (const value of process.env['TEST_BASE_URL'] ? all.slice(0, 1) : all) {
      const request = row.withWrong(field, value);
      const answer = await send(row, { ...(isGuarded(row) && { token: owner.access_token }), ...request });
      const { 'x-error-reason': reason, 'x-error-field': named } = answer.headers;
      expect([value, answer.status, reason, named]).toEqual([value, 400, 'validation', field]);
      expect(answer.body.error.message.split(/[.:]/)[0]).toBe(field);
    }
  });
});

const methodsOf = Map.groupBy(table, ({ path }) => path);
test.for([...methodsOf].map(([path, rows]) => [path, rows.map(({ method }) => method)] as const))(
  '%s answers OPTIONS with its methods, and every other method with 405',
  async ([path, methods]) => {
    const allowed = methods.flatMap((method) => (method === 'get' ? ['GET', 'HEAD'] : method.toUpperCase()));
    const at = path.replace(/\{\w+\}/, target.soundId);
    const { headers } = await target.api.options(at).expect(204);
    expect(headers['allow']?.split(', ').toSorted()).toEqual([...allowed, 'OPTIONS'].toSorted());
    const others = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'QUERY']).difference(new Set(allowed));
    for (const method of others) // supertest's agent has no method for QUERY
      await new Test(target.url, method, at)
        .auth(owner.access_token, bearer)
        .expect(405)
        .expect('Allow', headers['allow'] ?? '')
        .expect(expectCommonParts);
  },
);

const ofAllForms = table.filter(({ path }) => path === '/sounds' || path === '/categories');
test.for(Object.entries(rejectedCredentials))('rejects a credential %s', async ([, make], context) => {
  const token = await make(context);
  for (const row of ofAllForms) await expectRejected(row, token);
});

test('favorites, profile and customer record are only those of the caller', async () => {
  const other = await target.signIn('other');
  const { api, soundId: sound_id } = target;
  const [mine, theirs] = [owner.access_token, other.access_token];
  await api.post('/favorites').auth(mine, bearer).send({ sound_id }).expect(201);
  await api.delete(`/favorites/${sound_id}`).auth(theirs, bearer).expect(200);
  expect((await api.get('/favorites').auth(theirs, bearer)).body).toEqual({ data: [] });
  const favorites = await api.get('/favorites').auth(mine, bearer);
  expect(favorites.body.data).toContainEqual(expect.objectContaining({ sound_id }));
  for (const path of ['/me', '/me/customer'])
    expect((await api.get(path).auth(theirs, bearer)).body).toMatchObject({ data: { id: other.user.id } });
  await api.delete(`/favorites/${sound_id}`).auth(mine, bearer);
});

import { randomUUID } from 'node:crypto';
import { SignJWT, UnsecuredJWT } from 'jose';
import { Test } from 'supertest';
import { afterAll, beforeAll, describe, expect, type TestContext, test } from 'vitest';
import { endpoints } from '../../src/app.ts';
import { bearer, expectCommonParts } from '../support/api.ts';
import { cannotForge } from '../support/forge.ts';
import type { Session } from '../support/test.ts';
import { type Request, type Row, table } from './table.ts';
import { createTarget, type Target } from './target.ts';

// Rules that all endpoints share, from their declarations. It runs against a gateway of its own, or against any deployment:
// TEST_BASE_URL=https://host/api/v1 npm test contract

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

/** Sends a request as it is given, without a credential unless it has one. */
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

const isGuarded = ({ guard }: Row) => guard === 'bearer' || guard === 'user';

/** Returns a request that the endpoint answers with success. */
async function goodRequest(row: Row, context: TestContext): Promise<Request> {
  const request = await needed(context, row.valid(target), remedies[row.remedy ?? 'idToken']);
  return isGuarded(row) ? { token: owner.access_token, ...request } : request;
}

/** Names tests as "POST /auth/signup". */
const named = (rows: Row[]) => rows.map((row) => [row.method.toUpperCase(), row.path, row] as const);

const declared = (row: Row) =>
  endpoints.find(({ method, path }) => method === row.method && path === row.path);

/** Credentials that must be rejected. */
const rejectedCredentials: Record<string, (context: TestContext) => Promise<string> | string> = {
  malformed: () => 'rubbish',
  'with a changed signature': () => `${owner.access_token.slice(0, -4)}AAAA`,
  'with alg none': () => {
    const claims = JSON.parse(Buffer.from(owner.access_token.split('.')[1] ?? '', 'base64url').toString());
    return new UnsecuredJWT(claims).encode();
  },
  'signed with a made-up secret': () =>
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

const expectRejected = (row: Row, token: string) =>
  send(row, { token })
    .expect(401)
    .expect('X-Error-Reason', 'token_invalid')
    .expect('WWW-Authenticate', 'Bearer realm="sounds", error="invalid_token"');

test('the table has every endpoint of the app with its guard', () => {
  const inWords = ({ method, path, guard }: { method: string; path: string; guard: string }) =>
    `${method} ${path} ${guard}`;
  expect(table.map(inWords).sort()).toEqual(endpoints.map(inWords).sort());
});

describe.for(named(table))('%s %s', ([, , row]) => {
  test(`answers a good request with ${row.status}, its cache policy and the declared body`, async (context) => {
    const { headers } = await send(row, await goodRequest(row, context)).expect(row.status);
    const revalidates = declared(row)?.cache === 'revalidate';
    expect(headers['cache-control']).toBe(revalidates ? 'private, no-cache' : 'no-store');
  });

  if (row.guard === 'none')
    test('ignores a credential', async (context) => {
      const request = await goodRequest(row, context);
      await send(row, { ...request, token: 'rubbish' }).expect(row.status);
    });
  else {
    test('returns 401 for an invalid credential, and for none where it needs one', async () => {
      await expectRejected(row, 'rubbish');
      const { status, headers } = await send(row, {});
      expect([status, headers['www-authenticate']]).toEqual(
        isGuarded(row) ? [401, 'Bearer realm="sounds"'] : [200, undefined],
      );
    });

    test(`${row.guard === 'user' ? 'rejects' : 'accepts'} an API key`, async (context) => {
      const token = needed(context, target.apiKey, remedies.apiKey);
      const request = await row.valid(target);
      await send(row, { ...request, token }).expect(row.guard === 'user' ? 401 : row.status);
    });
  }

  const invalid = Object.entries(row.invalid ?? {}).flatMap(([field, requests]) =>
    // A deployment limits requests: it gets one for each field.
    requests
      .slice(0, process.env['TEST_BASE_URL'] ? 1 : undefined)
      .map((request) => [field, JSON.stringify(request).slice(0, 60), request] as const),
  );
  test.for(invalid)('returns 400 and names %s for %s', async ([field, , request]) => {
    const { body } = await send(row, { ...(isGuarded(row) && { token: owner.access_token }), ...request })
      .expect(400)
      .expect('X-Error-Reason', 'validation')
      .expect('X-Error-Field', field);
    expect(body.error.message.split(/[.:]/)[0]).toBe(field);
  });
});

describe.for(named(table.filter(({ path }) => path.includes('{'))))('%s %s', ([, , row]) => {
  test('returns 404 for a malformed id and, except for a removal, for an unknown one', async () => {
    const token = owner.access_token;
    await send(row, { token }, 'not-a-uuid').expect(404);
    await send(row, { token }, randomUUID()).expect(row.method === 'delete' ? 200 : 404);
  });
});

describe.for(named(table.filter((row) => declared(row)?.cache === 'revalidate')))('%s %s', ([, , row]) => {
  test('returns 304 for a matching If-None-Match', async (context) => {
    const request = await goodRequest(row, context);
    await send(row, { ...request, headers: { 'If-None-Match': '*' } }).expect(304);
  });
});

describe.for(named(table.filter((row) => row.method !== 'patch')))('%s %s', ([, , row]) => {
  test('ignores unknown parameters and fields', async (context) => {
    const { query = '', body, ...request } = await goodRequest(row, context);
    await send(row, {
      ...request,
      query: `${query}&unknown=1&unknown=2`,
      ...(body && { body: { ...body, unknown: { is_admin: true }, constructor: 1 } }),
    }).expect(row.status);
  });
});

const methodsOf = Map.groupBy(table, ({ path }) => path);
test.for([...methodsOf].map(([path, rows]) => [path, rows.map(({ method }) => method)] as const))(
  '%s answers OPTIONS with its methods, and 405 to every other one',
  async ([path, methods]) => {
    const allowed = methods.flatMap((method) => (method === 'get' ? ['GET', 'HEAD'] : method.toUpperCase()));
    const at = path.replace(/\{\w+\}/, target.soundId);
    const { headers } = await target.api.options(at).expect(204);
    expect(headers['allow']?.split(', ').toSorted()).toEqual([...allowed, 'OPTIONS'].toSorted());
    // An agent has no method for QUERY.
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'QUERY'].filter(
      (m) => !allowed.includes(m),
    ))
      await new Test(target.url, method, at)
        .auth(owner.access_token, bearer)
        .expect(405)
        .expect('Allow', headers['allow'] ?? '')
        .expect(expectCommonParts);
  },
);

const ofAllForms = table.filter(({ path }) => path === '/sounds' || path === '/categories');
describe.for(named(ofAllForms))('%s %s', ([, , row]) => {
  test.for(Object.entries(rejectedCredentials))('rejects a credential %s', async ([, make], context) => {
    await expectRejected(row, await make(context));
  });
});

test('favorites, profile and customer record are those of the caller alone', async () => {
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

import { randomUUID } from 'node:crypto';
import { SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, type TestContext, test } from 'vitest';
import { endpoints } from '../../src/app.ts';
import { bearer } from '../support/api.ts';
import { cannotForge } from '../support/forge.ts';
import type { Session } from '../support/test.ts';
import { type Request, type Row, table } from './table.ts';
import { createTarget, type Target } from './target.ts';

// The contract as one table. It runs against a gateway of its own, or against any deployment:
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

describe.for(table.map((row) => [row.method.toUpperCase(), row.path, row] as const))('%s %s', ([, , row]) => {
  const guarded = row.guard === 'bearer' || row.guard === 'user';

  test(`answers a good request with ${row.status} and the declared body`, async (context) => {
    const request = needed(context, row.valid(target), remedies[row.remedy ?? 'idToken']);
    await send(row, { ...(guarded && { token: owner.access_token }), ...(await request) }).expect(row.status);
  });

  if (row.guard !== 'none') {
    test(`returns ${guarded ? 401 : 200} without a credential`, async () => {
      const { headers } = await send(row, {}).expect(guarded ? 401 : 200);
      if (guarded) expect(headers['www-authenticate']).toBe('Bearer realm="sounds"');
    });

    test.for(Object.entries(rejectedCredentials))(
      'returns 401 for a credential %s',
      async ([, make], context) => {
        await send(row, { token: await make(context) })
          .expect(401)
          .expect('X-Error-Reason', 'token_invalid')
          .expect('WWW-Authenticate', 'Bearer realm="sounds", error="invalid_token"');
      },
    );

    test(`${row.guard === 'user' ? 'rejects' : 'answers'} a request with an API key`, async (context) => {
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

  const invalid = Object.entries(row.invalid ?? {}).flatMap(([field, requests]) =>
    // A deployment limits requests: it gets one for each field.
    requests
      .slice(0, process.env['TEST_BASE_URL'] ? 1 : undefined)
      .map((request) => [field, JSON.stringify(request), request] as const),
  );
  test.for(invalid)('returns 400 and names %s for %s', async ([field, , request]) => {
    const { body } = await send(row, { ...(guarded && { token: owner.access_token }), ...request })
      .expect(400)
      .expect('X-Error-Reason', 'validation')
      .expect('X-Error-Field', field);
    expect(body.error.message.split(/[.:]/)[0]).toBe(field);
  });

  if (row.path.includes('{')) {
    test('returns 404 for a malformed id and, except for a removal, for an unknown one', async () => {
      const token = owner.access_token;
      await send(row, { token }, 'not-a-uuid').expect(404);
      await send(row, { token }, randomUUID()).expect(row.method === 'delete' ? 200 : 404);
    });
  }
});

describe('data of another user', () => {
  test('favorites, profile and customer record have no data of another user, nor can it be removed', async () => {
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

import { generateKeyPair } from 'jose';
import { describe, expect, inject } from 'vitest';
import { type IdTokenOptions, makeIdToken } from '../../dev/identity-provider.ts';
import { exchange, test, usersWith } from './identities.ts';
import { newEmail } from './supabase.ts';

const BAD = 'Bad ID token';
const NONCE = 'Passed nonce and nonce in id_token should either both exist or not.';
const AUDIENCE = 'Unacceptable audience in id_token:';

describe.runIf(inject('stack').embedded)('an ID token is refused', () => {
  test.for<[string, IdTokenOptions, object, string]>([
    ['that has expired', { expiresIn: -1 }, {}, BAD],
    ['that never expires', { claims: { exp: undefined } }, {}, BAD],
    ['of another issuer', { issuer: 'https://issuer.example.com' }, {}, BAD],
    ['of Google for one of Apple', {}, { provider: 'apple' }, BAD],
    ['of Apple for one of Google', { provider: 'apple' }, {}, BAD],
    ['without an issuer', { claims: { iss: undefined } }, {}, BAD],
    ['whose subject is no text', { claims: { sub: 7 } }, {}, BAD],
    ['without a subject', { claims: { sub: undefined } }, {}, 'Missing sub claim in id_token'],
    ['for another app', { audience: 'another-app' }, {}, `${AUDIENCE} [another-app]`],
    ['for other apps', { audience: ['one', 'two'] }, {}, `${AUDIENCE} [one two]`],
    ['for no app', { claims: { aud: undefined } }, {}, `${AUDIENCE} []`],
    ['with a nonce that is not told', { nonce: 'raw' }, {}, NONCE],
    ['with an empty nonce told', { nonce: 'raw' }, { nonce: '' }, NONCE],
    ['without the nonce that is told', {}, { nonce: 'raw' }, NONCE],
    ['with another nonce', { nonce: 'raw' }, { nonce: 'other' }, 'Nonces mismatch'],
    ['with the nonce itself', { claims: { nonce: 'raw' } }, { nonce: 'raw' }, 'Nonces mismatch'],
  ])('%s', async ([, options, more, error_description], { supabase }) => {
    const email = newEmail();
    const { status, headers, body } = await exchange(
      supabase,
      await makeIdToken({ email, ...options }),
      more,
    );
    const error = error_description === 'Nonces mismatch' ? 'invalid nonce' : 'invalid request';
    expect([status, body]).toEqual([400, { error, error_description }]);
    expect(headers.get('x-sb-error-code')).toBeNull();
    expect(await usersWith(supabase, email)).toHaveLength(0);
  });

  test('that somebody else has signed, or nobody', async ({ supabase }) => {
    const { privateKey } = await generateKeyPair('ES256');
    const email = newEmail();
    const good = await makeIdToken({ email });
    const [header, payload] = good.split('.');
    const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`;
    const cut = `${header}.${payload}.`;
    const forged = await makeIdToken({ email, key: privateKey });
    for (const token of [forged, unsigned, cut, `${good}x`, 'nonsense']) {
      const { status, body } = await exchange(supabase, token);
      expect([status, body]).toEqual([400, { error: 'invalid request', error_description: BAD }]);
    }
    expect((await exchange(supabase, good)).status).toBe(200);
  });

  test.for<[string, object, number, string]>([
    ['that is missing', { id_token: '' }, 400, 'id_token required'],
    ['that is null', { id_token: null }, 400, 'id_token required'],
    ['of an unknown provider', { provider: 'example' }, 400, 'validation_failed'],
    ['that is a number', { id_token: 7 }, 400, 'bad_json'],
  ])('%s', async ([, given, status, reason], { supabase }) => {
    const answer = await exchange(supabase, await makeIdToken({ email: newEmail() }), given);
    expect([answer.status, answer.body.code ?? answer.body.error_description]).toEqual([status, reason]);
  });
});

describe.runIf(inject('stack').embedded)('an ID token is taken', () => {
  test.for<[string, IdTokenOptions, object]>([
    ['with its nonce', { nonce: 'raw' }, { nonce: 'raw' }],
    ['for several apps', { audience: ['another', 'sounds-service-local'] }, {}],
    ['of Apple’s other issuer', { issuer: 'https://account.apple.com' }, { provider: 'apple' }],
  ])('%s', async ([, options, more], { supabase }) => {
    const { status, body } = await exchange(
      supabase,
      await makeIdToken({ email: newEmail(), ...options }),
      more,
    );
    expect([status, body.token_type]).toEqual([200, 'bearer']);
  });

  test('as often as it comes before it expires', async ({ supabase }) => {
    const token = await makeIdToken({ email: newEmail(), nonce: 'raw' });
    for (const _ of [1, 2]) expect((await exchange(supabase, token, { nonce: 'raw' })).status).toBe(200);
  });
});

import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { createRemoteJWKSet, customFetch, decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from 'jose';
import { z } from 'zod';
import type { Config } from '../config/config.ts';
import { ApiError, serverError } from '../errors.ts';
import { invalidToken, type UserCaller } from '../model/caller.ts';
import { uuid } from '../model/fields.ts';
import { lruCache } from '../shared/lru-cache.ts';
import type { Fetch } from './fetch.ts';

/** An unknown key id causes a fetch only if the key set is older, so that made-up ids cause few fetches. */
const keySetAgeMs = 5_000;

/** The last key set is used for this long while Auth returns none. */
const staleKeysMs = 60 * 60_000;

/** Lifetime of a fetched key set and of a cached token. A revoked key is accepted for at most twice as long. */
const trustMs = 5 * 60_000;

/** Maximum length of a token. Users can make their tokens long with metadata; usual ones are far shorter. */
export const maxTokenLength = 8 * 1024;

const KeySet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })) });

/** Methods that count as a sign-in. A second factor does not, because a thief may have enrolled it. */
const signInMethods = ['password', 'otp', 'oauth'];

const Claims = z.object({
  sub: uuid,
  role: z.literal('authenticated'),
  exp: z.number(),
  is_anonymous: z.boolean().default(false),
  // Rejects tokens that the OAuth server of Auth has issued to third-party apps.
  client_id: z.undefined().optional(),
  email: z.string().optional().catch(undefined),
  session_id: z.string().optional().catch(undefined),
  amr: z.array(z.object({ method: z.string(), timestamp: z.number() })).catch([]),
});

/** Rejects base64url with padding or stray bits, so that a token has one spelling and one key in the cache. */
const isCanonical = (token: string) =>
  token.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);

/** Cache entry of a verified token. It never contains the token. */
type Verified = Omit<UserCaller, 'token'> & Readonly<{ until: number }>;

/**
 * Keeps the published keys of the project. Uses the last ones after a failed fetch, which must not sign users out,
 * because it says nothing about a token.
 * @param changed called when the project has published other keys
 */
function createKeySet(supabaseUrl: string, fetch: Fetch, changed: () => void) {
  let last: { body: unknown; at: number } | undefined;
  let isStale = false;

  async function fetchKeys(url: string): Promise<unknown> {
    const response = await fetch(url);
    const body: unknown = await response.json().catch(() => undefined);
    if (response.status === 200 && KeySet.safeParse(body).success) return body;
    throw new Error(`The project answered ${response.status} and no key set`);
  }

  const keySet = createRemoteJWKSet(new URL(`${supabaseUrl}/auth/v1/.well-known/jwks.json`), {
    cooldownDuration: keySetAgeMs,
    cacheMaxAge: trustMs,
    [customFetch]: async (url: string) => {
      try {
        const body = await fetchKeys(url);
        if (!isDeepStrictEqual(body, last?.body)) changed();
        last = { body, at: Date.now() };
        isStale = false;
      } catch (error) {
        if (last === undefined || Date.now() - last.at > staleKeysMs) throw serverError(error);
        isStale = true;
      }
      return Response.json(last.body);
    },
  });
  return { keySet, isStale: () => isStale };
}

/** Returns what a verified token says about its user. @throws ZodError for a token of another kind */
function verifiedFrom(payload: JWTPayload): Verified {
  const { sub, exp, email, session_id, amr, is_anonymous: isGuest } = Claims.parse(payload);
  const methods = isGuest ? ['anonymous'] : signInMethods;
  const signIns = amr.filter(({ method }) => methods.includes(method));
  const signedInAt = Math.max(0, ...signIns.map(({ timestamp }) => timestamp));
  return {
    via: 'jwt',
    userId: sub,
    claims: { email, sessionId: session_id, signedInAt, isGuest },
    until: Math.min(exp * 1000, Date.now() + trustMs),
  };
}

/**
 * Verifies access tokens locally: the project's published keys for ES256 and RS256, the shared secret for HS256
 * where one is configured.
 * @returns a function that resolves a token to its caller.
 *   It throws ApiError unauthorized for an invalid token, and server_error when the project's keys cannot be fetched.
 */
export function createVerifier({ supabase, secrets }: Config, fetch: Fetch) {
  const verified = lruCache<Verified>(10_000);
  const { keySet, isStale } = createKeySet(supabase.url, fetch, () => verified.clear());
  const secret = secrets.supabaseJwtSecret === null ? null : new TextEncoder().encode(secrets.supabaseJwtSecret);

  async function verify(token: string): Promise<Verified> {
    if (token.length > maxTokenLength || !isCanonical(token)) throw new errors.JWTInvalid('too long, or not canonical');
    const options = { audience: 'authenticated', requiredClaims: ['exp', 'sub'] };
    const { payload } =
      decodeProtectedHeader(token).alg === 'HS256' && secret !== null
        ? await jwtVerify(token, secret, { ...options, algorithms: ['HS256'] })
        : await jwtVerify(token, keySet, { ...options, algorithms: ['ES256', 'RS256'] });
    return verifiedFrom(payload);
  }

  return async (token: string): Promise<UserCaller> => {
    const key = hash('sha256', token, 'base64');
    try {
      let known = verified.get(key);
      if (known === undefined || known.until <= Date.now()) {
        known = await verify(token);
        verified.set(key, known);
      }
      const { via, userId, claims } = known;
      return { via, userId, token, claims };
    } catch (error) {
      verified.delete(key);
      if (error instanceof ApiError) throw error;
      // The key may be newer than the stale key set.
      if (error instanceof errors.JWKSNoMatchingKey && isStale()) throw serverError(error);
      throw invalidToken(error);
    }
  };
}

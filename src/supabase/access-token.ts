import { createRemoteJWKSet, customFetch, decodeProtectedHeader, errors, jwtVerify } from 'jose';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { tokenRefused, type UserCaller } from '../caller.ts';
import type { Config } from '../config.ts';
import { uuid } from '../fields.ts';
import { ApiError, serverError } from '../http/errors.ts';
import type { Fetch } from './fetch.ts';

/**
 * How soon, in milliseconds, the key set is fetched again for a token of a key that it lacks: a new signing key is known
 * after that long, and tokens with made-up key ids cannot make us ask more often.
 */
const keySetAgeMs = 5_000;

/** For how long, in milliseconds, the last key set is used while Auth does not give a new one. */
const staleKeysMs = 60 * 60_000;

const KeySet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })) });

/**
 * Verifies access tokens locally: the project's published keys for ES256 and RS256, the shared secret for HS256
 * where one is configured.
 * @returns a function that resolves a token to its caller.
 *   It throws ApiError unauthorized for whatever is wrong with the token, server_error when the project's keys
 *   cannot be fetched.
 */
export function createVerifier({ supabase, secrets }: Config, fetch: Fetch) {
  let lastKeys: { body: unknown; at: number } | undefined;
  let keysAreStale = false;

  async function fetchKeys(url: string): Promise<unknown> {
    const response = await fetch(url);
    const body: unknown = await response.json().catch(() => undefined);
    if (response.status === 200 && KeySet.safeParse(body).success) return body;
    throw new Error(`The project answered ${response.status} and no key set`);
  }

  const keySet = createRemoteJWKSet(new URL(`${supabase.url}/auth/v1/.well-known/jwks.json`), {
    cooldownDuration: keySetAgeMs,
    // A key set out of reach says nothing about a token: that must not sign anybody out.
    [customFetch]: async (url: string) => {
      try {
        lastKeys = { body: await fetchKeys(url), at: Date.now() };
        keysAreStale = false;
      } catch (error) {
        if (lastKeys === undefined || Date.now() - lastKeys.at > staleKeysMs) throw serverError(error);
        keysAreStale = true;
      }
      return Response.json(lastKeys.body);
    },
  });
  const secret =
    secrets.supabaseJwtSecret === null ? null : new TextEncoder().encode(secrets.supabaseJwtSecret);
  const verified = new LRUCache<string, UserCaller>({ max: 10_000 });

  async function verify(token: string): Promise<UserCaller> {
    const options = { audience: 'authenticated', requiredClaims: ['exp', 'sub'] };
    const { payload } =
      decodeProtectedHeader(token).alg === 'HS256' && secret !== null
        ? await jwtVerify(token, secret, { ...options, algorithms: ['HS256'] })
        : await jwtVerify(token, keySet, { ...options, algorithms: ['ES256', 'RS256'] });
    const userId = uuid.safeParse(payload.sub);
    // The service knows no accounts without an identity.
    const isUser = payload['role'] === 'authenticated' && payload['is_anonymous'] !== true;
    if (!userId.success || !isUser) {
      throw new errors.JWTClaimValidationFailed('not the token of a user', payload);
    }
    return { via: 'jwt', userId: userId.data, token, claims: payload };
  }

  return async (token: string): Promise<UserCaller> => {
    try {
      let caller = verified.get(token);
      if (caller === undefined) {
        caller = await verify(token);
        verified.set(token, caller);
      }
      if ((caller.claims.exp ?? 0) <= Date.now() / 1000)
        throw new errors.JWTExpired('expired', caller.claims);
      return caller;
    } catch (error) {
      verified.delete(token);
      if (error instanceof ApiError) throw error;
      // The key may be a new one that could not be fetched.
      if (error instanceof errors.JWKSNoMatchingKey && keysAreStale) throw serverError(error);
      throw tokenRefused(error);
    }
  };
}

import type { Request } from 'express';
import {
  createRemoteJWKSet,
  customFetch,
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  jwtVerify,
} from 'jose';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { Config } from './config.ts';
import { ApiError, serverError, unauthorized } from './errors.ts';
import { uuid } from './parse.ts';
import { type Upstream, upstreamBudgetMs } from './upstream.ts';

/** Who is calling, as proved by the credential of the request. */
export type Caller = UserCaller | KeyCaller;

export type UserCaller = Readonly<{
  via: 'jwt';
  userId: string;
  /** The credential itself: every query runs as its caller. */
  token: string;
  claims: Readonly<JWTPayload>;
}>;

/** Whether the key is live, and whose it is, only the database knows: every query asks it anew. */
export type KeyCaller = Readonly<{ via: 'api_key'; keyHash: string }>;

/** The 401 of a credential that came and was refused, for whatever reason. */
export const tokenRefused = (cause?: unknown) =>
  unauthorized('The access token or API key is invalid, expired or revoked.', { tokenCame: true, cause });

/** The bearer token of a request (RFC 6750 section 2.1), or null when the header is absent. */
export function bearerToken(req: Request): string | null {
  const { authorization } = req.headers;
  if (authorization === undefined) return null;
  const token = /^Bearer +([A-Za-z0-9\-._~+/]+=*) *$/i.exec(authorization)?.[1];
  if (token === undefined) {
    throw unauthorized('The Authorization header must be: Bearer <access token>.', { tokenCame: true });
  }
  return token;
}

const KeySet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })) });

/**
 * Verifies access tokens locally: the project's published keys for ES256 and RS256, the shared secret for HS256
 * where one is configured.
 * @returns a function that resolves a token to its caller.
 *   It throws ApiError unauthorized for whatever is wrong with the token, server_error when the project's keys
 *   cannot be fetched.
 */
export function createVerifier({ supabase, secrets }: Config, upstream: Upstream) {
  const keysPath = 'auth/v1/.well-known/jwks.json';
  const keySet = createRemoteJWKSet(new URL(`${supabase.url}/${keysPath}`), {
    // A key set out of reach says nothing about the token: that must not sign the user out.
    [customFetch]: async () => {
      const timeoutMs = upstreamBudgetMs.data;
      const { status, body } = await upstream.call(keysPath, { service: 'keys', method: 'GET', timeoutMs });
      if (status !== 200 || !KeySet.safeParse(body).success)
        throw serverError(new Error(`The project answered ${status} and no key set`));
      return Response.json(body);
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
    if (!userId.success || payload['role'] !== 'authenticated') {
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
      throw tokenRefused(error);
    }
  };
}

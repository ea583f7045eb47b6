import type { RequestHandler } from 'express';
import type { Guard } from '../endpoint.ts';
import { tokenRejected, unauthorized } from '../errors.ts';
import { hashOfApiKey, isApiKey, isWellFormedApiKey } from '../model/api-key.ts';
import { type Caller, invalidToken, type UserCaller } from '../model/caller.ts';

/** Returns the bearer token of an Authorization header (RFC 6750 section 2.1). */
function bearerToken(authorization: string): string {
  const token = /^Bearer +([A-Za-z0-9\-._~+/]+=*) *$/i.exec(authorization)?.[1];
  if (token !== undefined) return token;
  throw tokenRejected('The Authorization header must be: Bearer <access token>.');
}

/** Identifies the caller. Ignores tokens on the paths `withoutToken`, so that a stale one cannot fail a sign-in. */
export function identify(
  verify: (token: string) => Promise<UserCaller>,
  withoutToken: ReadonlySet<string>,
): RequestHandler {
  async function callerOf(token: string): Promise<Caller> {
    if (!isApiKey(token)) return await verify(token);
    if (!isWellFormedApiKey(token)) throw invalidToken();
    return { via: 'api_key', keyHash: hashOfApiKey(token) };
  }

  return async (req, res, next) => {
    res.locals.caller = null;
    const { authorization } = req.headers;
    const path = req.path.replace(/\/$/, ''); // Express also routes paths with a slash at the end
    try {
      if (authorization !== undefined && !withoutToken.has(path))
        res.locals.caller = await callerOf(bearerToken(authorization));
    } catch (error) {
      res.locals.authError = error;
    }
    next();
  };
}

/** Rejects a request whose credential does not satisfy the guard of its endpoint. */
export function requireAuth(guard: Guard): RequestHandler {
  return (_req, { locals: { caller, authError } }, next) => {
    if (authError !== undefined) throw authError;
    if (caller === null && guard !== 'none' && guard !== 'optional')
      throw unauthorized('Send an access token: Authorization: Bearer <token>.');
    if (caller?.via === 'api_key' && guard === 'user')
      throw tokenRejected('An API key has no session: send the access token of a user.');
    next();
  };
}

import type { HonoContext } from '@supabase/lite';
import type { Context, MiddlewareHandler } from 'hono';
import { decodeJwt } from 'jose';
import { publicSigningKey } from '../keys.ts';
import type { Routes } from './auth.ts';
import { authError, errorResponse, readBody } from './auth-errors.ts';
import { type AuthService, isBanned } from './lite.ts';
import { forLite, type SigningAlgorithm, signToken, verifyToken } from './user-tokens.ts';

type Session = Awaited<ReturnType<AuthService['refreshSession']>>;

/** Publishes the key set, which is empty if tokens are signed with the shared secret. */
export function publishedKeys(algorithm: SigningAlgorithm): Routes {
  const keys = algorithm === 'ES256' ? [publicSigningKey] : [];
  const headers = { 'Cache-Control': 'public, max-age=600' };
  return { 'GET /.well-known/jwks.json': () => Promise.resolve(Response.json({ keys }, { headers })) };
}

/** Replaces Lite's access tokens by tokens with the claims and the signature of Supabase Auth. */
export function fullTokens(issuer: () => string, algorithm: SigningAlgorithm): MiddlewareHandler<HonoContext> {
  return async (c, next) => {
    await next();
    if (c.res.status !== 200) return;
    const session = (await readBody(c.res)) as Partial<Session> | undefined;
    if (session?.access_token === undefined || session.user === undefined) return;
    const { user } = session;
    const claims = decodeJwt<{ session_id: string; exp: number }>(session.access_token);
    // Correct the expiry, because Lite reads the clock twice and may be a second later.
    session.expires_at = claims.exp;
    const { repo } = c.get('authService');
    const [stored, account] = await Promise.all([repo.findSessionById(claims.session_id), repo.findUserById(user.id)]);
    user.is_anonymous = account?.is_anonymous ?? false;
    const full = {
      iss: issuer(),
      ...claims,
      email: user.email,
      phone: user.phone,
      app_metadata: user.app_metadata,
      user_metadata: user.user_metadata,
      aal: 'aal1',
      // Refreshes do not change the time of the sign-in.
      amr: [{ method: user.is_anonymous ? 'anonymous' : 'password', timestamp: secondsOf(stored?.created_at) }],
      is_anonymous: user.is_anonymous,
    };
    session.access_token = await signToken(full, algorithm);
    c.res = c.json(session);
  };
}

const secondsOf = (time: string | undefined) => Math.floor(Date.parse(time ?? '') / 1000);

const userRoutes = /^\/auth\/v1\/(user|logout|reauthenticate|factors)(\/|$)/;

/** Verifies the token on routes for signed-in users. Rejects banned users, which Supabase Lite does not. */
export const signedInUser: MiddlewareHandler<HonoContext> = async (c, next) => {
  if (!userRoutes.test(c.req.path)) return next();
  const token = bearer(c);
  if (token === undefined) return next();
  const claims = await verifyToken(token).then(
    ({ payload }) => payload,
    () => undefined,
  );
  if (claims === undefined)
    return errorResponse(authError(403, 'bad_jwt', 'invalid JWT: unable to parse or verify signature'));
  const { repo } = c.get('authService');
  const user = await repo.findUserById(claims.sub ?? '').catch(() => null);
  if (isBanned(user)) return errorResponse(authError(403, 'user_banned', 'User is banned'));
  c.req.raw = await forLite(c.req.raw, claims);
  await next();
  // Replace invalid_credentials, which Lite returns for a user who has been deleted meanwhile.
  if (user !== null && c.req.method === 'GET' && c.req.path === '/auth/v1/user' && c.res.status === 400) {
    c.res = undefined;
    c.res = errorResponse(authError(403, 'user_not_found', 'User from sub claim in JWT does not exist'));
  }
  return undefined;
};

function bearer(c: Context): string | undefined {
  const token = c.req.header('authorization')?.match(/^Bearer\s+(\S+)$/)?.[1];
  return token?.startsWith('sb_') ? undefined : token;
}

import { randomUUID } from 'node:crypto';
import type { HonoContext } from '@supabase/lite';
import type { Context, MiddlewareHandler } from 'hono';
import { decodeJwt, jwtVerify, SignJWT } from 'jose';
import { signingKey } from './access.ts';
import { AuthError, errorResponse, readBody } from './auth-errors.ts';
import { type AuthService, isBanned, type Repository } from './auth-service.ts';

type Session = Awaited<ReturnType<AuthService['refreshSession']>>;

/** How a session began, other than by password; Auth remembers it in a table of its own, which Lite has not. */
export async function rememberMethod(
  repository: Repository,
  sessionId: string,
  tag: 'oauth' | 'otp',
): Promise<void> {
  await repository['db']
    .withSchema('auth')
    .updateTable('sessions')
    .set({ tag })
    .where('id', '=', sessionId)
    .execute();
}

/** Adds to the access tokens that Lite hands out the claims that those of Supabase Auth have besides. */
export function fullTokens(issuer: () => string): MiddlewareHandler<HonoContext> {
  return async (c, next) => {
    await next();
    if (c.res.status !== 200) return;
    const session = (await readBody(c.res)) as Partial<Session> | undefined;
    if (session?.access_token === undefined || session.user === undefined) return;
    const { user } = session;
    const claims = decodeJwt<{ session_id: string }>(session.access_token);
    const stored = await c.get('authService').repo.findSessionById(claims.session_id);
    session.access_token = await new SignJWT({
      iss: issuer(),
      ...claims,
      phone: user.phone,
      app_metadata: user.app_metadata,
      user_metadata: user.user_metadata,
      aal: 'aal1',
      // Of the sign-in, however often the session was refreshed since.
      amr: [{ method: stored?.tag ?? 'password', timestamp: secondsOf(stored?.created_at) }],
      is_anonymous: user.is_anonymous,
      // ES256 signatures differ each time, HS256 ones do not: without this, two tokens of one second would be equal.
      jti: randomUUID(),
    })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .sign(signingKey);
    const headers = new Headers(c.res.headers);
    headers.delete('content-length');
    const answer = Response.json(session, { headers });
    c.res = undefined;
    c.res = answer;
  };
}

const secondsOf = (time: string | undefined) => Math.floor(Date.parse(time ?? '') / 1000);

/**
 * Looks at the token of the endpoints that are about a signed-in user, before Lite does: banned users are turned away,
 * and signing out means everywhere unless a scope is asked for and the token belongs to a session.
 */
export const signedInUser: MiddlewareHandler<HonoContext> = async (c, next) => {
  const token = bearer(c);
  if (token === undefined) return next();
  const claims = await jwtVerify(token, signingKey, { algorithms: ['HS256'] }).then(
    ({ payload }) => payload,
    () => undefined,
  );
  if (!claims && hasForeignAlgorithm(token)) {
    const text =
      'invalid JWT: unable to parse or verify signature, token is unverifiable: error while executing keyfunc';
    return errorResponse(new AuthError(403, 'bad_jwt', text));
  }
  const user = claims?.sub
    ? await c
        .get('authService')
        .repo.findUserById(claims.sub)
        .catch(() => null)
    : null;
  if (isBanned(user)) return errorResponse(new AuthError(403, 'user_banned', 'User is banned'));
  if (claims && c.req.path === '/auth/v1/logout' && (!c.req.query('scope') || !claims['session_id'])) {
    const url = new URL(c.req.url);
    url.searchParams.set('scope', 'global');
    c.req.raw = new Request(url, c.req.raw);
  }
  return next();
};

function bearer(c: Context): string | undefined {
  const token = c.req.header('authorization')?.match(/^Bearer\s+(\S+)$/)?.[1];
  return token?.startsWith('sb_') ? undefined : token;
}

/** Lite takes a token that names another algorithm for no token at all. */
function hasForeignAlgorithm(token: string): boolean {
  try {
    const header = JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString());
    return header.alg !== 'HS256';
  } catch {
    return false;
  }
}

import type { HonoContext } from '@supabase/lite';
import type { MiddlewareHandler } from 'hono';
import { errors, type JWTPayload } from 'jose';
import { respond } from './rest-errors.ts';
import { verifyToken } from './user-tokens.ts';

// PostgREST allows for clocks that differ by half a minute.
const LEEWAY_SECONDS = 30;

/** Verifies the bearer token of data requests as PostgREST does; Lite then takes the claims as given. */
export const restToken: MiddlewareHandler<HonoContext> = async (c, next) => {
  const token = c.req.header('authorization')?.match(/^Bearer\s+(.*)$/i)?.[1];
  // API keys are not tokens; who sends none is what the key says.
  if (!c.req.path.startsWith('/rest/v1') || token === undefined || token.startsWith('sb_')) return next();
  const claims = await verify(token);
  if (claims instanceof Response) return claims;
  c.set('jwt', claims);
  if (claims.sub !== undefined) c.set('userId', claims.sub);
  c.set('ignoreAuthorization', true);
  return next();
};

async function verify(token: string): Promise<JWTPayload | Response> {
  try {
    const { payload } = await verifyToken(token, { clockTolerance: LEEWAY_SECONDS });
    return payload;
  } catch (error) {
    if (error instanceof errors.JWTExpired || error instanceof errors.JWTClaimValidationFailed)
      return refuse('PGRST303', 'JWT expired');
    return refuse('PGRST301', 'No suitable key or wrong key type');
  }
}

function refuse(code: string, message: string): Response {
  const headers = { 'WWW-Authenticate': `Bearer error="invalid_token", error_description="${message}"` };
  return respond(401, { code, message, details: null, hint: null }, headers);
}

import type { HonoContext } from '@supabase/lite';
import type { MiddlewareHandler } from 'hono';
import { isService } from './access.ts';
import { authError, errorResponse } from './auth-errors.ts';

const protectedPaths = /^\/auth\/v1\/(signup|otp|recover|resend|magiclink|token)$/;
const unprotectedGrants = ['refresh_token', 'id_token', 'pkce'];

/** Rejects all calls that Auth protects by a CAPTCHA, unless they have the secret key. */
export const requireCaptcha: MiddlewareHandler<HonoContext> = async (c, next) => {
  const isProtected = protectedPaths.test(c.req.path) && !unprotectedGrants.includes(c.req.query('grant_type') ?? '');
  if (!isProtected || (await isService(c))) return next();
  const message = 'captcha protection: request disallowed (no captcha_token found)';
  return errorResponse(authError(400, 'captcha_failed', message));
};

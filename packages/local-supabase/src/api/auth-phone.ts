import type { HonoContext } from '@supabase/lite';
import type { MiddlewareHandler } from 'hono';
import { authError, errorResponse } from './auth-errors.ts';

const routes = ['POST /signup', 'POST /otp', 'PUT /user', 'POST /admin/users'];

/** Rejects phone numbers, because Lite ignores them. Auth does the same at sign-up and for codes, if phones are off. */
export const rejectPhones: MiddlewareHandler<HonoContext> = async (c, next) => {
  const route = `${c.req.method} ${c.req.path.replace(/^\/auth\/v1/, '')}`;
  if (!routes.includes(route)) return next();
  // Read a copy, because the route reads the body again.
  const body: unknown = await c.req.raw
    .clone()
    .json()
    .catch(() => null);
  const { phone } = (body ?? {}) as { phone?: unknown };
  if (phone === undefined || phone === null || phone === '') return next();
  return errorResponse(authError(400, 'phone_provider_disabled', 'Unsupported phone provider'));
};

import type { HonoContext } from '@supabase/lite';
import type { MiddlewareHandler } from 'hono';
import type postgres from 'postgres';
import { z } from 'zod';
import { body, toErrorResponse } from './auth.ts';
import { signedIn } from './auth-account.ts';
import { unexpectedFailure } from './auth-errors.ts';
import { isDatabaseError } from './rest-errors.ts';

const Asked = z.object({ email: z.string().optional(), phone: z.string().optional() });

/**
 * What anybody may ask of Auth with the publishable key, and the service uses none of: second factors, phone numbers, another
 * e-mail address. Auth writes it down and mails or sends a code; here it is only written, so that triggers see it.
 */
export function unusedRoutes(sql: postgres.Sql): MiddlewareHandler<HonoContext> {
  return async (c, next) => {
    const endpoint = `${c.req.method} ${c.req.path}`;
    if (!/^(POST \/auth\/v1\/(factors|signup)|PUT \/auth\/v1\/user)$/.test(endpoint)) return next();
    try {
      const { email, phone } = await body(c, Asked);
      if (endpoint === 'POST /auth/v1/factors')
        return await signedIn(c, async ({ userId }) => {
          const [factor] = await sql`
            insert into auth.mfa_factors (id, user_id, factor_type, status, created_at, updated_at)
            values (gen_random_uuid(), ${userId}, 'totp', 'unverified', now(), now()) returning id, factor_type as type`;
          return factor ?? {};
        });
      if (endpoint === 'POST /auth/v1/signup') {
        if (phone === undefined) return await next();
        const [user] =
          await sql`insert into auth.users (id, phone) values (gen_random_uuid(), ${phone}) returning id, phone`;
        return c.json(user ?? {});
      }
      if (email === undefined && phone === undefined) return await next();
      return await signedIn(c, async ({ userId }) => {
        await sql`
          update auth.users set
            email_change = coalesce(${email ?? null}, email_change), phone_change = coalesce(${phone ?? null}, phone_change)
          where id = ${userId}`;
        return c.get('authService').getUser(userId);
      });
    } catch (error) {
      return toErrorResponse(
        isDatabaseError(error) ? unexpectedFailure('Database error updating user') : error,
      );
    }
  };
}

import { createHash } from 'node:crypto';
import type { HonoContext } from '@supabase/lite';
import type { MiddlewareHandler } from 'hono';
import { decodeJwt } from 'jose';
import type postgres from 'postgres';
import { z } from 'zod';
import { resolveKey } from './access.ts';
import { AuthError, errorResponse, isAuthError, readBody } from './auth-errors.ts';
import { signUp } from './auth-service.ts';

type Middleware = MiddlewareHandler<HonoContext>;

const NewUser = z.object({
  email: z.string(),
  password: z.string(),
  email_confirm: z.boolean().default(false),
  user_metadata: z.record(z.string(), z.unknown()).default({}),
});

const Deletion = z.object({ should_soft_delete: z.boolean().default(false) });

/** Whether a request came with the secret key, and with nobody's token besides. */
async function isService(c: Parameters<Middleware>[0]): Promise<boolean> {
  const key = c.req.header('apikey') ?? '';
  const bearer = c.req.header('authorization')?.replace(/^Bearer\s+/i, '') ?? key;
  return bearer === key && (await resolveKey(key))?.type === 'secret';
}

/** Of Auth's admin API, what Lite has none of: making a user and deleting one, for good or softly, with the secret key. */
export function adminRoutes(sql: postgres.Sql): Middleware {
  return async (c, next) => {
    const [, id] = /^\/auth\/v1\/admin\/users(?:\/([^/]+))?$/.exec(c.req.path) ?? [];
    const make = c.req.method === 'POST' && c.req.path === '/auth/v1/admin/users';
    const remove = c.req.method === 'DELETE' && id !== undefined;
    if (!make && !remove) return next();
    if (!(await isService(c))) return errorResponse(new AuthError(403, 'not_admin', 'User not allowed'));
    if (remove) {
      const { data } = Deletion.safeParse(await c.req.json().catch(() => undefined));
      const known = data?.should_soft_delete
        ? await softDelete(sql, id)
        : (await sql`delete from auth.users where id::text = ${id} returning id`).length === 1;
      return known ? c.json({}) : errorResponse(new AuthError(404, 'user_not_found', 'User not found'));
    }
    const { data: user } = NewUser.safeParse(await c.req.json().catch(() => undefined));
    if (user === undefined) {
      return errorResponse(new AuthError(400, 'bad_json', 'Could not parse request body as JSON'));
    }
    try {
      const service = c.get('authService');
      const { email } = service['config'];
      // Auth sends no mail to users whom an administrator makes.
      service['config'] = { ...service['config'], email: { ...email, enable_confirmations: false } };
      await signUp(service, user.email, user.password, user.user_metadata);
    } catch (error) {
      if (isAuthError(error)) return errorResponse(error);
      throw error;
    }
    // An administrator does not sign the user in, and decides alone whether the address counts as confirmed.
    const [made] = await sql`
      update auth.users set email_confirmed_at = case when ${user.email_confirm} then now() end
        where email = ${user.email.toLowerCase()} returning id, email, role`;
    await sql`delete from auth.sessions where user_id = ${made?.['id']}`;
    return c.json(made);
  };
}

/**
 * Keeps a user's row and id, and nothing that tells who it was: what was unique becomes a hash.
 * @returns whether there is such a user
 */
function softDelete(sql: postgres.Sql, id: string): Promise<boolean> {
  return sql.begin(async (transaction) => {
    const [user] =
      await transaction`select email, deleted_at from auth.users where id::text = ${id} for update`;
    if (user === undefined || user['deleted_at'] !== null) return user !== undefined;
    const hash = (value: string) =>
      createHash('sha256')
        .update(id + value)
        .digest('base64url');
    await transaction`
      update auth.users set email = ${user['email'] && hash(user['email'])}, encrypted_password = null,
        confirmation_token = '', recovery_token = '', deleted_at = now() where id = ${id}`;
    // Auth does this in several statements, too; triggers see each of them.
    await transaction`update auth.users set raw_user_meta_data = '{}' where id = ${id}`;
    await transaction`update auth.users set raw_app_meta_data = '{}' where id = ${id}`;
    for (const {
      provider_id,
    } of await transaction`select provider_id from auth.identities where user_id = ${id}`) {
      await transaction`
        update auth.identities set provider_id = ${hash(provider_id)}, identity_data = '{}'
          where user_id = ${id} and provider_id = ${provider_id}`;
    }
    await transaction`delete from auth.sessions where user_id = ${id}`;
    return true;
  });
}

/** Notes whose address a session was opened from, as projects do that have IP address forwarding switched on. */
export function sessionAddress(sql: postgres.Sql): Middleware {
  return async (c, next) => {
    await next();
    const address = c.req.header('sb-forwarded-for');
    if (address === undefined || c.res.status !== 200 || !(await isService(c))) return;
    const session = await readBody(c.res);
    if (typeof session?.['access_token'] !== 'string') return;
    const { session_id } = decodeJwt<{ session_id: string }>(session['access_token']);
    await sql`update auth.sessions set ip = ${address} where id = ${session_id}`;
  };
}

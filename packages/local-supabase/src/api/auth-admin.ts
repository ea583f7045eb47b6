import type { HonoContext } from '@supabase/lite';
import type { Context, MiddlewareHandler } from 'hono';
import { decodeJwt } from 'jose';
import type postgres from 'postgres';
import { z } from 'zod';
import { isService } from './access.ts';
import { body, toErrorResponse } from './auth.ts';
import { authError, readBody } from './auth-errors.ts';
import { newCode } from './auth-mails.ts';
import { signUp } from './auth-service.ts';
import { type AuthService, privateAuth } from './lite.ts';

type Middleware = MiddlewareHandler<HonoContext>;

const NewUser = z.object({
  email: z.string(),
  password: z.string(),
  email_confirm: z.boolean().default(false),
  user_metadata: z.record(z.string(), z.unknown()).default({}),
});

const Link = z.object({ type: z.literal('recovery'), email: z.string() });

const Deletion = z.object({ should_soft_delete: z.boolean().default(false) });

const userNotFound = () => authError(404, 'user_not_found', 'User not found');

const emailExists = () => authError(422, 'email_exists', 'A user with this email address has already been registered');

type Route = (service: AuthService, c: Context, id: string, sql: postgres.Sql) => Promise<object>;

const routes: Record<string, Route> = {
  async 'POST /users'(service, c, _, sql) {
    const { email, password, email_confirm, user_metadata } = await body(c, NewUser);
    if (await service.repo.findUserByEmail(email.toLowerCase())) throw emailExists();
    const settings = privateAuth(service).config;
    // Send no mail, as Auth does for users that an administrator creates.
    privateAuth(service).config = { ...settings, email: { ...settings.email, enable_confirmations: false } };
    await signUp(service, email, password, user_metadata);
    // Delete the session that Lite opens, and let `email_confirm` decide whether the address is confirmed.
    const [made] = await sql`
      update auth.users set email_confirmed_at = case when ${email_confirm} then email_confirmed_at end
        where email = ${email.toLowerCase()} returning id`;
    await sql`delete from auth.sessions where user_id = ${made?.['id']}`;
    return service.getUser(made?.['id']);
  },

  /** Returns the code of a mail for a new password, without mailing it. */
  async 'POST /generate_link'(service, c) {
    const { type, email } = await body(c, Link);
    const user = await service.repo.findUserByEmail(email.toLowerCase());
    if (!user) throw userNotFound();
    const { code, token } = newCode(email.toLowerCase());
    await service.repo.updateUser(user.id, { recovery_token: token, recovery_sent_at: new Date().toISOString() });
    return { ...(await service.getUser(user.id)), email_otp: code, verification_type: type };
  },

  async 'DELETE /users/:id'(_, c, id, sql) {
    const { should_soft_delete } = Deletion.parse(await c.req.json().catch(() => ({})));
    const known = should_soft_delete
      ? await softDelete(sql, id)
      : (await sql`delete from auth.users where id = ${id} returning id`).length === 1;
    if (!known) throw userNotFound();
    return {};
  },
};

/** Routes of Auth's admin API: create and delete a user, and read the code of a mail. */
export function adminRoutes(sql: postgres.Sql): Middleware {
  return async (c, next) => {
    const [, kind, id] = /^\/auth\/v1\/admin\/(users|generate_link)(?:\/([^/]+))?$/.exec(c.req.path) ?? [];
    const route = routes[`${c.req.method} /${kind}${id === undefined ? '' : '/:id'}`];
    if (!route) return next();
    try {
      if (!(await isService(c))) throw authError(403, 'not_admin', 'User not allowed');
      return c.json(await route(c.get('authService'), c, id ?? '', sql));
    } catch (error) {
      return toErrorResponse(error);
    }
  };
}

/**
 * Soft-deletes a user as Auth does: keeps row and id, clears metadata, and replaces e-mail address and phone by hashes.
 * @returns true if the user exists
 */
function softDelete(sql: postgres.Sql, id: string): Promise<boolean> {
  return sql.begin(async (transaction) => {
    const [user] = await transaction`select deleted_at from auth.users where id::text = ${id} for update`;
    if (user === undefined || user['deleted_at'] !== null) return user !== undefined;
    await transaction`
      update auth.users set email = md5(id || email), email_change = md5(id::text), phone_change = left(md5(id::text), 15),
        phone = left(md5(id::text), 15), encrypted_password = null, confirmation_token = '', recovery_token = '', deleted_at = now()
        where id = ${id}`;
    // Use several statements, as Auth does, because triggers see each of them.
    await transaction`update auth.users set raw_user_meta_data = '{}' where id = ${id}`;
    await transaction`update auth.users set raw_app_meta_data = '{}' where id = ${id}`;
    await transaction`
      update auth.identities set provider_id = md5(user_id || provider_id), identity_data = '{}' where user_id = ${id}`;
    await transaction`delete from auth.sessions where user_id = ${id}`;
    return true;
  });
}

/**
 * Stores the User-Agent of a sign-in or refresh with its session, and the forwarded IP address, as projects with IP
 * address forwarding do.
 */
export function sessionOrigin(sql: postgres.Sql): Middleware {
  return async (c, next) => {
    await next();
    if (c.res.status !== 200) return;
    const session = await readBody(c.res);
    if (typeof session?.['access_token'] !== 'string') return;
    const { session_id } = decodeJwt<{ session_id: string }>(session['access_token']);
    const address = (await isService(c)) ? c.req.header('sb-forwarded-for') : undefined;
    await sql`
      update auth.sessions set user_agent = ${c.req.header('user-agent') ?? ''}, ip = coalesce(${address ?? null}, ip)
      where id = ${session_id}`;
  };
}

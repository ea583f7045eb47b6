import type postgres from 'postgres';
import { z } from 'zod';
import { body, type Routes } from './auth.ts';
import { signedIn } from './auth-account.ts';
import { unexpectedFailure } from './auth-errors.ts';

const Asked = z.object({ email: z.string().optional(), phone: z.string().optional() });

/**
 * Routes for second factors, phone numbers and changes of the e-mail address. The service does not use them, but the
 * publishable key allows them. They only write rows, so that triggers see them, and mail no codes.
 */
export const unusedRoutes = (sql: postgres.Sql): Routes => ({
  'POST /factors': (_, c) =>
    signedIn(c, async ({ userId }) => {
      const [factor] = await sql`
        insert into auth.mfa_factors (id, user_id, factor_type, status, created_at, updated_at)
        values (gen_random_uuid(), ${userId}, 'totp', 'unverified', now(), now()) returning id, factor_type as type
      `.catch(rejectUpdate);
      return factor ?? {};
    }),

  async 'POST /signup'(_, c) {
    const { phone } = await body(c, Asked);
    if (phone === undefined) return undefined;
    const [user] = await sql`
      insert into auth.users (id, phone) values (gen_random_uuid(), ${phone}) returning id, phone`.catch(rejectUpdate);
    return user;
  },

  async 'PUT /user'(service, c) {
    const { email = null, phone = null } = await body(c, Asked);
    if (email === null && phone === null) return undefined;
    return signedIn(c, async ({ userId }) => {
      await sql`
        update auth.users set email_change = coalesce(${email}, email_change), phone = coalesce(${phone}, phone)
        where id = ${userId}`.catch(rejectUpdate);
      return service.getUser(userId);
    });
  },
});

function rejectUpdate(): never {
  throw unexpectedFailure('Database error updating user');
}

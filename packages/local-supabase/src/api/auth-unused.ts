import type postgres from 'postgres';
import type { Routes } from './auth.ts';
import { signedIn } from './auth-account.ts';
import { authError, unexpectedFailure } from './auth-errors.ts';

/**
 * Routes for features that the service does not use. Enrolling a second factor only writes a row, so that the trigger
 * rejects it. Linking an identity is answered as switched off.
 */
export const unusedRoutes = (sql: postgres.Sql): Routes => ({
  'GET /user/identities/authorize'() {
    throw authError(404, 'manual_linking_disabled', 'Manual linking is disabled');
  },
  'POST /factors': (_, c) =>
    signedIn(c, async ({ userId }) => {
      const [factor] = await sql`
        insert into auth.mfa_factors (id, user_id, factor_type, status, created_at, updated_at)
        values (gen_random_uuid(), ${userId}, 'totp', 'unverified', now(), now()) returning id, factor_type as type
      `.catch(rejectUpdate);
      return factor ?? {};
    }),
});

function rejectUpdate(): never {
  throw unexpectedFailure('Database error updating user');
}

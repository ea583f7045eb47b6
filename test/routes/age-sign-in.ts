import type { Sql } from '../support/test.ts';

/** Sets back the sign-in of a session by 16 minutes. The real Auth also stores its time in a separate table. */
export async function ageSignIn(sql: Sql, userId: string) {
  const sessions = sql`select id from auth.sessions where user_id = ${userId}`;
  const [row] = await sql`select to_regclass('auth.mfa_amr_claims') is not null as has_claims`;
  await sql`update auth.sessions set created_at = created_at - interval '16 minutes' where id in (${sessions})`;
  if (row?.['has_claims'])
    await sql`
      update auth.mfa_amr_claims
      set created_at = created_at - interval '16 minutes', updated_at = updated_at - interval '16 minutes'
      where session_id in (${sessions})`;
}

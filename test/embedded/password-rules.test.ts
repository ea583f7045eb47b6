import { describe, expect, inject } from 'vitest';
import { changePassword, claimsOf, recoveryCode, signIn, verify } from './sessions.ts';
import { password, testWith } from './supabase.ts';

const strict = testWith({ requireCurrentPassword: true, requireRecentSignIn: true });

describe.runIf(inject('stack').embedded)('where a password is changed under conditions', () => {
  strict('the current one is asked for', async ({ supabase }) => {
    const { email, accessToken } = await supabase.signUp();
    for (const [given, code] of [
      [{}, 'current_password_required'],
      [{ current_password: '' }, 'current_password_required'],
      [{ current_password: 'wrong password' }, 'current_password_invalid'],
    ] as const) {
      const { status, body } = await changePassword(supabase, accessToken, {
        password: 'another one',
        ...given,
      });
      expect([status, body.code]).toEqual([400, code]);
    }
    const weak = await changePassword(supabase, accessToken, { password: 'weak' });
    expect(weak.body.code).toBe('weak_password');
    const current = { current_password: password };
    const same = await changePassword(supabase, accessToken, { password, ...current });
    expect(same.body.code).toBe('same_password');
    const changed = await changePassword(supabase, accessToken, { password: 'another one', ...current });
    expect(changed.status).toBe(200);
    expect((await signIn(supabase, email, 'another one')).status).toBe(200);
  });

  strict('but not of somebody who has forgotten it', async ({ supabase }) => {
    const { email } = await supabase.signUp();
    const { body } = await verify(supabase, 'recovery', email, await recoveryCode(supabase, email));
    expect((await changePassword(supabase, body.access_token, { password: 'another one' })).status).toBe(200);
  });

  strict('a session of more than a day is not enough', async ({ supabase }) => {
    const { accessToken } = await supabase.signUp();
    const { session_id } = claimsOf(accessToken);
    await supabase.sql`
      update auth.sessions set created_at = now() - interval '25 hours' where id = ${session_id}`;
    const { status, body } = await changePassword(supabase, accessToken, {
      password: 'another one',
      current_password: password,
    });
    expect([status, body.code]).toEqual([400, 'reauthentication_needed']);
  });
});

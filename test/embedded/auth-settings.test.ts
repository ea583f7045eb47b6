import { decodeJwt } from 'jose';
import { describe, expect, inject } from 'vitest';
import { refresh, signIn } from './sessions.ts';
import { newEmail, password, testWith } from './supabase.ts';

// Settings that a stack given by TEST_SUPABASE_URL need not have.
const withoutEmail = testWith({ emailSignIn: false });
const withAnonymous = testWith({ anonymousSignIn: true });

describe.runIf(inject('stack').embedded)('where e-mail is switched off as a provider', () => {
  withoutEmail('nobody signs up or in with it, whatever the password', async ({ supabase }) => {
    const email = newEmail();
    const signUp = await supabase.call('/auth/v1/signup', { body: { email, password } });
    expect([signUp.status, signUp.body.code]).toEqual([400, 'email_provider_disabled']);
    const { status, body } = await signIn(supabase, email);
    expect([status, body.code]).toEqual([422, 'email_provider_disabled']);
  });
});

describe.runIf(inject('stack').embedded)('where users may sign up without an identity', () => {
  withAnonymous('their tokens say so, the refreshed ones too', async ({ supabase }) => {
    const { status, body } = await supabase.call('/auth/v1/signup', { body: { data: { colour: 'red' } } });
    expect(status).toBe(200);
    expect(body.user).toMatchObject({
      email: '',
      is_anonymous: true,
      identities: [],
      app_metadata: {},
      user_metadata: { colour: 'red' },
    });
    const next = await refresh(supabase, body.refresh_token);
    for (const session of [body, next.body]) {
      expect(decodeJwt(session.access_token)).toMatchObject({ sub: body.user.id, is_anonymous: true });
    }
    const token = next.body.access_token;
    expect((await supabase.call('/auth/v1/user', { token })).body.id).toBe(body.user.id);
  });

  withAnonymous('others are none of them', async ({ supabase }) => {
    const { accessToken } = await supabase.signUp();
    expect(decodeJwt(accessToken)).toMatchObject({ is_anonymous: false });
  });
});

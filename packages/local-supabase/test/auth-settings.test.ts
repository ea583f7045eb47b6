import { describe, expect, inject } from 'vitest';
import { signIn } from './sessions.ts';
import { newEmail, password, testWith } from './supabase.ts';

// A setting that a stack given by TEST_SUPABASE_URL need not have.
const withoutEmail = testWith({ emailSignIn: false });

describe.runIf(inject('stack').embedded)('where e-mail is switched off as a provider', () => {
  withoutEmail('rejects sign-up and sign-in by e-mail whatever the password', async ({ supabase }) => {
    const email = newEmail();
    const signUp = await supabase.call('/auth/v1/signup', { body: { email, password } });
    expect([signUp.status, signUp.body.code]).toEqual([400, 'email_provider_disabled']);
    const { status, body } = await signIn(supabase, email);
    expect([status, body.code]).toEqual([422, 'email_provider_disabled']);
  });
});

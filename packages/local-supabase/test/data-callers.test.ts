import { describe, expect } from 'vitest';
import { makeObjects } from './objects.ts';
import { test } from './supabase.ts';

makeObjects(
  'callers_',
  `
create function public.callers_me() returns jsonb language sql stable set search_path = '' as $$
  select jsonb_build_object('role', current_user, 'claimed', auth.role(), 'uid', auth.uid(), 'email', auth.email(),
    'jwt', auth.jwt())
$$;
`,
);

describe('the data API', () => {
  test('requires an API key', async ({ supabase }) => {
    const { status, body } = await supabase.call('/rest/v1/callers_none', { apikey: null });
    expect(status).toBe(401);
    expect(body.message).toBe('No API key found in request');
  });

  test('rejects API keys of other projects', async ({ supabase }) => {
    const { status, body } = await supabase.call('/rest/v1/callers_none', { apikey: 'sb_secret_unknown' });
    expect(status).toBe(401);
    expect(body.message).toBe('Invalid API key');
  });

  test('runs as anon for the publishable key and as service_role for the secret one', async ({
    supabase,
  }) => {
    const anon = await supabase.rpc('callers_me');
    const service = await supabase.rpc('callers_me', {}, { apikey: supabase.secretKey });
    expect([anon.body.role, service.body.role]).toEqual(['anon', 'service_role']);
    expect([anon.body.claimed, service.body.claimed]).toEqual(['anon', 'service_role']);
  });

  test('prefers the token of a user to the API key', async ({ supabase }) => {
    const { id, email, accessToken: token } = await supabase.signUp();
    for (const apikey of [supabase.publishableKey, supabase.secretKey]) {
      const { body } = await supabase.rpc('callers_me', {}, { apikey, token });
      expect(body).toMatchObject({ role: 'authenticated', claimed: 'authenticated', uid: id, email });
      expect(body.jwt).toMatchObject({ sub: id, aud: 'authenticated', role: 'authenticated' });
    }
  });
});

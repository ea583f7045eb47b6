import { describe, expect } from 'vitest';
import { forge } from '../../../test/support/forge.ts';
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

const now = () => Math.floor(Date.now() / 1000);

describe('an API key', () => {
  test('is required', async ({ supabase }) => {
    const { status, body } = await supabase.call('/rest/v1/callers_none', { apikey: null });
    expect(status).toBe(401);
    expect(body.message).toBe('No API key found in request');
  });

  test('must be one of the project', async ({ supabase }) => {
    const { status, body } = await supabase.call('/rest/v1/callers_none', { apikey: 'sb_secret_unknown' });
    expect(status).toBe(401);
    expect(body.message).toBe('Invalid API key');
  });

  test('that is publishable makes the caller anon, a secret one service_role', async ({ supabase }) => {
    const anon = await supabase.rpc('callers_me');
    const service = await supabase.rpc('callers_me', {}, { apikey: supabase.secretKey });
    expect([anon.body.role, service.body.role]).toEqual(['anon', 'service_role']);
    expect([anon.body.claimed, service.body.claimed]).toEqual(['anon', 'service_role']);
  });

  test('gives way to the token of a user', async ({ supabase }) => {
    const { id, email, accessToken: token } = await supabase.signUp();
    for (const apikey of [supabase.publishableKey, supabase.secretKey]) {
      const { body } = await supabase.rpc('callers_me', {}, { apikey, token });
      expect(body).toMatchObject({ role: 'authenticated', claimed: 'authenticated', uid: id, email });
      expect(body.jwt).toMatchObject({ sub: id, aud: 'authenticated', role: 'authenticated' });
    }
  });
});

describe('a bearer token', () => {
  test.for([
    ['that expired', () => ({ role: 'authenticated', exp: now() - 60 }), 'PGRST303'],
    ['that is not valid yet', () => ({ role: 'authenticated', nbf: now() + 60 }), 'PGRST303'],
    ['of a role that does not exist', () => ({ role: 'nobody' }), '22023'],
  ] as const)('%s is refused', async ([, claims, code], { supabase, skip }) => {
    const { status, body } = await supabase.rpc('callers_me', {}, { token: await forge(skip, claims()) });
    expect([status, body.code]).toEqual([401, code]);
  });

  test('is allowed half a minute', async ({ supabase, skip }) => {
    const token = await forge(skip, { role: 'authenticated', exp: now() - 10, iat: now() + 10 });
    expect((await supabase.rpc('callers_me', {}, { token })).status).toBe(200);
  });

  test('that is forged, unsigned or no token at all is refused', async ({ supabase, skip }) => {
    const good = await forge(skip, { role: 'authenticated' });
    const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${good.split('.')[1]}.`;
    for (const token of [`${good.slice(0, -4)}AAAA`, unsigned, 'one.two', 'a.b.c', 'nonsense']) {
      const { status, body, headers } = await supabase.rpc('callers_me', {}, { token });
      expect([token, status, body.code]).toEqual([token, 401, 'PGRST301']);
      expect(headers.get('www-authenticate')).toMatch(/^Bearer/);
    }
  });
});

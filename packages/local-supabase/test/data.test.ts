import { expect } from 'vitest';
import { makeObjects } from './objects.ts';
import { test } from './supabase.ts';

makeObjects(
  'data_',
  `
create function public.data_me() returns jsonb language sql stable set search_path = '' as $$
  select jsonb_build_object('session', session_user, 'timeout', current_setting('statement_timeout'),
    'role', current_user, 'claimed', auth.role(), 'uid', auth.uid(), 'email', auth.email(), 'jwt', auth.jwt())
$$;
`,
);

test('the data API rejects a missing API key and one of another project', async ({ supabase }) => {
  for (const [apikey, message] of [
    [null, 'No API key found in request'],
    ['sb_secret_unknown', 'Invalid API key'],
  ] as const) {
    const { status, body } = await supabase.call('/rest/v1/data_none', { apikey });
    expect([status, body.message]).toEqual([401, message]);
  }
});

test('an API key gives its role, and a token of a user the role and time limit of users', async ({
  supabase,
}) => {
  const session = 'authenticator';
  const { publishableKey, secretKey } = supabase;
  const anon = await supabase.rpc('data_me');
  expect(anon.body).toMatchObject({ session, timeout: '3s', role: 'anon', claimed: 'anon' });
  const service = await supabase.rpc('data_me', {}, { apikey: secretKey });
  expect(service.body).toMatchObject({ session, role: 'service_role', claimed: 'service_role' });
  const { id, email, accessToken: token } = await supabase.signUp();
  const [role, claimed] = ['authenticated', 'authenticated'];
  for (const apikey of [publishableKey, secretKey]) {
    const { body } = await supabase.rpc('data_me', {}, { apikey, token });
    expect(body).toMatchObject({ session, timeout: '8s', role, claimed, uid: id, email });
    expect(body.jwt).toMatchObject({ sub: id, aud: 'authenticated', role });
  }
});

test('a data request may have an address of 40 KB, and loses its connection beyond 50 KB', async ({
  supabase,
}) => {
  const ask = (length: number) => supabase.call(`/rest/v1/rpc/data_me?name=${'a'.repeat(length)}`);
  expect((await ask(40_000)).body.code).toBe('PGRST202');
  await expect(ask(60_000)).rejects.toThrow('fetch failed');
});

test('a new function can be called at once, and a dropped one cannot', async ({ supabase }) => {
  await supabase.sql.unsafe(`
    create function public.data_new() returns int language sql as 'select 7';
    grant execute on function public.data_new() to anon`);
  // The data API reads the schema anew a moment after it changed.
  await expect.poll(async () => (await supabase.rpc('data_new')).body).toBe(7);
  await supabase.sql.unsafe('drop function public.data_new()');
  await expect
    .poll(async () => (await supabase.call('/rest/v1/rpc/data_new', { body: {} })).status)
    .toBe(404);
});

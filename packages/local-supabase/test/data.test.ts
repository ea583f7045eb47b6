import { describe, expect } from 'vitest';
import { makeObjects } from './objects.ts';
import { test } from './supabase.ts';

makeObjects(
  'data_',
  `
create function public.data_me() returns jsonb language sql stable set search_path = '' as $$
  select jsonb_build_object('session', session_user, 'timeout', current_setting('statement_timeout'))
$$;
`,
);

describe('a data request', () => {
  test('runs as authenticator with the time limit of its role', async ({ supabase }) => {
    const { accessToken: token } = await supabase.signUp();
    expect((await supabase.rpc('data_me')).body).toEqual({ session: 'authenticator', timeout: '3s' });
    expect((await supabase.rpc('data_me', {}, { token })).body).toEqual({
      session: 'authenticator',
      timeout: '8s',
    });
  });

  test('succeeds with an address of 40 KB and loses its connection beyond 50 KB', async ({ supabase }) => {
    const ask = (length: number) => supabase.call(`/rest/v1/rpc/data_me?name=${'a'.repeat(length)}`);
    expect((await ask(40_000)).body.code).toBe('PGRST202');
    await expect(ask(60_000)).rejects.toThrow('fetch failed');
  });
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

import { describe, expect, inject } from 'vitest';
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

describe('a request', () => {
  test('runs signed in as authenticator, with the time limit of its role', async ({ supabase }) => {
    const { accessToken: token } = await supabase.signUp();
    expect((await supabase.rpc('data_me')).body).toEqual({ session: 'authenticator', timeout: '3s' });
    expect((await supabase.rpc('data_me', {}, { token })).body).toEqual({
      session: 'authenticator',
      timeout: '8s',
    });
  });

  test('whose address is longer than 50 KB is hung up on, and one of 40 KB answered', async ({
    supabase,
  }) => {
    const ask = (length: number) => supabase.call(`/rest/v1/rpc/data_me?name=${'a'.repeat(length)}`);
    expect((await ask(40_000)).body.code).toBe('PGRST202');
    await expect(ask(60_000)).rejects.toThrow('fetch failed');
  });

  test('meets each connection that the database has closed once, with 503', async ({ supabase, skip }) => {
    if (!inject('stack').embedded) skip('It would fail requests of other tests.');
    expect((await supabase.rpc('data_me')).status).toBe(200);
    const closed = await supabase.sql`
      select pg_terminate_backend(pid, 10_000) from pg_stat_activity where usename = 'authenticator'`;
    for (const _ of closed) {
      const { status, headers, body } = await supabase.rpc('data_me');
      expect([status, headers.get('retry-after'), body.code]).toEqual([503, '0', '57P01']);
    }
    expect((await supabase.rpc('data_me')).status).toBe(200);
  });
});

test('a function can be called soon after it is made, and no longer once it is dropped', async ({
  supabase,
}) => {
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

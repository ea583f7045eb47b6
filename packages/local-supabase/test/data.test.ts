import { describe, expect } from 'vitest';
import { makeObjects } from './objects.ts';
import { test } from './supabase.ts';

makeObjects(
  'data_',
  `
create table public.data_notes (title text);
create function public.data_me() returns jsonb language sql stable set search_path = '' as $$
  select jsonb_build_object('session', session_user, 'timeout', current_setting('statement_timeout'))
$$;
create function public.data_echo(value jsonb) returns jsonb language sql stable set search_path = '' as $$
  select jsonb_build_object('type', jsonb_typeof(value), 'value', value)
$$;
create function public.data_add() returns void language sql volatile set search_path = '' as $$
  insert into public.data_notes (title) values ('never')
$$;
create function public.data_add_though_stable() returns void language plpgsql stable set search_path = '' as $$
begin
  perform public.data_add();
end $$;
create function public.data_nothing() returns void language sql volatile set search_path = '' as $$ select $$;
create function public.data_raise(code text) returns void language plpgsql volatile set search_path = '' as $$
begin
  raise exception using errcode = code, message = 'told', detail = 'more', hint = 'a hint';
end $$;
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

  test('to a function that is not volatile cannot write', async ({ supabase }) => {
    const { accessToken: token } = await supabase.signUp();
    const { status, body } = await supabase.rpc('data_add_though_stable', {}, { token });
    expect([status, body.code]).toEqual([405, '25006']);
  });

  // Lite hands numbers and booleans for a jsonb argument over as text; nothing here has such an argument.
  test.for([{ a: [1, { b: null }], c: '{"d":1}' }, [1, 'two', '[3]'], 'text'])(
    'hands over JSON as it is: %j',
    async (value, { supabase }) => {
      const { body } = await supabase.rpc('data_echo', { value });
      expect(body).toEqual({ type: Array.isArray(value) ? 'array' : typeof value, value });
    },
  );

  test('to a function that returns nothing is 204', async ({ supabase }) => {
    expect((await supabase.rpc('data_nothing')).status).toBe(204);
  });
});

describe('a database error', () => {
  // As PostgREST's source lists them: one of each class that the service can meet.
  test.for([
    ['P0001', 400],
    ['22P02', 400],
    ['23514', 400],
    ['23503', 409],
    ['23505', 409],
    ['40P01', 500],
    ['53300', 503],
    ['55P03', 500],
    ['57014', 500],
    ['57P01', 503],
    ['PT401', 401],
  ] as const)('%s is a %i', async ([code, expected], { supabase }) => {
    const { status, body } = await supabase.rpc('data_raise', { code });
    expect(status).toBe(expected);
    expect(body).toEqual({ code, message: 'told', details: 'more', hint: 'a hint' });
  });

  test('for lack of privileges is 401 for anon, 403 for others', async ({ supabase }) => {
    const { accessToken: token } = await supabase.signUp();
    const answers = [
      await supabase.rpc('data_raise', { code: '42501' }),
      await supabase.rpc('data_raise', { code: '42501' }, { token }),
      await supabase.rpc('data_raise', { code: '42501' }, { apikey: supabase.secretKey }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([401, 403, 403]);
  });

  test('for a missing table or function says so', async ({ supabase }) => {
    expect((await supabase.call('/rest/v1/data_missing')).body.code).toBe('PGRST205');
    expect((await supabase.rpc('data_echo', { wrong: 1 })).body.code).toBe('PGRST202');
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

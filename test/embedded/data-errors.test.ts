import { describe, expect } from 'vitest';
import { makeObjects } from './objects.ts';
import { test } from './supabase.ts';

makeObjects(
  'errors_',
  `
create function public.errors_raise(code text, message text default 'told', detail text default '')
  returns void language plpgsql volatile set search_path = '' as $$
begin
  raise exception using errcode = code, message = message, detail = detail, hint = 'a hint';
end $$;
create function public.errors_echo(value jsonb) returns jsonb language sql stable set search_path = '' as $$
  select jsonb_build_object('type', jsonb_typeof(value), 'value', value)
$$;
`,
);

describe('a database error', () => {
  // As PostgREST's source lists them.
  test.for([
    ['P0001', 400],
    ['P0002', 500],
    ['22P02', 400],
    ['22003', 400],
    ['23502', 400],
    ['23514', 400],
    ['23503', 409],
    ['23505', 409],
    ['25006', 405],
    ['28000', 403],
    ['40001', 500],
    ['40P01', 500],
    ['42883', 404],
    ['42P01', 404],
    ['42P17', 500],
    ['53300', 503],
    ['54001', 500],
    ['55P03', 500],
    ['57014', 500],
    ['57P01', 503],
    ['PT404', 404],
    ['PT429', 429],
    ['AB123', 400],
  ] as const)('%s is a %i', async ([code, expected], { supabase }) => {
    const { status, body, headers } = await supabase.rpc('errors_raise', { code, detail: 'more' });
    expect(status).toBe(expected);
    expect(body).toEqual({ code, message: 'told', details: 'more', hint: 'a hint' });
    expect(headers.get('proxy-status')).toBe(`PostgREST; error=${code}`);
  });

  test('for lack of privileges is 401 for anon, 403 for others', async ({ supabase }) => {
    const { accessToken: token } = await supabase.signUp();
    const answers = [
      await supabase.rpc('errors_raise', { code: '42501' }),
      await supabase.rpc('errors_raise', { code: '42501' }, { token }),
      await supabase.rpc('errors_raise', { code: '42501' }, { apikey: supabase.secretKey }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([401, 403, 403]);
  });

  test('for a missing table, function or column says so', async ({ supabase }) => {
    expect((await supabase.call('/rest/v1/errors_missing')).body.code).toBe('PGRST205');
    expect((await supabase.rpc('errors_echo', { wrong: 1 })).body.code).toBe('PGRST202');
  });
});

import { describe, expect } from 'vitest';
import { makeObjects } from './objects.ts';
import { test } from './supabase.ts';

makeObjects(
  'data_',
  `
create table public.data_notes (
  id int generated always as identity primary key,
  owner_id uuid not null default auth.uid(),
  title text not null check (title <> ''),
  secret text,
  price numeric(8,2) not null default 432,
  noted_at timestamptz not null default '2024-01-02 03:04:05.5+00'
);
alter table public.data_notes enable row level security;
create policy "Owners read" on public.data_notes for select to authenticated using ((select auth.uid()) = owner_id);
create policy "Owners add" on public.data_notes for insert to authenticated with check ((select auth.uid()) = owner_id);
grant select (id, owner_id, title, price, noted_at), insert (title) on public.data_notes to authenticated;
create table public.data_ungranted (id int);

create function public.data_me() returns jsonb language sql stable set search_path = '' as $$
  select jsonb_build_object('role', current_user, 'session', session_user, 'uid', auth.uid(),
    'timeout', current_setting('statement_timeout'), 'method', current_setting('request.method', true),
    'headers', current_setting('request.headers', true)::jsonb)
$$;
create function public.data_echo(value jsonb) returns jsonb language sql stable set search_path = '' as $$
  select jsonb_build_object('type', jsonb_typeof(value), 'value', value)
$$;
create function public.data_words(words text[], flag boolean default true) returns jsonb language sql stable
  set search_path = '' as $$ select jsonb_build_array(array_length(words, 1), words[1], flag) $$;
create function public.data_become_user(id uuid) returns jsonb language plpgsql volatile set search_path = '' as $$
begin
  perform set_config('request.jwt.claims', jsonb_build_object('sub', id, 'role', 'authenticated')::text, true),
    set_config('role', 'authenticated', true);
  return jsonb_build_object('role', current_user, 'uid', auth.uid(),
    'notes', (select count(*) from public.data_notes));
end $$;
create function public.data_add_then_fail() returns void language plpgsql volatile set search_path = '' as $$
begin
  insert into public.data_notes (title) values ('lost');
  raise exception 'no';
end $$;
create function public.data_add() returns void language sql volatile set search_path = '' as $$
  insert into public.data_notes (title) values ('never')
$$;
create function public.data_add_though_stable() returns void language plpgsql stable set search_path = '' as $$
begin
  perform public.data_add();
end $$;
create function public.data_nothing() returns void language sql volatile set search_path = '' as $$ select $$;
`,
);

describe('a request', () => {
  test('runs signed in as authenticator, with the time limit of its role', async ({ supabase }) => {
    const { accessToken: token } = await supabase.signUp();
    const anon = await supabase.rpc('data_me');
    const user = await supabase.rpc('data_me', {}, { token });
    expect([anon.body.session, anon.body.timeout]).toEqual(['authenticator', '3s']);
    expect([user.body.session, user.body.timeout]).toEqual(['authenticator', '8s']);
  });

  test('tells functions its method and headers', async ({ supabase }) => {
    const { body } = await supabase.rpc('data_me', {}, { headers: { 'X-Colour': 'blue' } });
    expect(body.method).toBe('POST');
    expect(body.headers['x-colour']).toBe('blue');
  });

  test('of the service may go on as a user, under the rules for that user, and only to its end', async ({
    supabase,
  }) => {
    const user = await supabase.signUp();
    const note = await supabase.call('/rest/v1/data_notes', {
      token: user.accessToken,
      body: { title: 'mine' },
    });
    expect(note.status).toBe(201);
    const apikey = supabase.secretKey;
    const { body } = await supabase.rpc('data_become_user', { id: user.id }, { apikey });
    expect(body).toEqual({ role: 'authenticated', uid: user.id, notes: 1 });
    const after = await Promise.all(
      Array.from({ length: 20 }, () => supabase.rpc('data_me', {}, { apikey })),
    );
    expect(after.map((answer) => [answer.body.role, answer.body.uid])).toEqual(
      Array(20).fill(['service_role', null]),
    );
  });

  test('that fails leaves nothing behind', async ({ supabase }) => {
    const { accessToken: token } = await supabase.signUp();
    expect((await supabase.rpc('data_add_then_fail', {}, { token })).status).toBe(400);
    const { body } = await supabase.call('/rest/v1/data_notes?select=id', { token });
    expect(body).toEqual([]);
  });

  test('to a function that is not volatile cannot write', async ({ supabase }) => {
    const { accessToken: token } = await supabase.signUp();
    const { status, body } = await supabase.rpc('data_add_though_stable', {}, { token });
    expect([status, body.code]).toEqual([405, '25006']);
  });
});

describe('privileges', () => {
  test('on a new table are nobody’s until granted, not even of the service', async ({ supabase }) => {
    const { accessToken: token } = await supabase.signUp();
    const path = '/rest/v1/data_ungranted';
    const answers = [
      await supabase.call(path),
      await supabase.call(path, { token }),
      await supabase.call(path, { apikey: supabase.secretKey }),
    ];
    expect(answers.map(({ status, body }) => [status, body.code])).toEqual([
      [401, '42501'],
      [403, '42501'],
      [403, '42501'],
    ]);
  });

  test('on columns hold', async ({ supabase }) => {
    const { accessToken: token } = await supabase.signUp();
    const path = '/rest/v1/data_notes';
    expect((await supabase.call(`${path}?select=title`, { token })).status).toBe(200);
    expect((await supabase.call(`${path}?select=secret`, { token })).body.code).toBe('42501');
    expect((await supabase.call(path, { token, body: { title: 'a', price: 1 } })).body.code).toBe('42501');
  });

  test('on rows: users see their own', async ({ supabase }) => {
    const [one, other] = [await supabase.signUp(), await supabase.signUp()];
    await supabase.call('/rest/v1/data_notes', { token: one.accessToken, body: { title: 'private' } });
    const seen = await Promise.all(
      [one, other].map(({ accessToken: token }) =>
        supabase.call('/rest/v1/data_notes?select=title', { token }),
      ),
    );
    expect(seen.map(({ body }) => body)).toEqual([[{ title: 'private' }], []]);
  });
});

describe('values', () => {
  // Lite hands numbers and booleans for a jsonb argument over as text; nothing here has such an argument.
  test.for([{ a: [1, { b: null }], c: '{"d":1}' }, [1, 'two', '[3]'], 'text'])(
    'arrive as they are: %j',
    async (value, { supabase }) => {
      const { body } = await supabase.rpc('data_echo', { value });
      expect(body).toEqual({ type: Array.isArray(value) ? 'array' : typeof value, value });
    },
  );

  test('of arrays and defaults reach functions', async ({ supabase }) => {
    const { body } = await supabase.rpc('data_words', { words: ['a,b', 'c"d', '{e}'] });
    expect(body).toEqual([3, 'a,b', true]);
  });

  test('of times are ISO 8601, of numerics numbers', async ({ supabase }) => {
    const { accessToken: token } = await supabase.signUp();
    const { status, body } = await supabase.call('/rest/v1/data_notes?select=price,noted_at,owner_id', {
      token,
      body: { title: 'a' },
      headers: { Prefer: 'return=representation' },
    });
    expect(status).toBe(201);
    expect(body[0]).toMatchObject({ price: 432, noted_at: '2024-01-02T03:04:05.5+00:00' });
  });

  test('of nothing are 204', async ({ supabase }) => {
    expect((await supabase.rpc('data_nothing')).status).toBe(204);
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

import { SignJWT } from 'jose';
import { describe, expect } from 'vitest';
import { type Supabase, test } from './supabase.ts';

const OBJECTS = `
create table public.compat_notes (
  id int generated always as identity primary key,
  owner_id uuid not null default auth.uid(),
  title text not null check (title <> ''),
  secret text,
  price numeric(8,2) not null default 432,
  noted_at timestamptz not null default '2024-01-02 03:04:05.5+00'
);
alter table public.compat_notes enable row level security;
create policy "Owners read" on public.compat_notes for select to authenticated using ((select auth.uid()) = owner_id);
create policy "Owners add" on public.compat_notes for insert to authenticated with check ((select auth.uid()) = owner_id);
grant select (id, owner_id, title, price, noted_at), insert (title) on public.compat_notes to authenticated;
create table public.compat_ungranted (id int);

create function public.compat_me() returns jsonb language sql stable set search_path = '' as $$
  select jsonb_build_object('role', current_user, 'session', session_user, 'uid', auth.uid(), 'claimed', auth.role(),
    'email', auth.email(), 'jwt', auth.jwt(), 'timeout', current_setting('statement_timeout'),
    'headers', current_setting('request.headers', true)::jsonb, 'method', current_setting('request.method', true))
$$;
create function public.compat_echo(value jsonb) returns jsonb language sql stable set search_path = '' as $$
  select jsonb_build_object('type', jsonb_typeof(value), 'value', value)
$$;
create function public.compat_words(words text[], flag boolean default true) returns jsonb language sql stable
  set search_path = '' as $$ select jsonb_build_array(array_length(words, 1), words[1], flag) $$;
create function public.compat_raise(code text, message text default 'told', detail text default '')
  returns void language plpgsql volatile set search_path = '' as $$
begin
  raise exception using errcode = code, message = message, detail = detail, hint = 'a hint';
end $$;
create function public.compat_become_user(id uuid) returns jsonb language plpgsql volatile set search_path = '' as $$
begin
  perform set_config('request.jwt.claims', jsonb_build_object('sub', id, 'role', 'authenticated')::text, true),
    set_config('role', 'authenticated', true);
  return jsonb_build_object('role', current_user, 'uid', auth.uid(),
    'notes', (select count(*) from public.compat_notes));
end $$;
create function public.compat_add_then_fail() returns void language plpgsql volatile set search_path = '' as $$
begin
  insert into public.compat_notes (title) values ('lost');
  raise exception 'no';
end $$;
create function public.compat_add() returns void language sql volatile set search_path = '' as $$
  insert into public.compat_notes (title) values ('never')
$$;
create function public.compat_add_though_stable() returns void language plpgsql stable set search_path = '' as $$
begin
  perform public.compat_add();
end $$;
create function public.compat_nothing() returns void language sql volatile set search_path = '' as $$ select $$;
`;

const REMOVED = `
drop table if exists public.compat_notes, public.compat_ungranted;
do $$ declare f regprocedure; begin
  for f in select oid::regprocedure from pg_proc where proname like 'compat\\_%' loop execute 'drop function ' || f; end loop;
end $$;`;

test.beforeAll(async ({ supabase }) => {
  await supabase.sql.unsafe(REMOVED + OBJECTS);
  return async () => {
    await supabase.sql.unsafe(REMOVED);
  };
});

function sign({ jwtSecret }: Supabase, claims: Record<string, unknown>) {
  const key = new TextEncoder().encode(jwtSecret);
  return new SignJWT(claims).setProtectedHeader({ alg: 'HS256', typ: 'JWT' }).sign(key);
}

const now = () => Math.floor(Date.now() / 1000);

describe('an API key', () => {
  test('is required', async ({ supabase }) => {
    const { status, body } = await supabase.call('/rest/v1/compat_notes', { apikey: null });
    expect(status).toBe(401);
    expect(body.message).toBe('No API key found in request');
  });

  test('must be one of the project', async ({ supabase }) => {
    const { status, body } = await supabase.call('/rest/v1/compat_notes', { apikey: 'sb_secret_unknown' });
    expect(status).toBe(401);
    expect(body.message).toBe('Invalid API key');
  });

  test('that is publishable makes the caller anon, a secret one service_role', async ({ supabase }) => {
    const anon = await supabase.rpc('compat_me');
    const service = await supabase.rpc('compat_me', {}, { apikey: supabase.secretKey });
    expect([anon.body.role, service.body.role]).toEqual(['anon', 'service_role']);
    expect([anon.body.claimed, service.body.claimed]).toEqual(['anon', 'service_role']);
  });

  test('may also be a legacy token of that role', async ({ supabase }) => {
    for (const role of ['anon', 'service_role']) {
      const apikey = await sign(supabase, { role, iss: 'supabase', exp: now() + 60 });
      expect((await supabase.rpc('compat_me', {}, { apikey })).body.role).toBe(role);
      expect((await supabase.rpc('compat_me', {}, { apikey, token: apikey })).body.role).toBe(role);
    }
  });

  test('gives way to the token of a user', async ({ supabase }) => {
    const { id, email, accessToken: token } = await supabase.signUp();
    for (const apikey of [supabase.publishableKey, supabase.secretKey]) {
      const { body } = await supabase.rpc('compat_me', {}, { apikey, token });
      expect(body).toMatchObject({ role: 'authenticated', claimed: 'authenticated', uid: id, email });
      expect(body.jwt).toMatchObject({ sub: id, aud: 'authenticated', role: 'authenticated' });
    }
  });
});

describe('a request', () => {
  test('runs signed in as authenticator, with the time limit of its role', async ({ supabase }) => {
    const { accessToken: token } = await supabase.signUp();
    const anon = await supabase.rpc('compat_me');
    const user = await supabase.rpc('compat_me', {}, { token });
    expect([anon.body.session, anon.body.timeout]).toEqual(['authenticator', '3s']);
    expect([user.body.session, user.body.timeout]).toEqual(['authenticator', '8s']);
  });

  test('tells functions its method and headers', async ({ supabase }) => {
    const { body } = await supabase.rpc('compat_me', {}, { headers: { 'X-Colour': 'blue' } });
    expect(body.method).toBe('POST');
    expect(body.headers['x-colour']).toBe('blue');
  });

  test('of the service may go on as a user, under the rules for that user, and only to its end', async ({
    supabase,
  }) => {
    const user = await supabase.signUp();
    const note = await supabase.call('/rest/v1/compat_notes', {
      token: user.accessToken,
      body: { title: 'mine' },
    });
    expect(note.status).toBe(201);
    const apikey = supabase.secretKey;
    const { body } = await supabase.rpc('compat_become_user', { id: user.id }, { apikey });
    expect(body).toEqual({ role: 'authenticated', uid: user.id, notes: 1 });
    const after = await Promise.all(
      Array.from({ length: 20 }, () => supabase.rpc('compat_me', {}, { apikey })),
    );
    expect(after.map((answer) => [answer.body.role, answer.body.uid])).toEqual(
      Array(20).fill(['service_role', null]),
    );
  });

  test('that fails leaves nothing behind', async ({ supabase }) => {
    const { accessToken: token } = await supabase.signUp();
    expect((await supabase.rpc('compat_add_then_fail', {}, { token })).status).toBe(400);
    const { body } = await supabase.call('/rest/v1/compat_notes?select=id', { token });
    expect(body).toEqual([]);
  });

  test('to a function that is not volatile cannot write', async ({ supabase }) => {
    const { accessToken: token } = await supabase.signUp();
    const { status, body } = await supabase.rpc('compat_add_though_stable', {}, { token });
    expect([status, body.code]).toEqual([405, '25006']);
  });
});

describe('privileges', () => {
  test('on a new table are nobody’s until granted, not even of the service', async ({ supabase }) => {
    const { accessToken: token } = await supabase.signUp();
    const path = '/rest/v1/compat_ungranted';
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
    const path = '/rest/v1/compat_notes';
    expect((await supabase.call(`${path}?select=title`, { token })).status).toBe(200);
    expect((await supabase.call(`${path}?select=secret`, { token })).body.code).toBe('42501');
    expect((await supabase.call(path, { token, body: { title: 'a', price: 1 } })).body.code).toBe('42501');
  });

  test('on rows: users see their own', async ({ supabase }) => {
    const [one, other] = [await supabase.signUp(), await supabase.signUp()];
    await supabase.call('/rest/v1/compat_notes', { token: one.accessToken, body: { title: 'private' } });
    const seen = await Promise.all(
      [one, other].map(({ accessToken: token }) =>
        supabase.call('/rest/v1/compat_notes?select=title', { token }),
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
      const { body } = await supabase.rpc('compat_echo', { value });
      expect(body).toEqual({ type: Array.isArray(value) ? 'array' : typeof value, value });
    },
  );

  test('of arrays and defaults reach functions', async ({ supabase }) => {
    const { body } = await supabase.rpc('compat_words', { words: ['a,b', 'c"d', '{e}'] });
    expect(body).toEqual([3, 'a,b', true]);
  });

  test('of times are ISO 8601, of numerics numbers', async ({ supabase }) => {
    const { accessToken: token } = await supabase.signUp();
    const { status, body } = await supabase.call('/rest/v1/compat_notes?select=price,noted_at,owner_id', {
      token,
      body: { title: 'a' },
      headers: { Prefer: 'return=representation' },
    });
    expect(status).toBe(201);
    expect(body[0]).toMatchObject({ price: 432, noted_at: '2024-01-02T03:04:05.5+00:00' });
  });

  test('of nothing are 204', async ({ supabase }) => {
    expect((await supabase.rpc('compat_nothing')).status).toBe(204);
  });
});

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
    ['54001', 413],
    ['55P03', 500],
    ['57014', 500],
    ['57P01', 503],
    ['PT404', 404],
    ['PT429', 429],
    ['AB123', 400],
  ] as const)('%s is a %i', async ([code, expected], { supabase }) => {
    const { status, body, headers } = await supabase.rpc('compat_raise', { code, detail: 'more' });
    expect(status).toBe(expected);
    expect(body).toEqual({ code, message: 'told', details: 'more', hint: 'a hint' });
    expect(headers.get('proxy-status')).toBe(`PostgREST; error=${code}`);
  });

  test('for lack of privileges is 401 for anon, 403 for others', async ({ supabase }) => {
    const { accessToken: token } = await supabase.signUp();
    const answers = [
      await supabase.rpc('compat_raise', { code: '42501' }),
      await supabase.rpc('compat_raise', { code: '42501' }, { token }),
      await supabase.rpc('compat_raise', { code: '42501' }, { apikey: supabase.secretKey }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([401, 403, 403]);
  });

  test('raised as PGRST names its own answer', async ({ supabase }) => {
    const { status, body, headers } = await supabase.rpc('compat_raise', {
      code: 'PGRST',
      message: JSON.stringify({ code: 'mine', message: 'Slow down' }),
      detail: JSON.stringify({ status: 429, headers: { 'Retry-After': '7' } }),
    });
    expect([status, headers.get('retry-after')]).toEqual([429, '7']);
    expect(body).toMatchObject({ code: 'mine', message: 'Slow down' });
    expect((await supabase.rpc('compat_raise', { code: 'PGRST' })).body.code).toBe('PGRST121');
  });

  test('for a missing table, function or column says so', async ({ supabase }) => {
    expect((await supabase.call('/rest/v1/compat_missing')).body.code).toBe('PGRST205');
    expect((await supabase.rpc('compat_echo', { wrong: 1 })).body.code).toBe('PGRST202');
  });
});

describe('a bearer token', () => {
  test.for([
    ['that expired', () => ({ role: 'authenticated', exp: now() - 60 }), 'PGRST303'],
    ['that is not valid yet', () => ({ role: 'authenticated', nbf: now() + 60 }), 'PGRST303'],
    ['from the future', () => ({ role: 'authenticated', iat: now() + 60 }), 'PGRST303'],
    ['of a role that does not exist', () => ({ role: 'nobody' }), '22023'],
  ] as const)('%s is refused', async ([, claims, code], { supabase }) => {
    const { status, body } = await supabase.rpc('compat_me', {}, { token: await sign(supabase, claims()) });
    expect([status, body.code]).toEqual([401, code]);
  });

  test('is allowed half a minute', async ({ supabase }) => {
    const token = await sign(supabase, { role: 'authenticated', exp: now() - 10, iat: now() + 10 });
    expect((await supabase.rpc('compat_me', {}, { token })).status).toBe(200);
  });

  test('of a role that the API may not become is refused', async ({ supabase }) => {
    const { status, body } = await supabase.rpc(
      'compat_me',
      {},
      { token: await sign(supabase, { role: 'postgres' }) },
    );
    expect([status, body.code]).toEqual([403, '42501']);
  });

  test('that is forged, unsigned or no token at all is refused', async ({ supabase }) => {
    const good = await sign(supabase, { role: 'authenticated' });
    const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${good.split('.')[1]}.`;
    for (const token of [`${good.slice(0, -4)}AAAA`, unsigned, 'one.two', 'a.b.c', 'nonsense']) {
      const { status, body, headers } = await supabase.rpc('compat_me', {}, { token });
      expect([token, status, body.code]).toEqual([token, 401, 'PGRST301']);
      expect(headers.get('www-authenticate')).toMatch(/^Bearer/);
    }
  });
});

test('SQL that takes on claims sees them: auth.uid(), role(), email() and jwt()', async ({ supabase }) => {
  const claims = { sub: '00000000-0000-4000-8000-000000000001', role: 'authenticated', email: 'a@b.co' };
  const seen = await supabase.sql.begin(async (sql) => {
    await sql`select set_config('request.jwt.claims', ${JSON.stringify(claims)}, true)`;
    await sql`set local role authenticated`;
    return sql`select auth.uid(), auth.role(), auth.email(), auth.jwt() ->> 'sub' as sub, current_user`;
  });
  expect(seen[0]).toEqual({
    uid: claims.sub,
    role: 'authenticated',
    email: 'a@b.co',
    sub: claims.sub,
    current_user: 'authenticated',
  });
});

test('a function can be called as soon as it is made, and no longer once it is dropped', async ({
  supabase,
}) => {
  await supabase.sql.unsafe(`create function public.compat_new() returns int language sql as 'select 7'`);
  expect((await supabase.rpc('compat_new')).body).toBe(7);
  await supabase.sql.unsafe('drop function public.compat_new()');
  await expect
    .poll(async () => (await supabase.call('/rest/v1/rpc/compat_new', { body: {} })).status)
    .toBe(404);
});

import { expect, inject } from 'vitest';
import { type Supabase, test } from './supabase.ts';

// Rights of migrations and administrators as `postgres` on a hosted project.

class Undo extends Error {}

/** Runs statements as `postgres` and undoes them; returns the SQLSTATE of the one that failed, if one did. */
async function attempt({ sql }: Supabase, statements: string): Promise<string | undefined> {
  try {
    await sql.begin(async (transaction) => {
      await transaction.unsafe(statements);
      throw new Undo();
    });
  } catch (error) {
    if (error instanceof Undo) return undefined;
    return (error as { code: string }).code;
  }
  return undefined;
}

const FUNCTION = `create function public.compat_trigger() returns trigger language plpgsql as 'begin return new; end'`;

test.for([
  [
    'create triggers on users',
    `${FUNCTION}; create trigger a after insert on auth.users for each row execute function public.compat_trigger()`,
  ],
  ['reference users', 'create table public.a (id uuid primary key references auth.users on delete cascade)'],
  ['read and change users', `update auth.users set banned_until = '2999-01-01'; select * from auth.users`],
  ['end sessions', 'delete from auth.sessions'],
  ['create buckets', `insert into storage.buckets (id, name, public) values ('compat-x', 'compat-x', true)`],
  ['create schemas', 'create schema compat_private; grant usage on schema compat_private to authenticated'],
  ['create extensions', 'create extension if not exists pg_trgm with schema extensions'],
  ['change default privileges', 'alter default privileges revoke execute on functions from public'],
  ['change time limits', `alter role authenticated set statement_timeout = '8s'`],
  ['switch to a role of the API and back', 'set local role authenticated; set local role postgres'],
  ['become anon', 'set local role anon'],
  ['become the service', 'set local role service_role'],
  ['become authenticator', 'set local role authenticator'],
  ['create and grant roles', 'create role compat_role; grant compat_role to authenticator'],
  ['reload the API', `notify pgrst, 'reload schema'`],
] as const)('postgres may %s', async ([, statements], { supabase }) => {
  expect(await attempt(supabase, statements)).toBeUndefined();
});

test.for([
  ['change the tables of Auth', 'alter table auth.users add column compat int'],
  ['create tables in the schema of Auth', 'create table auth.compat (id int)'],
  ['become the superuser', 'set local role supabase_admin'],
  ['become Auth', 'set local role supabase_auth_admin'],
] as const)('postgres may not %s', async ([, statement], { supabase }) => {
  expect(await attempt(supabase, statement)).toBe('42501');
});

test('postgres may not create tables in the schema of Storage', async ({ supabase, skip }) => {
  skip(!inject('stack').embedded, 'Storage itself lets postgres; the hosted platform takes it away.');
  expect(await attempt(supabase, 'create table storage.compat (id int)')).toBe('42501');
});

test('postgres is no superuser and bypasses row-level security', async ({ supabase }) => {
  const [role] =
    await supabase.sql`select rolsuper, rolbypassrls, rolcreaterole from pg_roles where rolname = current_user`;
  expect(role).toEqual({ rolsuper: false, rolbypassrls: true, rolcreaterole: true });
});

test('a definer function cannot change the role', async ({ supabase }) => {
  const call = `create function public.compat_definer() returns void language plpgsql security definer
    as $$ begin perform set_config('role', 'authenticated', true); end $$; select public.compat_definer()`;
  expect(await attempt(supabase, call)).toBe('42501');
});

test('a new table in public has no grants for roles of the API', async ({ supabase }) => {
  const granted = await supabase.sql.begin(async (sql) => {
    await sql`create table public.compat_table (id int)`;
    const rows = await sql`
      select r as role, has_table_privilege(r, 'public.compat_table', 'select, insert, update, delete') as granted
      from unnest(array['anon', 'authenticated', 'service_role']) as r`;
    await sql`drop table public.compat_table`;
    return rows.map((row) => row['granted']);
  });
  expect(granted).toEqual([false, false, false]);
});

test('text sorts by language, independent of the locale of the machine', async ({ supabase }) => {
  const rows =
    await supabase.sql`select w from unnest(array['Zebra', 'apple', 'Éclair', 'banana']) as w order by w`;
  expect(rows.map((row) => row['w'])).toEqual(['apple', 'banana', 'Éclair', 'Zebra']);
});

test('the database is PostgreSQL 17 with pgcrypto and pg_trgm in extensions', async ({ supabase }) => {
  const [row] = await supabase.sql`
    select current_setting('server_version_num')::int / 10000 as major, extensions.similarity('a', 'a') as alike,
      encode(extensions.digest('a', 'sha256'), 'hex') as hash`;
  expect(row).toMatchObject({ major: 17, alike: 1, hash: expect.stringMatching(/^ca978112/) });
});

import { expect, inject } from 'vitest';
import { type Supabase, test } from './supabase.ts';

// Rights of migrations and administrators as `postgres` on a hosted project. Other rights show when the migrations are applied.

/** Runs statements as `postgres` and undoes them. Returns what the last one returned, or the SQLSTATE of one that failed. */
async function attempt({ sql }: Supabase, statements: string) {
  const undo = { rows: undefined as unknown };
  const failure = await sql
    .begin(async (transaction) => {
      undo.rows = await transaction.unsafe(statements);
      throw undo;
    })
    .catch((error) => error);
  return failure === undo ? undo.rows : failure.code;
}

test.for([
  ['read and change users', `update auth.users set banned_until = '2999-01-01'; select * from auth.users`],
  ['end sessions', 'delete from auth.sessions'],
  ['create buckets', `insert into storage.buckets (id, name, public) values ('compat-x', 'compat-x', true)`],
  ['change time limits', `alter role authenticated set statement_timeout = '8s'`],
  ['switch to a role of the API and back', 'set local role authenticated; set local role postgres'],
  ['become authenticator', 'set local role authenticator'],
  ['create and grant roles', 'create role compat_role; grant compat_role to authenticator'],
] as const)('postgres may %s', async ([, statements], { supabase }) => {
  expect(await attempt(supabase, statements)).toEqual(expect.any(Array));
});

test.for([
  ['change the tables of Auth', 'alter table auth.users add column compat int'],
  ['create tables in the schema of Auth', 'create table auth.compat (id int)'],
  // Storage itself allows it; the hosted platform takes it away.
  ...(inject('stack').embedded
    ? ([['create tables in the schema of Storage', 'create table storage.compat (id int)']] as const)
    : []),
  ['become the superuser', 'set local role supabase_admin'],
  ['become Auth', 'set local role supabase_auth_admin'],
  [
    'change the role in a definer function',
    `create function public.compat_definer() returns void language plpgsql security definer
      as $$ begin perform set_config('role', 'authenticated', true); end $$; select public.compat_definer()`,
  ],
] as const)('postgres may not %s', async ([, statements], { supabase }) => {
  expect(await attempt(supabase, statements)).toBe('42501');
});

test('a new table in public has no grants for roles of the API', async ({ supabase }) => {
  const [, granted] = await attempt(
    supabase,
    `create table public.compat_table (id int);
    select has_table_privilege(r, 'public.compat_table', 'select, insert, update, delete') as may
    from unnest(array['anon', 'authenticated', 'service_role']) as r`,
  );
  expect(granted).toEqual([{ may: false }, { may: false }, { may: false }]);
});

test('the database is PostgreSQL 17 with the roles, extensions and sorting of a project', async ({
  supabase,
}) => {
  const [row] = await supabase.sql`
    select current_setting('server_version_num')::int / 10000 as major, extensions.similarity('a', 'a') as alike,
      encode(extensions.digest('a', 'sha256'), 'hex') as hash, rolsuper, rolbypassrls, rolcreaterole,
      (select array_agg(w order by w) from unnest(array['Zebra', 'apple', 'Éclair', 'banana']) as w) as words
    from pg_roles where rolname = current_user`;
  expect(row).toEqual({
    major: 17,
    alike: 1,
    hash: expect.stringMatching(/^ca978112/),
    rolsuper: false,
    rolbypassrls: true,
    rolcreaterole: true,
    words: ['apple', 'banana', 'Éclair', 'Zebra'],
  });
});

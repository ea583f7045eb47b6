import { expect, inject } from 'vitest';
import { test } from './supabase.ts';

// Tests rights of `postgres` on a hosted project that migrations and other tests do not use.

const denied = '42501';

test.for([
  ['may change time limits', `alter role authenticated set statement_timeout = '8s'`],
  ['may switch to a role of the API and back', 'set local role authenticated; set local role postgres'],
  ['may become authenticator', 'set local role authenticator'],
  ['may create and grant roles', 'create role compat_role; grant compat_role to authenticator'],
  [
    'may create a table, which no role of the API may use',
    `create table public.compat_table (id int);
    do $$ begin
      assert not (select bool_or(has_table_privilege(r, 'public.compat_table', 'select, insert, update, delete'))
        from unnest(array['anon', 'authenticated', 'service_role']) as r);
    end $$`,
  ],
  [
    'uses the extensions and the sorting of a project',
    `do $$ begin
      assert extensions.similarity('a', 'a') = 1 and length(extensions.digest('a', 'sha256')) = 32;
      assert (select array_agg(word order by word) from unnest(array['Zebra', 'apple', 'Éclair', 'banana']) as word)
        = array['apple', 'banana', 'Éclair', 'Zebra'];
    end $$`,
  ],
  ['may not change the tables of Auth', 'alter table auth.users add column compat int', denied],
  ['may not create tables in the schema of Auth', 'create table auth.compat (id int)', denied],
  ['may not become the superuser', 'set local role supabase_admin', denied],
  ['may not become Auth', 'set local role supabase_auth_admin', denied],
  [
    'may not change the role in a definer function',
    `create function public.compat_definer() returns void language plpgsql security definer
      as $$ begin perform set_config('role', 'authenticated', true); end $$; select public.compat_definer()`,
    denied,
  ],
  // Storage allows this by itself; only the hosted platform denies it.
  ...(inject('stack').embedded
    ? ([['may not create tables for Storage', 'create table storage.compat (id int)', denied]] as const)
    : []),
] as const)('postgres %s', async ([, statements, expected], { supabase: { sql } }) => {
  const undo = { code: undefined };
  const attempt = sql.begin(async (transaction) => {
    await transaction.unsafe(statements);
    throw undo;
  });
  await expect(attempt).rejects.toMatchObject({ code: expected });
});

-- Creates the roles, schemas and privileges that a hosted Supabase project has before the first migration. The
-- superuser `supabase_admin` runs this once. Lite creates the tables of Auth and Storage afterwards.

create role postgres nosuperuser createdb createrole replication bypassrls login password 'postgres';
alter role postgres set search_path to "$user", public, extensions;
grant pg_monitor, pg_read_all_data, pg_signal_backend to postgres;
alter database postgres owner to postgres;

create role anon nologin;
create role authenticated nologin;
create role service_role nologin bypassrls;
-- PostgREST connects as authenticator and then switches to one of the three roles.
create role authenticator noinherit login password 'postgres';
grant anon, authenticated, service_role to authenticator;
grant anon, authenticated, service_role to postgres with admin option;
grant authenticator to postgres;
alter role anon set statement_timeout = '3s';
alter role authenticated set statement_timeout = '8s';
alter role authenticator set statement_timeout = '8s';

-- Auth and Storage have no rights outside their schemas, so trigger functions on their tables are security definers.
create role supabase_auth_admin noinherit login password 'postgres';
alter role supabase_auth_admin set search_path to auth;
create role supabase_storage_admin noinherit login password 'postgres';
alter role supabase_storage_admin set search_path to storage;
grant authenticator to supabase_storage_admin;

-- Since 2026 new projects have no default privileges. The image supabase/postgres also grants usage to postgres.
grant usage on schema public to postgres, anon, authenticated, service_role;

create schema extensions authorization postgres;
grant usage on schema extensions to anon, authenticated, service_role, supabase_auth_admin, supabase_storage_admin;
create extension pgcrypto with schema extensions;
create extension pg_trgm with schema extensions;

grant create on database postgres to supabase_auth_admin, supabase_storage_admin;
create schema auth authorization supabase_auth_admin;
grant usage on schema auth to anon, authenticated, service_role, postgres;
create schema storage authorization supabase_storage_admin;
grant usage on schema storage to anon, authenticated, service_role, postgres;

set local role supabase_auth_admin;

create function auth.jwt() returns jsonb language sql stable as $$
  select nullif(current_setting('request.jwt.claims', true), '')::jsonb
$$;
create function auth.uid() returns uuid language sql stable as $$ select (auth.jwt() ->> 'sub')::uuid $$;
create function auth.role() returns text language sql stable as $$ select auth.jwt() ->> 'role' $$;
create function auth.email() returns text language sql stable as $$ select auth.jwt() ->> 'email' $$;

reset role;

-- Notifies PostgREST about new tables and functions.
create function extensions.pgrst_watch() returns event_trigger language plpgsql as $$
begin
  notify pgrst, 'reload schema';
end
$$;
create event trigger pgrst_ddl_watch on ddl_command_end execute function extensions.pgrst_watch();
create event trigger pgrst_drop_watch on sql_drop execute function extensions.pgrst_watch();

-- What a hosted Supabase project has before the first migration: its roles, schemas and privileges.
-- Run once, in one transaction, by the superuser `supabase_admin`. The tables of Auth and Storage follow from Lite.

create role postgres nosuperuser createdb createrole replication bypassrls login password 'postgres';
alter role postgres set search_path to "$user", public, extensions;
grant pg_monitor, pg_read_all_data, pg_signal_backend to postgres;
alter database postgres owner to postgres;

create role anon nologin;
create role authenticated nologin;
create role service_role nologin bypassrls;
-- PostgREST signs in as authenticator and then becomes one of the three, which is all that it may become.
create role authenticator noinherit login password 'postgres';
grant anon, authenticated, service_role to authenticator;
grant anon, authenticated, service_role to postgres with admin option;
grant authenticator to postgres;
alter role anon set statement_timeout = '3s';
alter role authenticated set statement_timeout = '8s';
alter role authenticator set statement_timeout = '8s';

-- Auth and Storage own their schemas and have no rights elsewhere: a trigger of ours on their tables must be a definer.
create role supabase_auth_admin noinherit login password 'postgres';
alter role supabase_auth_admin set search_path to auth;
create role supabase_storage_admin noinherit login password 'postgres';
alter role supabase_storage_admin set search_path to storage;
grant authenticator to supabase_storage_admin;

-- Since 2026 nothing is granted on new tables, so there are no default privileges here.
grant usage on schema public to anon, authenticated, service_role;

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

-- PostgREST learns of new tables and functions at once.
create function extensions.pgrst_watch() returns event_trigger language plpgsql as $$
begin
  notify pgrst, 'reload schema';
end
$$;
create event trigger pgrst_ddl_watch on ddl_command_end execute function extensions.pgrst_watch();
create event trigger pgrst_drop_watch on sql_drop execute function extensions.pgrst_watch();

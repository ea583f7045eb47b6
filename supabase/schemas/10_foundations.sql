-- Schemas, extensions, default privileges and the helpers that all other files use.
--
-- public   is exposed by the API: tables under row-level security, and invoker functions;
-- private  is not exposed: definer functions behind the public ones, tables without grants, and one view for each
--          resource of the API, with its fields as columns;
-- admin    is not exposed: views and functions for administrators in the dashboard.

create schema private;
comment on schema private is
  'Internal tables and functions, not exposed by the API. Edit a table only if its comment says so.';
-- Roles need usage to run the private functions behind public ones. PostgREST exposes neither schema.
grant usage on schema private to anon, authenticated, service_role;

create schema admin;
comment on schema admin is 'Views and functions for administrators in the dashboard, not exposed by the API.';

create schema if not exists extensions;
create extension if not exists pgcrypto with schema extensions;
create extension if not exists pg_trgm with schema extensions;
create extension if not exists unaccent with schema extensions;
create extension if not exists fuzzystrmatch with schema extensions;

-- Global on purpose, because the defaults of one schema cannot take away PUBLIC's right to execute functions.
alter default privileges revoke execute on functions from public;
-- Projects made before 2026 grant new objects in public to the API roles by default.
alter default privileges in schema public revoke all on tables from anon, authenticated, service_role;
alter default privileges in schema public revoke all on sequences from anon, authenticated, service_role;
alter default privileges in schema public revoke execute on functions from anon, authenticated, service_role;

-- Never sets an earlier time, because created_at of a customer is from Auth's clock, which may be ahead.
create function private.set_updated_at() returns trigger language plpgsql set search_path = '' as $$
begin
  new.updated_at := greatest(now(), old.updated_at);
  return new;
end
$$;

-- Uses PL/pgSQL, because a function in SQL with a search_path takes six times as long.
create function private.iso_time(moment timestamptz) returns text
language plpgsql stable set search_path = '' as $$
begin
  return to_char(moment at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
end
$$;
comment on function private.iso_time is 'Formats a time as in API responses, for example 2026-06-23T09:30:00.000Z.';

create function private.is_proper_name(value text, max_length integer) returns boolean
language sql immutable set search_path = '' as $$
  select char_length(value) <= max_length
    and value ~ '^[^\s\uFEFF]' and value ~ '[^\s\uFEFF]$'
    and value ~ '[^\s\u00AD\u034F\u061C\u115F\u1160\u180E\u200B-\u200F\u2028-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0]'
$$;
comment on function private.is_proper_name is
  'Rejects names and titles that are too long, begin or end with white space, or have no visible character.';

create function private.is_slug(value text) returns boolean language sql immutable set search_path = '' as $$
  select char_length(value) <= 100 and value ~ '^[a-z0-9]+(-[a-z0-9]+)*$'
$$;
comment on function private.is_slug is 'Accepts 1 to 100 characters: words of a-z and 0-9, joined by hyphens.';

create function private.trimmed(value text) returns text
language sql immutable set search_path = '' as $$ select regexp_replace(value, '^[\s\uFEFF]+|[\s\uFEFF]+$', '', 'g') $$;
comment on function private.trimmed is 'Removes white space (see private.is_proper_name) from both ends of a text.';

-- Functions about the caller's data call this first, because an access token outlives its account by up to an hour.
create function private.require_account() returns void
language plpgsql stable security definer set search_path = '' as $$
begin
  if not exists (select from auth.users where id = auth.uid() and deleted_at is null) then
    raise exception 'The account of this token no longer exists.' using errcode = 'PT401';
  elsif auth.jwt() ->> 'client_id' is not null then
    raise exception 'This token belongs to another app.' using errcode = 'PT401';
  end if;
end
$$;
comment on function private.require_account is
  'Raises PT401 (status 401) if the account of the caller was deleted, or if Auth issued the token to another app.';

create function private.counted(number bigint, one text, many text) returns text
language sql immutable set search_path = '' as $$
  select case when number > 0 then format('%s %s', number, case number when 1 then one else many end) end
$$;
comment on function private.counted is 'Returns a number with its noun, for example "3 sounds". Null for 0.';

create function private.wait_for_catalogue() returns void language plpgsql volatile set search_path = '' as $$
begin
  perform pg_advisory_xact_lock('private.lock_catalogue'::regproc::oid::bigint);
end
$$;
comment on function private.wait_for_catalogue is
  'Takes the lock of writers of the catalogue until the transaction ends.';

create function private.try_catalogue() returns boolean language plpgsql volatile set search_path = '' as $$
begin
  return pg_try_advisory_xact_lock('private.lock_catalogue'::regproc::oid::bigint);
end
$$;
comment on function private.try_catalogue is
  'Takes the lock of writers of the catalogue if it is free. Returns whether it did.';

-- Locks the account of a user before any other row, as its deletion and an adoption do (62_adoption.sql). A concurrent
-- write therefore ends before them, or is rejected. Skips writes that no user makes, such as the deletion of a sound.
create function private.lock_account() returns trigger language plpgsql security definer set search_path = '' as $$
begin
  if auth.uid() is not null then
    perform private.lock_user(auth.uid());
  end if;
  return null;
end
$$;

create function private.lock_number_of(user_id uuid) returns integer
language sql immutable set search_path = '' as $$ select hashtext(user_id::text) % 1000 $$;
comment on function private.lock_number_of is
  'Returns the number of the advisory lock of a user, from -999 to 999. Users share these about 2,000 locks, because '
  'the memory for locks is limited.';

-- Serializes writers of the catalogue, so that changes are committed in the order of their numbers. Each statement
-- takes the lock before it locks rows, so that writers cannot deadlock.
create function private.lock_catalogue() returns trigger language plpgsql set search_path = '' as $$
begin
  if tg_op = 'TRUNCATE' then
    -- Resets every copy of the catalogue, because truncate runs no row triggers.
    update private.catalogue_feed set id = default;
  else
    perform pg_advisory_xact_lock('private.lock_catalogue'::regproc::oid::bigint);
  end if;
  return null;
end
$$;

grant execute on function private.iso_time, private.is_proper_name, private.is_slug to authenticated, service_role;
grant execute on function private.lock_number_of to authenticated, service_role;
grant execute on function private.trimmed, private.require_account to authenticated;

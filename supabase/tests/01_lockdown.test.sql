-- Compares grants on tables, policies, and functions with more rights than their callers with the lists below. If you
-- add one, add it here, and test what it must not allow. Functions with the rights of their callers need no line.
begin;
select plan(22);

create view pg_temp.our_schemas as
  select oid, nspname as name from pg_namespace where nspname in ('public', 'private', 'admin');
create view pg_temp.our_tables as
  select relation.oid, format('%I.%I', schema.name, relname) as name, relname, relrowsecurity
  from pg_class as relation join our_schemas as schema on schema.oid = relnamespace
  where relkind in ('r', 'p');
create view pg_temp.our_functions as
  select routine.oid, format('%I.%I', schema.name, proname) as name, schema.name as schema, prosecdef, proconfig, (
    select coalesce(string_agg(grantee::regrole::text, ', ' order by grantee::regrole::text), '')
    from aclexplode(coalesce(proacl, acldefault('f', proowner))) where grantee <> proowner
  ) as callers
  from pg_proc as routine join our_schemas as schema on schema.oid = pronamespace;

-- Row-level security ------------------------------------------------------------------------------------------

select cmp_ok((select count(*) from our_tables), '>=', 10::bigint, 'the tests below find the tables');
select is_empty(
  'select name from our_tables where not relrowsecurity',
  'every table has row-level security'
);
select is_empty(
  'select name from our_tables where not exists (select from pg_policy where polrelid = our_tables.oid)',
  'every table has a policy'
);
select bag_eq(
  $$ select schemaname || '.' || tablename, cmd, array_to_string(roles, ', '), policyname
     from pg_policies join our_schemas on our_schemas.name = schemaname $$,
  $$ values
    ('public.categories', 'SELECT', 'authenticated', 'Users read active categories'),
    ('public.customers', 'SELECT', 'authenticated', 'Customers read their own record'),
    ('public.customers', 'UPDATE', 'authenticated', 'Customers update their own record'),
    ('public.customers', 'ALL', 'authenticated', 'Tokens of other apps reach nothing'),
    ('public.favorites', 'DELETE', 'authenticated', 'Users remove their own favorites'),
    ('public.favorites', 'INSERT', 'authenticated', 'Users add favorites of sounds they see'),
    ('public.favorites', 'SELECT', 'authenticated', 'Users read their own favorites'),
    ('public.favorites', 'ALL', 'authenticated', 'Tokens of other apps reach nothing'),
    ('public.history', 'DELETE', 'authenticated', 'Users remove from their own history'),
    ('public.history', 'SELECT', 'authenticated', 'Users read their own history'),
    ('public.history', 'ALL', 'authenticated', 'Tokens of other apps reach nothing'),
    ('public.home_section_sounds', 'SELECT', 'authenticated', 'Users read picks of sections and sounds they see'),
    ('public.home_sections', 'SELECT', 'authenticated', 'Users read active home sections'),
    ('public.imported_files', 'ALL', 'anon, authenticated', 'Users reach nothing of imports'),
    ('public.imported_sounds', 'ALL', 'anon, authenticated', 'Users reach nothing of imports'),
    ('public.imports', 'ALL', 'anon, authenticated', 'Users reach nothing of imports'),
    ('public.play_counts', 'SELECT', 'authenticated', 'Users read play counts of sounds they see'),
    ('public.progress', 'SELECT', 'authenticated', 'Users read their own positions'),
    ('public.progress', 'ALL', 'authenticated', 'Tokens of other apps reach nothing'),
    ('public.sounds', 'SELECT', 'authenticated', 'Users read active sounds'),
    ('private.api_keys', 'ALL', 'anon, authenticated, service_role', 'Nobody reaches this table'),
    ('private.catalogue_changes', 'ALL', 'anon, authenticated, service_role', 'Nobody reaches this table'),
    ('private.catalogue_feed', 'ALL', 'anon, authenticated, service_role', 'Nobody reaches this table'),
    ('private.deleted_accounts', 'ALL', 'anon, authenticated, service_role', 'Nobody reaches this table'),
    ('private.former_positions', 'ALL', 'anon, authenticated, service_role', 'Nobody reaches this table'),
    ('private.listeners_by_day', 'ALL', 'anon, authenticated, service_role', 'Nobody reaches this table'),
    ('private.listening_days', 'ALL', 'anon, authenticated, service_role', 'Nobody reaches this table'),
    ('private.play_receipts', 'ALL', 'anon, authenticated, service_role', 'Nobody reaches this table'),
    ('private.plays_by_day', 'ALL', 'anon, authenticated, service_role', 'Nobody reaches this table'),
    ('private.suspended_bans', 'ALL', 'anon, authenticated, service_role', 'Nobody reaches this table'),
    ('private.visitors_by_day', 'ALL', 'anon, authenticated, service_role', 'Nobody reaches this table') $$,
  'policies are exactly the listed ones'
);
select is_empty(
  $$ select tablename from pg_policies where schemaname = 'public' and concat(qual, with_check) like '%auth.uid()%'
     except select tablename from pg_policies where permissive = 'RESTRICTIVE' $$,
  'tables with rows of users reject tokens of other apps'
);
select is_empty(
  $$ select tablename from pg_policies
     where schemaname = 'private' and (qual, with_check) is distinct from ('false', 'false') $$,
  'the policies of private tables allow no rows'
);
select is_empty(
  $$ select policyname from pg_policies where schemaname = 'storage' $$,
  'Storage has no policy, so that only the service can sign, list and write'
);

-- Functions and views -------------------------------------------------------------------------------------------

select cmp_ok((select count(*) from our_functions), '>=', 40::bigint, 'the tests below find the functions');
select is_empty(
  $$ select name from our_functions where prosecdef and schema = 'public' $$,
  'no function of the exposed schema runs with the rights of its owner'
);
select bag_eq(
  $$ select name, callers from our_functions where prosecdef $$,
  $$ values
    ('admin.create_api_key', ''),
    ('admin.revoke_api_key', ''),
    ('private.apply_activation', ''),
    ('private.assign_created_at', ''),
    ('private.count_deleted_account', ''),
    ('private.count_play', 'service_role'),
    ('private.count_plays', 'service_role'),
    ('private.create_customer', ''),
    ('private.doctor_issue_key', 'service_role'),
    ('private.doctor_report', 'service_role'),
    ('private.doctor_revoke_key', 'service_role'),
    ('private.doctor_session_addresses', 'service_role'),
    ('private.end_sessions', 'authenticated'),
    ('private.export_account', 'authenticated'),
    ('private.forget', 'authenticated'),
    ('private.purge_audit_log', ''),
    ('private.is_category_active', 'authenticated'),
    ('private.is_doctors_account', ''),
    ('private.keep_customer', ''),
    ('private.keep_former_position', ''),
    ('private.keep_mirrored', ''),
    ('private.list_catalogue_changes', 'authenticated, service_role'),
    ('private.list_categories', 'anon, authenticated, service_role'),
    ('private.list_home_sections', 'authenticated, service_role'),
    ('private.list_sessions', 'authenticated'),
    ('private.list_sound_files', 'authenticated'),
    ('private.list_sounds', 'authenticated, service_role'),
    ('private.note_catalogue_change', ''),
    ('private.note_file_change', ''),
    ('private.mirror_account', ''),
    ('private.owner_of_live_key', 'service_role'),
    ('private.refuse_link', ''),
    ('private.remove_from_histories', ''),
    ('private.require_account', 'authenticated'),
    ('private.current_session', ''),
    ('private.save_progress', 'authenticated'),
    ('private.suspend_ban', ''),
    ('private.search_sounds', ''),
    ('private.sounds_in_order', ''),
    ('private.sounds_of_section', ''),
    ('private.stored_file', ''),
    ('private.touch_last_seen', 'authenticated'),
    ('private.reset_unverified_credentials', ''),
    ('private.upkeep', ''),
    ('private.withhold_address', '') $$,
  'functions that run with the rights of their owner, and who may call them, are exactly the listed ones'
);
select bag_eq(
  $$ select name from our_functions where schema = 'public' and callers !~ 'authenticated' $$,
  $$ values
    ('public.as_api_key'), ('public.count_play'), ('public.count_plays'), ('public.doctor_issue_key'), ('public.doctor_report'),
    ('public.doctor_revoke_key'), ('public.doctor_session_addresses'),
    ('public.set_premium'), ('public.validate_sounds'), ('public.replica_lag_seconds') $$,
  'functions of the exposed schema that users may not call are exactly the listed ones'
);
select is_empty(
  $$ select name, callers from our_functions where callers ~ '-' or schema = 'admin' and callers <> '' $$,
  'PUBLIC may call no function, and API roles no function of the schema admin'
);
select is_empty(
  $$ select name from our_functions where not coalesce(proconfig @> '{"search_path=\"\""}', false) $$,
  'every function has a fixed, empty search_path'
);
select is_empty(
  $$ select relname from pg_class join our_schemas on our_schemas.oid = relnamespace
     where relkind in ('v', 'm') and our_schemas.name = 'public'
       or relkind = 'v' and not coalesce(reloptions @> '{security_invoker=true}', false) $$,
  'no view is in the exposed schema, and every one runs with the rights of its reader'
);

-- Foreign keys --------------------------------------------------------------------------------------------------

select is_empty(
  $$ select our_tables.name, conname
     from pg_constraint as key join our_tables on our_tables.oid = conrelid
     where contype = 'f' and not exists (
       select from pg_index
       where indrelid = conrelid and indpred is null
         and conkey = (indkey::smallint[])[0:cardinality(conkey) - 1]
     ) $$,
  'every foreign key has an index that begins with its columns'
);

-- Grants --------------------------------------------------------------------------------------------------------

select bag_eq(
  $$ select grantee::regrole::text, relation, string_agg(privilege_type, ', ' order by privilege_type)
     from (
       select relnamespace, relowner, relname as relation, (aclexplode(relacl)).* from pg_class
       union all
       select relnamespace, relowner, relname || '.' || attname, (aclexplode(attacl)).*
       from pg_attribute join pg_class on pg_class.oid = attrelid
     ) as given join our_schemas on our_schemas.oid = relnamespace
     where grantee <> relowner
     group by grantee, our_schemas.name, relation $$,
  $$ values
    ('authenticated', 'categories', 'SELECT'),
    ('authenticated', 'customer', 'SELECT'),
    ('authenticated', 'customers', 'SELECT'),
    ('authenticated', 'customers.avatar_url', 'UPDATE'),
    ('authenticated', 'customers.country', 'UPDATE'),
    ('authenticated', 'customers.full_name', 'UPDATE'),
    ('authenticated', 'customers.locale', 'UPDATE'),
    ('authenticated', 'customers.marketing_opt_in', 'UPDATE'),
    ('authenticated', 'customers.phone', 'UPDATE'),
    ('authenticated', 'favorite', 'SELECT'),
    ('authenticated', 'favorites', 'DELETE, SELECT'),
    ('authenticated', 'favorites.sound_id', 'INSERT'),
    ('authenticated', 'history', 'DELETE, SELECT'),
    ('authenticated', 'history_entry', 'SELECT'),
    ('authenticated', 'home_section_sounds', 'SELECT'),
    ('authenticated', 'home_sections', 'SELECT'),
    ('authenticated', 'play_counts', 'SELECT'),
    ('authenticated', 'progress', 'SELECT'),
    ('authenticated', 'progress_entry', 'SELECT'),
    ('authenticated', 'sound', 'SELECT'),
    ('authenticated', 'sound_preview', 'SELECT'),
    ('authenticated', 'sounds', 'SELECT'),
    ('authenticated', 'stored_sound', 'SELECT'),
    ('service_role', 'categories', 'DELETE, INSERT, SELECT, UPDATE'),
    ('service_role', 'customers', 'SELECT, UPDATE'),
    ('service_role', 'favorites', 'SELECT'),
    ('service_role', 'history', 'SELECT'),
    ('service_role', 'home_section_sounds', 'DELETE, INSERT, SELECT, UPDATE'),
    ('service_role', 'home_sections', 'DELETE, INSERT, SELECT, UPDATE'),
    ('service_role', 'imported_files', 'INSERT, SELECT, UPDATE'),
    ('service_role', 'imported_sounds', 'INSERT, SELECT, UPDATE'),
    ('service_role', 'imports', 'INSERT, SELECT, UPDATE'),
    ('service_role', 'play_counts', 'DELETE, INSERT, SELECT, UPDATE'),
    ('service_role', 'sounds', 'DELETE, INSERT, SELECT, UPDATE') $$,
  'grants on tables, views and columns are exactly the listed ones'
);
select bag_eq(
  $$ select role, name
     from our_schemas cross join unnest(array['anon', 'authenticated', 'service_role']) as role
     where has_schema_privilege(role, oid, 'usage') or has_schema_privilege(role, oid, 'create') $$,
  $$ values
    ('anon', 'public'), ('authenticated', 'public'), ('service_role', 'public'),
    ('anon', 'private'), ('authenticated', 'private'), ('service_role', 'private') $$,
  'API roles have no usage on the schema admin'
);
select is_empty(
  $$ select role, name
     from our_schemas cross join unnest(array['anon', 'authenticated', 'service_role']) as role
     where has_schema_privilege(role, oid, 'create') $$,
  'API roles cannot create objects in the schemas'
);
select bag_eq(
  $$ select name from our_functions where has_function_privilege('anon', oid, 'execute')
     union all
     select name from our_tables
     where has_any_column_privilege('anon', oid, 'select, insert, update')
       or has_table_privilege('anon', oid, 'delete, truncate') $$,
  $$ values ('public.list_categories'), ('private.list_categories') $$,
  'guests can read the categories and nothing else, by any kind of grant'
);
select is_empty(
  $$ select roleid::regrole, member::regrole from pg_auth_members
     where member in ('anon'::regrole, 'authenticated'::regrole) $$,
  'neither guests nor users inherit from another role'
);

create table public.added_later (id integer primary key generated by default as identity);
create function public.added_later() returns integer language sql as 'select 1';
select is_empty(
  $$ select role from unnest(array['anon', 'authenticated', 'service_role']) as role
     where has_function_privilege(role, 'public.added_later()', 'execute')
       or has_any_column_privilege(role, 'public.added_later', 'select, insert, update, references')
       or has_table_privilege(role, 'public.added_later', 'delete, truncate, trigger')
       or has_sequence_privilege(role, 'public.added_later_id_seq', 'usage, select, update') $$,
  'new objects in the exposed schema are granted to no API role'
);
select is_empty(
  $$ select tablename from pg_publication_tables join our_schemas on our_schemas.name = schemaname $$,
  'no table is broadcast by Realtime'
);

select * from finish();
rollback;

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
  $$ select tablename, cmd, array_to_string(roles, ', '), policyname from pg_policies where schemaname = 'public' $$,
  $$ select tablename, cmd, 'authenticated', policyname from (values
      ('categories', 'SELECT', 'Users read active categories'),
      ('customers', 'SELECT', 'Customers read their own record'),
      ('customers', 'UPDATE', 'Customers update their own record'),
      ('favorites', 'DELETE', 'Users remove their own favorites'),
      ('favorites', 'INSERT', 'Users add favorites of sounds they see'),
      ('favorites', 'SELECT', 'Users read their own favorites'),
      ('history', 'DELETE', 'Users remove from their own history'),
      ('history', 'SELECT', 'Users read their own history'),
      ('home_section_sounds', 'SELECT', 'Users read picks of sections and sounds they see'),
      ('home_sections', 'SELECT', 'Users read active home sections'),
      ('lists', 'SELECT', 'Users read their own lists'),
      ('play_counts', 'SELECT', 'Users read play counts of sounds they see'),
      ('progress', 'SELECT', 'Users read their own positions'),
      ('sounds', 'SELECT', 'Users read active sounds')
    ) as policy (tablename, cmd, policyname)
    union all select name, 'ALL', 'authenticated', 'Tokens of other apps reach nothing'
    from unnest(array['customers', 'favorites', 'history', 'lists', 'progress']) as name
    union all select name, 'ALL', 'anon, authenticated', 'Users reach nothing of imports'
    from unnest(array['imported_files', 'imported_sounds', 'imports']) as name
    union all values ('app_settings', 'ALL', 'anon, authenticated', 'Users read settings through the service') $$,
  'policies of the exposed schema are exactly the listed ones'
);
select is_empty(
  $$ select tablename from pg_policies where schemaname = 'public' and concat(qual, with_check) like '%auth.uid()%'
     except select tablename from pg_policies where permissive = 'RESTRICTIVE' $$,
  'tables with rows of users reject tokens of other apps'
);
select is_empty(
  $$ select tablename, policyname from pg_policies
     where schemaname = 'private' and (cmd, roles, permissive, qual, with_check)
       is distinct from ('ALL', '{anon,authenticated,service_role}', 'PERMISSIVE', 'false', 'false') $$,
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
  $$ select name, callers from (values
      ('', '{admin.create_api_key,admin.revoke_api_key,private.apply_activation,private.assign_created_at,
        private.count_deleted_account,private.create_customer,private.current_session,private.is_doctors_account,
        private.is_guest,private.keep_customer,private.keep_former_position,private.keep_mirrored,private.lock_account,
        private.mirror_account,private.note_catalogue_change,private.note_edits,private.note_file_change,
        private.purge_audit_log,private.refresh_vocabulary,private.refuse_identity_of_guest,private.refuse_link,
        private.refuse_new_guest,private.remove_from_histories,private.reset_unverified_credentials,
        private.sounds_of_section,private.stored_file,private.suspend_ban,private.upkeep,
        private.withhold_address}'),
      ('authenticated', '{private.clear_history,private.end_sessions,private.export_account,private.is_category_active,
        private.list_lists,private.list_sessions,private.list_sound_files,private.remove_from_history,
        private.require_account,private.save_lists,private.save_progress,private.touch_last_seen}'),
      ('service_role', '{private.adopt_guest,private.allows_guests,private.count_play,private.count_plays,
        private.doctor_issue_key,private.doctor_report,
        private.doctor_revoke_keys,private.doctor_session_addresses,private.live_key}'),
      ('authenticated, service_role', '{private.list_catalogue_changes,private.list_home_sections,private.list_sounds}'),
      ('anon, authenticated, service_role', '{private.list_categories}')
    ) as listed (callers, names), unnest(names::text[]) as name $$,
  'functions that run with the rights of their owner, and who may call them, are exactly the listed ones'
);
select bag_eq(
  $$ select name from our_functions where schema = 'public' and callers !~ 'authenticated' $$,
  $$ values
    ('public.adopt_guest'), ('public.as_api_key'), ('public.get_app_settings'), ('public.count_play'), ('public.count_plays'), ('public.doctor_issue_key'), ('public.doctor_report'),
    ('public.doctor_revoke_keys'), ('public.doctor_session_addresses'),
    ('public.set_premium'), ('public.validate_sounds'), ('public.missing_functions'), ('public.replica_lag_seconds') $$,
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
  $$ select grantee, relation, privileges from (values
      ('authenticated', 'SELECT', '{categories,customer,customers,favorite,history_entry,home_section_sounds,home_sections,
        lists,play_counts,progress,progress_entry,sound,sound_preview,sounds,stored_sound}'),
      ('authenticated', 'DELETE, SELECT', '{favorites,history}'),
      ('authenticated', 'INSERT', '{favorites.sound_id}'),
      ('authenticated', 'UPDATE', '{customers.avatar_url,customers.country,customers.full_name,customers.locale,
        customers.marketing_opt_in,customers.phone}'),
      ('service_role', 'SELECT', '{favorites,history}'),
      ('service_role', 'SELECT, UPDATE', '{customers}'),
      ('service_role', 'INSERT, SELECT, UPDATE', '{imported_files,imported_sounds,imports}'),
      ('service_role', 'DELETE, INSERT, SELECT, UPDATE', '{app_settings,categories,home_section_sounds,home_sections,
        play_counts,sounds}')
    ) as listed (grantee, privileges, relations), unnest(relations::text[]) as relation $$,
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
  'callers without a token can read the categories and nothing else, by any kind of grant'
);
select is_empty(
  $$ select roleid::regrole, member::regrole from pg_auth_members
     where member in ('anon'::regrole, 'authenticated'::regrole) $$,
  'neither anon nor authenticated inherits from another role'
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

-- For `npm run doctor` and /readyz: what they cannot see over the API otherwise. Executable with the secret key alone, and limited to
-- accounts at doctor.invalid, a domain that cannot exist (RFC 2606). The holder of that key can act for every account anyway.

create function private.is_doctors_account(account uuid) returns boolean
language sql stable security definer set search_path = '' as $$
  select exists (select 1 from auth.users where id = account and email like '%@doctor.invalid')
$$;
comment on function private.is_doctors_account is 'Whether an account was made by the doctor, to be thrown away.';

-- An object for each table, view, function, schema and role; in it what can change on its own, and how that stands. "off" is kept
-- for what is there and does nothing. The search path is empty, so that Postgres qualifies every name in a definition.
create function private.schema_report() returns jsonb
language sql stable set search_path = '' as $$
  with our_schemas as (
    select oid, nspname::text, nspacl from pg_namespace where nspname in ('public', 'private', 'admin')
  ),
  api_roles as (
    select oid, rolname::text as name from pg_roles where rolname in ('anon', 'authenticated', 'service_role')
    union all
    select 0, 'public' -- everybody
  ),
  relations as (
    select relation.oid, relacl, relrowsecurity, relkind in ('r', 'p') as is_table, reloptions, format(
      '%s %I.%I', case when relkind in ('r', 'p') then 'table' else 'view' end, nspname, relname
    ) as object
    from pg_class as relation join our_schemas on our_schemas.oid = relnamespace
    where relkind in ('r', 'p', 'v', 'm')
  ),
  -- Without those of extensions, whose definitions nobody ships here.
  functions as (
    select routine.oid, routine.proname, coalesce(proacl, acldefault('f', proowner)) as acl,
      format('function %I.%I(%s)', nspname, proname, pg_get_function_identity_arguments(routine.oid)) as object
    from pg_proc as routine join our_schemas on our_schemas.oid = pronamespace
    where prokind in ('f', 'p')
      and not exists (select from pg_depend where classid = 'pg_proc'::regclass and objid = routine.oid and deptype = 'e')
  ),
  grants as (
    select 'schema ' || nspname as object, null as column_name, acl.* from our_schemas, aclexplode(nspacl) as acl
      where nspname <> 'public' -- whose grants are the platform's
    union all
    select object, null, acl.* from relations, aclexplode(relacl) as acl
    union all
    select object, quote_ident(attname), acl.*
      from relations join pg_attribute on attrelid = relations.oid, aclexplode(attacl) as acl
      where not attisdropped
    union all
    select object, null, acl.* from functions, aclexplode(acl) as acl
  ),
  aspects (object, aspect, state) as (
    select 'schema ' || nspname, 'name', nspname from our_schemas
    union all
    select object, 'row-level security', case when relrowsecurity then 'on' else 'off' end from relations where is_table
    union all
    select 'role ' || rolname, 'row-level security', case when rolbypassrls then 'off' else 'on' end
      from pg_roles where rolname in ('anon', 'authenticated')
    union all
    select format('role %s', member::regrole), format('membership of %s', roleid::regrole), 'granted'
      from pg_auth_members where member::regrole::text in ('anon', 'authenticated')
    union all
    select object, concat_ws(' ', lower(privilege_type), '(' || column_name || ')', 'to', api_roles.name), 'granted'
      from grants join api_roles on api_roles.oid = grantee
    union all
    select object, format('column %I', attname), concat_ws(
      ' ', format_type(atttypid, atttypmod), case when attnotnull then 'not null' end, nullif(attidentity, ''),
      nullif(attgenerated, ''), 'default ' || pg_get_expr(adbin, adrelid)
    )
      from relations join pg_attribute on attrelid = relations.oid
      left join pg_attrdef on adrelid = attrelid and adnum = attnum
      where attnum > 0 and not attisdropped
    union all
    select object, format('constraint %I', conname), pg_get_constraintdef(pg_constraint.oid)
      from relations join pg_constraint on conrelid = relations.oid where contype <> 'n'
    union all
    select object, format('index %I', relname), pg_get_indexdef(indexrelid)
      from relations join pg_index on indrelid = relations.oid join pg_class on pg_class.oid = indexrelid
      where not exists (select from pg_constraint where conindid = indexrelid)
    union all
    select object, format('policy %I', policyname), concat_ws(
      ' ', 'as', lower(permissive), 'for', lower(cmd), 'to', array_to_string(roles, ', '),
      'using (' || qual || ')', 'with check (' || with_check || ')'
    )
      from relations join pg_policies on object = format('table %I.%I', schemaname, tablename)
    union all
    select format('table %s', tgrelid::regclass), format('trigger %I', tgname),
      case when tgenabled in ('O', 'A') then pg_get_triggerdef(pg_trigger.oid) else 'off' end
      from pg_trigger
      where not tgisinternal
        and (tgrelid in (select oid from relations union all select 'auth.users'::regclass) or tgfoid in (select oid from functions))
    union all
    -- Of a view not its definition, which each release of Postgres writes in its own way.
    select object, 'security_invoker', case when reloptions @> '{security_invoker=true}' then 'on' else 'off' end
      from relations where not is_table
    union all
    -- As if every line ended as here: what is pasted on Windows ends its lines in two characters.
    select object, 'definition', md5(replace(pg_get_functiondef(oid), e'\r', '')) from functions
  ),
  objects as (select object, jsonb_object_agg(aspect, state) as aspects from aspects group by object)
  select jsonb_object_agg(object, aspects) from objects
$$;
comment on function private.schema_report is
  'What stands in our schemas, and how: row-level security, policies, grants to the roles of the API, columns, constraints, indexes, '
  'triggers, and a hash of each function.';

-- Definer: the API roles cannot read these schemas. Dynamic: a database whose migrations were pasted has no history.
create function private.doctor_report() returns jsonb
language plpgsql stable security definer set search_path = '' as $$
declare
  migrations jsonb;
begin
  if to_regclass('supabase_migrations.schema_migrations') is not null then
    execute 'select coalesce(jsonb_agg(version order by version), ''[]'') from supabase_migrations.schema_migrations'
      into migrations;
  end if;
  return jsonb_build_object('migrations', migrations, 'schema', private.schema_report());
end
$$;
grant execute on function private.doctor_report to service_role;

create function public.doctor_report() returns jsonb
language sql stable set search_path = '' as $$ select private.doctor_report() $$;
comment on function public.doctor_report is
  'Which migrations the database has seen, and what stands in our schemas. For npm run doctor alone.';
grant execute on function public.doctor_report to service_role;

create function private.doctor_session_addresses(account uuid) returns jsonb
language sql stable security definer set search_path = '' as $$
  select coalesce(jsonb_agg(host(ip) order by created_at), '[]')
    from auth.sessions where user_id = account and private.is_doctors_account(account)
$$;
grant execute on function private.doctor_session_addresses to service_role;

create function public.doctor_session_addresses(account uuid) returns jsonb
language sql stable set search_path = '' as $$ select private.doctor_session_addresses(account) $$;
comment on function public.doctor_session_addresses is
  'From where Auth thinks that a throw-away account was signed in to, oldest first. For npm run doctor alone.';
grant execute on function public.doctor_session_addresses to service_role;

create function private.doctor_issue_key(account uuid) returns text
language sql volatile security definer set search_path = '' as $$
  select issued.api_key
    from auth.users as owner,
      lateral admin.create_api_key('npm run doctor', owner.email, now() + interval '10 minutes') as issued
    where owner.id = account and private.is_doctors_account(account)
$$;
grant execute on function private.doctor_issue_key to service_role;

create function public.doctor_issue_key(account uuid) returns text
language sql volatile set search_path = '' as $$ select private.doctor_issue_key(account) $$;
comment on function public.doctor_issue_key is
  'Issues an API key of ten minutes for a throw-away account, as an administrator would; null for any other. For npm run '
  'doctor alone.';
grant execute on function public.doctor_issue_key to service_role;

create function private.doctor_revoke_key(prefix text) returns boolean
language plpgsql volatile security definer set search_path = '' as $$
begin
  perform admin.revoke_api_key(key.key_prefix)
    from private.api_keys as key
    where key.key_prefix = left(prefix, 16) and private.is_doctors_account(key.owner_id);
  return found;
end
$$;
grant execute on function private.doctor_revoke_key to service_role;

create function public.doctor_revoke_key(prefix text) returns boolean
language sql volatile set search_path = '' as $$ select private.doctor_revoke_key(prefix) $$;
comment on function public.doctor_revoke_key is
  'Revokes a key of a throw-away account, as an administrator would; false for any other. For npm run doctor alone.';
grant execute on function public.doctor_revoke_key to service_role;

-- Behind a load balancer nothing else tells a replica from the primary.
create function public.replica_lag_seconds() returns double precision
language sql stable set search_path = '' as $$
  select case
    when not pg_is_in_recovery() then null
    when pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() then 0 -- all that came; the last change may be long ago
    else extract(epoch from clock_timestamp() - coalesce(pg_last_xact_replay_timestamp(), pg_postmaster_start_time()))
  end
$$;
comment on function public.replica_lag_seconds is
  'How far the read replica that answers is behind its primary; null where the primary answers. For /readyz and npm run doctor.';
grant execute on function public.replica_lag_seconds to service_role;

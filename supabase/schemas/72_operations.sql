-- For `npm run doctor` and /readyz. Only the secret key may execute them. They are limited to accounts at
-- doctor.invalid, a domain that cannot exist (RFC 2606).

create function private.is_doctors_account(account uuid) returns boolean
language sql stable security definer set search_path = '' as $$
  select exists (select from auth.users where id = account and email like '%@doctor.invalid')
$$;
comment on function private.is_doctors_account is 'Returns true for an account that npm run doctor created.';

-- Runs as definer, because API roles cannot read these schemas. Uses dynamic statements, because tables may be missing.
create function private.doctor_report() returns jsonb
language plpgsql stable security definer set search_path = '' as $$
declare
  migrations jsonb;
  upkeep jsonb;
begin
  if to_regclass('supabase_migrations.schema_migrations') is not null then
    execute $versions$
      select coalesce(jsonb_agg(version order by version), '[]') from supabase_migrations.schema_migrations $versions$
      into migrations;
  end if;
  if to_regclass('cron.job') is not null then
    execute $job$
      select jsonb_build_object('active', active, 'schedule', schedule, 'last_run', (
        select jsonb_build_object('status', status, 'message', return_message, 'start_time', start_time,
          'is_old', start_time < now() - interval '3 hours')
        from cron.job_run_details as run where run.jobid = job.jobid order by runid desc limit 1
      ))
      from cron.job where command = 'select private.upkeep()' $job$
      into upkeep;
  end if;
  return jsonb_build_object(
    'migrations', migrations,
    'upkeep', upkeep,
    'tables_without_row_security', (
      select coalesce(jsonb_agg(oid::regclass::text order by oid::regclass::text), '[]') from pg_class
      where relkind in ('r', 'p') and not relrowsecurity
        and (relnamespace in ('public'::regnamespace, 'private'::regnamespace)
          or oid in ('storage.objects'::regclass, 'storage.buckets'::regclass))
    ),
    'triggers', (
      select jsonb_object_agg(
        tgname, jsonb_build_object('table', tgrelid::regclass::text, 'is_on', tgenabled in ('O', 'A')))
      from pg_trigger join pg_proc on pg_proc.oid = tgfoid
      where not tgisinternal and pronamespace = 'private'::regnamespace
    ),
    'has_passkeys', to_regclass('auth.webauthn_credentials') is not null,
    'file_policies', (
      select coalesce(jsonb_agg(jsonb_build_object('name', polname, 'table', polrelid::regclass::text, 'rule',
          concat_ws(' ', pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid))) order by polname), '[]')
      from pg_policy where polpermissive
        and (polrelid = 'storage.objects'::regclass
          or polrelid = 'storage.buckets'::regclass and polcmd <> 'r') -- names of buckets are no secret
        and polroles && array[0, 'anon'::regrole, 'authenticated'::regrole]::oid[] -- 0 is everyone
    ),
    'roles_without_private', (
      select coalesce(jsonb_agg(role order by role), '[]')
      from unnest(array['anon', 'authenticated', 'service_role']) as role
      where not has_schema_privilege(role, 'private', 'usage')
    ),
    'allows_guests', private.allows_guests(),
    'has_accounts_without_customer', exists (
      select from auth.users as account
      where deleted_at is null and not exists (select from public.customers where customers.id = account.id)
    ),
    'trash', private.trash_in_words()
  );
end
$$;

create function public.doctor_report() returns jsonb
language sql stable set search_path = '' as $$ select private.doctor_report() $$;
comment on function public.doctor_report is
  'Returns the applied migrations, and the state of the private.upkeep job, row-level security, triggers, policies on '
  'files, the use of the schema private, customers and the trash. For npm run doctor only.';

create function private.doctor_session_addresses(account uuid) returns jsonb
language sql stable security definer set search_path = '' as $$
  select coalesce(jsonb_agg(host(ip) order by created_at), '[]')
    from auth.sessions where user_id = account and private.is_doctors_account(account)
$$;

create function public.doctor_session_addresses(account uuid) returns jsonb
language sql stable set search_path = '' as $$ select private.doctor_session_addresses(account) $$;
comment on function public.doctor_session_addresses is
  'Returns the sign-in IP addresses of a doctor account, oldest first. For npm run doctor only.';

create function private.doctor_issue_key(account uuid) returns text
language sql volatile security definer set search_path = '' as $$
  select issued.api_key
    from auth.users as owner
      cross join admin.create_api_key('npm run doctor', owner.email, now() + interval '10 minutes') as issued
    where owner.id = account and private.is_doctors_account(account)
$$;

create function public.doctor_issue_key(account uuid) returns text
language sql volatile set search_path = '' as $$ select private.doctor_issue_key(account) $$;
comment on function public.doctor_issue_key is
  'Issues a ten-minute API key for a doctor account; returns null for others. For npm run doctor only.';

create function private.doctor_revoke_keys(account uuid) returns bigint
language sql volatile security definer set search_path = '' as $$
  select count(*) from private.api_keys as key cross join admin.revoke_api_key(key.key_prefix)
    where key.owner_id = account and private.is_doctors_account(account)
$$;

create function public.doctor_revoke_keys(account uuid) returns bigint
language sql volatile set search_path = '' as $$ select private.doctor_revoke_keys(account) $$;
comment on function public.doctor_revoke_keys is
  'Revokes the API keys of a doctor account. Returns their number. For npm run doctor only.';

-- Compares names only, so that a gateway that was rolled back accepts the functions of newer migrations.
create function public.missing_functions(needed text[]) returns text[]
language sql stable set search_path = '' as $$
  select coalesce(array_agg(name order by name), '{}') from unnest(needed) as name
  where not exists (select from pg_proc where pronamespace = 'public'::regnamespace and proname = name)
$$;
comment on function public.missing_functions is
  'Returns which of these functions the schema public does not have. For /readyz only.';

-- Returns null at the primary, because behind a load balancer nothing else distinguishes it from a replica.
create function public.replica_lag_seconds() returns double precision language sql stable set search_path = '' as $$
  select case
    when not pg_is_in_recovery() then null
    when pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() then 0 -- up to date, although the last change may be old
    else extract(epoch from clock_timestamp() - coalesce(pg_last_xact_replay_timestamp(), pg_postmaster_start_time()))
  end
$$;
comment on function public.replica_lag_seconds is 'Returns the lag of the read replica, or null at the primary.';

grant execute on function
  private.doctor_report, public.doctor_report,
  private.doctor_session_addresses, public.doctor_session_addresses,
  private.doctor_issue_key, public.doctor_issue_key,
  private.doctor_revoke_keys, public.doctor_revoke_keys,
  public.missing_functions, public.replica_lag_seconds
  to service_role;

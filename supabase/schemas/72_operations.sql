-- What `npm run doctor` cannot see or try over the API otherwise, and how far a replica is behind. All of the doctor's is for the
-- holder of the secret key alone, and is about throw-away accounts only: those with an address at doctor.invalid, a domain that
-- cannot exist (RFC 2606). That gives the holder nothing new: who may make accounts, and sign in to each, can already act for
-- every one.

create function private.is_doctors_account(account uuid) returns boolean
language sql stable security definer set search_path = '' as $$
  select exists (select 1 from auth.users where id = account and email like '%@doctor.invalid')
$$;
comment on function private.is_doctors_account is 'Whether an account was made by the doctor, to be thrown away.';

-- Definer, because the API roles have no way into these schemas. Dynamic, because a database whose migrations were applied by
-- hand has no history.
create function private.doctor_report() returns jsonb
language plpgsql stable security definer set search_path = '' as $$
declare
  migrations jsonb;
begin
  if to_regclass('supabase_migrations.schema_migrations') is not null then
    execute 'select coalesce(jsonb_agg(version order by version), ''[]'') from supabase_migrations.schema_migrations'
      into migrations;
  end if;
  return jsonb_build_object(
    'migrations', migrations,
    'account_triggers', (
      select coalesce(jsonb_object_agg(tgname, tgfoid::regprocedure::text), '{}') from pg_catalog.pg_trigger
        where tgrelid = 'auth.users'::regclass and not tgisinternal and tgenabled in ('O', 'A')
    )
  );
end
$$;
grant execute on function private.doctor_report to service_role;

create function public.doctor_report() returns jsonb
language sql stable set search_path = '' as $$ select private.doctor_report() $$;
comment on function public.doctor_report is
  'Which migrations the database has seen, and which triggers on accounts are switched on, with their functions. For npm '
  'run doctor alone.';
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

create function private.doctor_revoke_key(prefix text) returns void
language sql volatile security definer set search_path = '' as $$
  select admin.revoke_api_key(key.key_prefix)
    from private.api_keys as key
    where key.key_prefix = left(prefix, 16) and private.is_doctors_account(key.owner_id)
$$;
grant execute on function private.doctor_revoke_key to service_role;

create function public.doctor_revoke_key(prefix text) returns void
language sql volatile set search_path = '' as $$ select private.doctor_revoke_key(prefix) $$;
comment on function public.doctor_revoke_key is
  'Revokes a key of a throw-away account, as an administrator would. For npm run doctor alone.';
grant execute on function public.doctor_revoke_key to service_role;

-- Who answers a read, a replica or the primary, shows here alone: a load balancer hides it.
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

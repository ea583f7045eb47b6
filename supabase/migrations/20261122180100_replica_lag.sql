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

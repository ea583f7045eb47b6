-- Keeps created_at of sounds unique, because it is the cursor of GET /sounds, and remembers what was given before.

create table private.former_positions (
  created_at timestamptz(3) primary key,
  list_rank bigint not null
);
comment on table private.former_positions is
  'Positions of deleted and moved sounds, because clients may page from there and created_at must not be reused.';

create function private.keep_former_position() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  insert into private.former_positions values (old.created_at, old.list_rank) on conflict (created_at) do nothing;
  return null;
end
$$;
create trigger sounds_keep_position_of_deleted after delete on public.sounds for each row
  execute function private.keep_former_position();
create trigger sounds_keep_position_of_moved after update of created_at on public.sounds for each row
  when (old.created_at <> new.created_at) execute function private.keep_former_position();

-- Moves a created_at that is taken to the next free millisecond. Remembers runs of more than 20 taken milliseconds
-- until the transaction ends, because an import of n equal values would take n² steps (5,000 rows take 1 s).
-- Disables sequential scans, so that an import of 5,000 sounds into an empty table takes 5.0 s instead of 7.2.
create function private.assign_created_at() returns trigger
language plpgsql security definer set search_path = '' set enable_seqscan = off as $$
declare
  noted_before constant text := nullif(current_setting('sounds_service.taken_moments', true), '');
  taken constant tstzmultirange := coalesce(noted_before, '{}')::tstzmultirange;
  run tstzrange;
  free timestamptz(3);
  steps integer := 0;
begin
  if tg_op = 'INSERT' and exists (select from public.sounds where id = new.id and created_at = new.created_at) then
    return new; -- an upsert that does not change it
  end if;
  select known into run from unnest(taken) as known where known @> new.created_at;
  free := coalesce(upper(run), new.created_at);
  while free = (select created_at from public.sounds where created_at >= free order by created_at limit 1)
    or exists (select from private.former_positions where created_at = free)
  loop
    free := free + interval '1 millisecond';
    steps := steps + 1;
  end loop;
  if run is not null or steps > 20 then
    run := tstzrange(new.created_at, free + interval '1 millisecond');
    perform set_config('sounds_service.taken_moments', (taken + run::tstzmultirange)::text, true);
  end if;
  new.created_at := free;
  return new;
end
$$;
create trigger sounds_assign_created_at_of_new before insert on public.sounds for each row
  when (new.created_at is not null)
  execute function private.assign_created_at();
create trigger sounds_assign_created_at_of_moved
  before update of created_at on public.sounds for each row when (old.created_at is distinct from new.created_at)
  execute function private.assign_created_at();

grant execute on function private.are_tags, private.is_file_path, private.is_waveform to authenticated, service_role;

-- Position of each user in each sound. The newest report wins, in whatever order reports arrive.

create table public.progress (
  user_id uuid not null references auth.users (id) on delete cascade,
  sound_id uuid not null references public.sounds (id) on delete cascade,
  position_sec double precision constraint position_sec_is_from_0_to_one_day check (position_sec between 0 and 86400),
  updated_at timestamptz(3) not null constraint updated_at_is_finite check (isfinite(updated_at)),
  primary key (user_id, sound_id)
);
create index progress_newest_first on public.progress (user_id, updated_at desc, sound_id) where position_sec is not null;
create index progress_removals on public.progress (updated_at) where position_sec is null;
create index progress_sound_id on public.progress (sound_id);
comment on table public.progress is 'Where each customer stopped in a sound: at most 200, and removals of the last 30 days.';
comment on column public.progress.position_sec is
  'Position in seconds. Null if it was removed: the row then rejects older positions that arrive later.';
comment on column public.progress.updated_at is 'Time at which the customer was there, or removed the position.';

alter table public.progress enable row level security;
create policy "Users read their own positions" on public.progress for select to authenticated
  using (user_id = (select auth.uid()) and position_sec is not null);
create policy "Tokens of other apps reach nothing" on public.progress as restrictive to authenticated
  using ((select (select auth.jwt()) ->> 'client_id' is null));
grant select on public.progress to authenticated;

create view private.progress_entry with (security_invoker = true) as
  select sound_id, position_sec, private.iso_time(progress.updated_at) as updated_at,
    (select sound from private.sound_preview as sound where sound.id = progress.sound_id) as sounds
  from public.progress as progress
  where user_id = (select auth.uid()) and position_sec is not null
  order by progress.updated_at desc, sound_id;
comment on view private.progress_entry is 'Positions of the caller in API responses, newest first.';
grant select on private.progress_entry to authenticated;

create function public.list_progress() returns json language plpgsql stable set search_path = '' as $$
begin
  perform private.require_account();
  return to_json(array(select entry from private.progress_entry as entry));
end
$$;
comment on function public.list_progress is 'Returns the positions of the caller, newest first.';

-- Locks the account, the caller's rows and these sounds, in this order and before the history, so that saving and the
-- deletions of sounds, histories and accounts cannot deadlock. Users share 1,000 locks, as for favorites.
create function private.lock_progress(sound_ids uuid[]) returns void language plpgsql volatile set search_path = '' as $$
begin
  perform private.require_account();
  perform private.require_player(auth.uid());
  perform pg_advisory_xact_lock('public.progress'::regclass::oid::integer, hashtext(auth.uid()::text) % 1000);
  perform from public.sounds where id = any (sound_ids) order by id for key share;
end
$$;

create function private.save_progress(entries jsonb) returns json
language plpgsql volatile security definer set search_path = '' as $$
declare
  sound_ids constant uuid[] := array(select (entry ->> 'sound_id')::uuid from jsonb_path_query(entries, '$[0 to 99]') as entry);
  positions constant double precision[] :=
    array(select (entry ->> 'position_sec')::double precision from jsonb_path_query(entries, '$[0 to 99]') as entry);
  moments constant timestamptz[] := array(
    select private.time_of_report((entry ->> 'updated_at')::timestamptz) from jsonb_path_query(entries, '$[0 to 99]') as entry);
  active uuid[];
begin
  perform private.lock_progress(sound_ids);
  active := array(select id from public.sounds where id = any (sound_ids) and is_active);
  insert into public.progress as own (user_id, sound_id, position_sec, updated_at)
    select distinct on (sound_id) auth.uid(), sound_id, position_sec, moment
    from unnest(sound_ids, positions, moments) as report (sound_id, position_sec, moment)
    where sound_id = any (active) and moment < 'infinity'
    order by sound_id, moment desc, position_sec desc nulls first
    on conflict (user_id, sound_id) do update set position_sec = excluded.position_sec, updated_at = excluded.updated_at
      where (excluded.updated_at, excluded.position_sec is null, excluded.position_sec)
        > (own.updated_at, own.position_sec is null, own.position_sec);
  -- Skips rows that the deletion of their sounds has locked.
  delete from public.progress where user_id = auth.uid() and sound_id = any (array(
    select sound_id from public.progress where user_id = auth.uid() and sound_id = any (array(
      select sound_id from public.progress where user_id = auth.uid() and position_sec is not null
      order by updated_at desc, sound_id offset 200
    )) for update skip locked
  ));
  return array_to_json(array(
    select json_build_object('sound_id', report.sound_id, 'status', case
      when moment = 'infinity' then 'in_future'
      when report.sound_id <> all (active) then 'not_found'
      when exists (
        select from public.progress as own where user_id = auth.uid() and own.sound_id = report.sound_id
          and own.updated_at = moment and own.position_sec is not distinct from report.position_sec
      ) then 'saved' else 'older' end)
    from unnest(sound_ids, positions, moments) with ordinality as report (sound_id, position_sec, moment, place)
    order by place
  ));
end
$$;

create function public.save_progress(entries jsonb) returns json
language sql volatile set search_path = '' as $$ select private.save_progress(entries) $$;
comment on function public.save_progress is
  'Saves positions [{sound_id, position_sec, updated_at}] of the caller; null removes one. Returns [{sound_id, status}].';

-- Never sets an earlier time, because now() is the start of a transaction that may have waited for a newer report.
create function private.forget(sound uuid) returns boolean
language plpgsql volatile security definer set search_path = '' as $$
declare
  this_moment constant timestamptz := date_trunc('milliseconds', now());
  was_there boolean;
begin
  perform private.lock_progress(array[sound]);
  delete from public.history where user_id = auth.uid() and (sound_id = sound or sound is null);
  was_there := found;
  insert into public.progress (user_id, sound_id, updated_at)
    select auth.uid(), id, this_moment from public.sounds where id = sound
    on conflict do nothing;
  update public.progress set position_sec = null, updated_at = greatest(updated_at, this_moment)
    where user_id = auth.uid() and (sound_id = sound or sound is null and position_sec is not null);
  return was_there;
end
$$;
comment on function private.forget is 'Removes a sound, or all for null, from history and positions of the caller.';

grant execute on function public.list_progress, private.save_progress, public.save_progress, private.forget to authenticated;

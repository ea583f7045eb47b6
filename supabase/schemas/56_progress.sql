-- Position of each user in each sound. The newest report wins, in whatever order reports arrive.

create table public.progress (
  user_id uuid not null references auth.users (id) on delete cascade,
  sound_id uuid not null references public.sounds (id) on delete cascade,
  position_sec double precision constraint position_sec_is_from_0_to_one_day check (position_sec between 0 and 86400),
  updated_at timestamptz(3) not null constraint updated_at_is_finite check (isfinite(updated_at)),
  primary key (user_id, sound_id)
);
create index progress_newest_first on public.progress (user_id, updated_at desc, sound_id)
  where position_sec is not null;
create index progress_removals on public.progress (updated_at) where position_sec is null;
create index progress_sound_id on public.progress (sound_id);
comment on table public.progress is
  'Where each customer stopped in a sound: at most 200, and removals of the last 30 days.';
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
-- deletions of sounds, histories and accounts cannot deadlock.
create function private.lock_progress(sound_ids uuid[]) returns void
language plpgsql volatile set search_path = '' as $$
begin
  perform private.require_account();
  perform private.lock_user(auth.uid());
  perform pg_advisory_xact_lock('public.progress'::regclass::oid::integer, private.lock_number_of(auth.uid()));
  perform from public.sounds where id = any (sound_ids) order by id for key share;
end
$$;

create type private.sent_position as (place integer, sound_id uuid, position_sec double precision, moment timestamptz);
comment on type private.sent_position is 'A position of PUT /progress, with its place in the request.';

create function private.sent_positions(entries jsonb) returns private.sent_position[]
language plpgsql stable set search_path = '' as $$
begin
  return array(
    select (place, entry ->> 'sound_id', entry ->> 'position_sec',
      private.time_of_report((entry ->> 'updated_at')::timestamptz))::private.sent_position
    from jsonb_path_query(entries, '$[0 to 99]') with ordinality as sent (entry, place)
    order by place
  );
end
$$;
comment on function private.sent_positions is 'Reads the first 100 positions of a request.';

create function private.store_positions(player uuid, reports private.sent_position[]) returns void
language plpgsql volatile set search_path = '' as $$
begin
  insert into public.progress as own (user_id, sound_id, position_sec, updated_at)
    select distinct on (sound_id) player, sound_id, position_sec, moment
    from unnest(reports)
    order by sound_id, moment desc, position_sec desc nulls first
    on conflict (user_id, sound_id) do update
      set position_sec = excluded.position_sec, updated_at = excluded.updated_at
      where (excluded.updated_at, excluded.position_sec is null, excluded.position_sec)
        > (own.updated_at, own.position_sec is null, own.position_sec);
end
$$;
comment on function private.store_positions is
  'Stores the newest report of each sound. Of reports of one moment, a removal wins, then the later position.';

-- Skips rows that the deletion of their sounds has locked.
create function private.limit_positions(player uuid) returns void
language plpgsql volatile set search_path = '' as $$
declare
  oldest constant uuid[] := array(
    select sound_id from public.progress where user_id = player and position_sec is not null
    order by updated_at desc, sound_id offset 200
  );
  unlocked constant uuid[] := array(
    select sound_id from public.progress where user_id = player and sound_id = any (oldest)
    for update skip locked
  );
begin
  delete from public.progress where user_id = player and sound_id = any (unlocked);
end
$$;
comment on function private.limit_positions is
  'Deletes all positions of a user but the newest 200. Removals do not count, and stay.';

create function private.save_progress(entries jsonb) returns json
language plpgsql volatile security definer set search_path = '' as $$
declare
  sent constant private.sent_position[] := private.sent_positions(entries);
  sound_ids constant uuid[] := array(select sound_id from unnest(sent));
  active uuid[];
begin
  perform private.lock_progress(sound_ids);
  active := array(select id from public.sounds where id = any (sound_ids) and is_active);
  perform private.store_positions(auth.uid(), array(
    select report from unnest(sent) as report join private.clearings(auth.uid(), active) using (sound_id)
    where moment < 'infinity' and moment > now() - interval '30 days' and moment > cleared_at
  ));
  perform private.limit_positions(auth.uid());
  return to_json(array(
    select json_build_object('sound_id', report.sound_id, 'status', case
      when moment = 'infinity' then 'in_future'
      when report.sound_id <> all (active) then 'not_found'
      when own.updated_at = moment and own.position_sec is not distinct from report.position_sec then 'saved'
      else 'older'
    end)
    from unnest(sent) as report
      left join public.progress as own on own.user_id = auth.uid() and own.sound_id = report.sound_id
    order by place
  ));
end
$$;

create function public.save_progress(entries jsonb) returns json
language sql volatile set search_path = '' as $$ select private.save_progress(entries) $$;
comment on function public.save_progress is
  'Saves positions [{sound_id, position_sec, updated_at}] of the caller; null removes one. Returns '
  '[{sound_id, status}].';

-- The functions below lock the plays of the caller. A concurrent play is therefore in the history before they remove
-- entries, or sees that the history was cleared.

create function private.remove_from_history(sound uuid) returns boolean
language plpgsql volatile security definer set search_path = '' as $$
declare
  was_there boolean;
begin
  perform private.lock_progress(array[sound]);
  perform private.lock_plays(auth.uid());
  delete from public.history where user_id = auth.uid() and sound_id = sound;
  was_there := found;
  delete from public.progress where user_id = auth.uid() and sound_id = sound;
  if exists (select from public.sounds where id = sound) then
    perform private.remember_clearing(auth.uid(), sound);
  end if;
  return was_there;
end
$$;
comment on function private.remove_from_history is 'Removes a sound from history and positions of the caller.';

create function private.clear_history() returns boolean
language plpgsql volatile security definer set search_path = '' as $$
declare
  was_there boolean;
begin
  perform private.lock_progress('{}');
  perform private.lock_plays(auth.uid());
  delete from public.history where user_id = auth.uid();
  was_there := found;
  delete from public.progress where user_id = auth.uid();
  perform private.remember_clearing(auth.uid(), null);
  return was_there;
end
$$;
comment on function private.clear_history is 'Removes all sounds from history and positions of the caller.';

grant execute on function public.list_progress, private.save_progress, public.save_progress to authenticated;
grant execute on function private.remove_from_history, private.clear_history to authenticated;

-- Sounds that each user listened to: one row for each sound, written when a play is counted.

create table public.history (
  user_id uuid not null references auth.users (id) on delete cascade,
  -- Has no foreign key: see private.remove_from_histories.
  sound_id uuid not null,
  plays bigint not null constraint plays_is_above_0 check (plays > 0),
  last_played_at timestamptz(3) not null,
  primary key (user_id, sound_id)
);
create index history_newest_first on public.history (user_id, last_played_at, sound_id);
create index history_sound_id on public.history (sound_id);
comment on table public.history is
  'Sounds that each customer played, how often and when last. Customers can read and clear their own.';
comment on column public.history.plays is 'Number of plays by this customer since the entry was last removed.';

alter table public.history enable row level security;
create policy "Users read their own history" on public.history for select to authenticated
  using (user_id = (select auth.uid()));
create policy "Users remove from their own history" on public.history for delete to authenticated
  using (user_id = (select auth.uid()));
create policy "Tokens of other apps reach nothing" on public.history as restrictive to authenticated
  using ((select (select auth.jwt()) ->> 'client_id' is null));
grant select, delete on public.history to authenticated;
grant select on public.history to service_role;

create trigger history_lock_account before delete on public.history
  for each statement execute function private.lock_account();

-- Replaces a foreign key. "Histories_first" must run before the foreign keys of counts, whose triggers are named
-- RI_…, so that rows are locked in the order of a play; triggers run in byte order, H before R. The other trigger
-- removes rows that were added meanwhile. Later plays fail by the foreign key of play_counts.
create function private.remove_from_histories() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  delete from public.history where sound_id = old.id;
  return null;
end
$$;
create trigger "Histories_first" after delete on public.sounds for each row
  execute function private.remove_from_histories();
create trigger sounds_remove_from_histories after delete on public.sounds for each row
  execute function private.remove_from_histories();

create table private.history_clearings (
  id bigint generated always as identity primary key,
  user_id uuid not null references auth.users (id) on delete cascade,
  sound_id uuid references public.sounds (id) on delete cascade,
  cleared_at timestamptz(3) not null,
  unique nulls not distinct (user_id, sound_id)
);
create index history_clearings_oldest_first on private.history_clearings (cleared_at);
create index history_clearings_sound_id on private.history_clearings (sound_id);
comment on table private.history_clearings is
  'When customers last cleared their history, or removed a sound from it. What was played before and arrives later '
  'does not come back. private.upkeep deletes rows after 30 days, because older plays and positions are rejected.';
comment on column private.history_clearings.sound_id is 'Sound that was removed. Null if all were.';

-- Looks up both rows by the index. One condition with `or` would read the clearings of other customers.
create function private.clearings(player uuid, sounds uuid[]) returns table (sound_id uuid, cleared_at timestamptz)
language plpgsql stable set search_path = '' as $$
begin
  return query
    select sound, greatest(of_all.cleared_at, of_sound.cleared_at, '-infinity')
    from (select distinct sound from unnest(sounds) as sound) as asked
      left join private.history_clearings as of_all on of_all.user_id = player and of_all.sound_id is null
      left join private.history_clearings as of_sound on of_sound.user_id = player and of_sound.sound_id = sound;
end
$$;
comment on function private.clearings is
  'Returns for each sound when a customer last cleared the history, or removed the sound from it. -infinity: not in 30 '
  'days.';

create function private.cleared_at(player uuid, sound uuid) returns timestamptz
language plpgsql stable set search_path = '' as $$
begin
  return (select clearing.cleared_at from private.clearings(player, array[sound]) as clearing);
end
$$;
comment on function private.cleared_at is
  'Returns what private.clearings does for one sound. A call for each of many sounds takes longer.';

-- Takes the time of the clock, because now() is the start of a transaction that may have waited for newer reports.
create function private.remember_clearing(player uuid, sound uuid) returns void
language plpgsql volatile set search_path = '' as $$
begin
  insert into private.history_clearings (user_id, sound_id, cleared_at)
    values (player, sound, date_trunc('milliseconds', clock_timestamp()))
    on conflict (user_id, sound_id) do update set cleared_at = excluded.cleared_at;
end
$$;
comment on function private.remember_clearing is
  'Stores that a customer has now removed a sound, or all sounds (null), from the history.';

create view private.history_entry with (security_invoker = true) as
  select sound_id, private.iso_time(entry.last_played_at) as last_played_at, plays,
    (select sound from private.sound_preview as sound where sound.id = entry.sound_id) as sounds
  from public.history as entry
  where user_id = (select auth.uid())
  order by entry.last_played_at desc, sound_id desc;
comment on view private.history_entry is 'History of the caller in API responses, newest first.';
grant select on private.history_entry to authenticated;

-- The cursor needs the sound, too, because plays of one batch may share their moment.
create function public.list_history(
  page_size integer default 50, before_moment timestamptz default null, before_sound uuid default null
) returns json language plpgsql stable set search_path = '' as $$
declare
  max_rows constant integer := least(greatest(page_size, 1), 100);
  ids uuid[];
begin
  perform private.require_account();
  ids := array(
    select sound_id from public.history
    where user_id = (select auth.uid())
      and (last_played_at, sound_id)
        < (coalesce(before_moment, 'infinity'), coalesce(before_sound, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
    order by last_played_at desc, sound_id desc
    limit max_rows + 1
  );
  return json_build_object(
    'data', array(
      select (select entry from private.history_entry as entry where entry.sound_id = page.sound_id)
      from unnest(ids[:max_rows]) with ordinality as page (sound_id, position)
      order by position
    ),
    'has_more', cardinality(ids) > max_rows
  );
end
$$;
comment on function public.list_history is
  'Returns one page of the caller''s history, newest first: {data, has_more}. It begins after the entry of '
  'before_sound at before_moment.';

create function public.clear_history() returns boolean
language plpgsql volatile set search_path = '' as $$ begin return private.clear_history(); end $$;
comment on function public.clear_history is
  'Deletes the history of the caller, and all positions. Returns false if the history was empty.';

create function public.remove_from_history(sound uuid) returns boolean
language plpgsql volatile set search_path = '' as $$ begin return private.remove_from_history(sound); end $$;
comment on function public.remove_from_history is
  'Deletes a sound from the history, and its position. Returns false if it was not in the history.';

grant execute on function public.list_history, public.clear_history, public.remove_from_history to authenticated;

-- Whether a user has listened today is looked up by the key of the table, whatever its statistics say: a plan that was made while
-- the table was empty went through all listeners of the day.

create function private.count_listener(new_days date[]) returns void
language plpgsql volatile set search_path = '' set enable_seqscan = off set enable_bitmapscan = off as $$
begin
  delete from private.listening_days where ctid = any (array(
    select ctid from private.listening_days where day < current_date - 31
    order by day limit 2 * cardinality(new_days) for update skip locked
  ));
  insert into private.listeners_by_day as counter (day, listeners) select day, 1 from unnest(new_days) as day order by day
    on conflict (day) do update set listeners = counter.listeners + 1;
end
$$;
comment on function private.count_listener is
  'Counts one more listener of each of these days. A few old listening days go with it.';

create or replace function private.add_listener(player uuid, days date[]) returns void
language plpgsql volatile set search_path = '' as $$
declare
  new_days date[];
begin
  with added as (
    insert into private.listening_days (user_id, day)
      select player, day from unnest(days) as day group by day order by day
      on conflict (user_id, day) do nothing
      returning day
  )
  select array_agg(day) into new_days from added;
  if new_days is not null then
    perform private.count_listener(new_days);
  end if;
end
$$;

create or replace function private.count_play(played_sound uuid, player uuid, idempotency_key text) returns json
language plpgsql volatile security definer set search_path = '' set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  is_there constant boolean := exists (select from public.sounds where id = played_sound and is_active);
  is_new boolean := is_there;
  today constant date := now() at time zone 'UTC';
  new_count bigint;
begin
  perform set_config('synchronous_commit', 'off', true);
  if player is not null then -- null from a gateway of an earlier release, which says nothing of who plays
    perform private.require_player(player);
    if is_there and idempotency_key is not null then
      insert into private.play_receipts as receipt (user_id, key, sound_id) values (player, idempotency_key, played_sound)
        on conflict (user_id, key) do update set sound_id = excluded.sound_id, received_at = now()
          where receipt.received_at < now() - interval '31 days';
      is_new := found;
    end if;
    if is_new then
      -- Those that somebody else is removing are left to them: nobody waits.
      delete from private.play_receipts where ctid = any (array(
        select ctid from private.play_receipts where received_at < now() - interval '31 days'
        order by received_at limit 2 for update skip locked
      ));
      insert into public.history as entry (user_id, sound_id, plays, last_played_at) values (player, played_sound, 1, now())
        on conflict (user_id, sound_id) do update set
          plays = entry.plays + 1, last_played_at = greatest(entry.last_played_at, excluded.last_played_at);
      insert into private.listening_days (user_id, day) values (player, today) on conflict (user_id, day) do nothing;
      if found then
        perform private.count_listener(array[today]);
      end if;
    elsif exists (
      select from private.play_receipts where user_id = player and key = idempotency_key and sound_id <> played_sound
    ) then
      raise exception 'The key % was used for another sound.', idempotency_key
        using errcode = 'check_violation', constraint = 'key_is_of_one_sound', table = 'play_receipts';
    end if;
  end if;
  if is_new then
    insert into public.play_counts as counter (sound_id, plays) values (played_sound, 1)
      on conflict (sound_id) do update set plays = least(counter.plays + 1, 9007199254740991)
      returning plays into new_count;
    insert into private.plays_by_day as counter (sound_id, day, plays) values (played_sound, today, 1)
      on conflict (sound_id, day) do update set plays = counter.plays + 1;
  elsif is_there then
    select plays into new_count from public.play_counts where sound_id = played_sound;
  end if;
  return case when is_there then json_build_object('id', played_sound, 'play_count', coalesce(new_count, 0)) end;
end
$$;

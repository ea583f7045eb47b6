-- Counts each play once, for the sound, for its day and in the history of its user, in one transaction. This file has
-- the play of a request, 50_plays_sent_later.sql those that apps send later, with the same tables. Both lock rows in
-- one order, so that plays never deadlock: the user, listeners by day, then for each sound history and counts by day.
-- The deletion of a sound locks history before counts, too.

create table private.play_receipts (
  user_id uuid not null references auth.users (id) on delete cascade,
  key text collate "C" not null,
  sound_id uuid not null,
  received_at timestamptz not null default now(),
  primary key (user_id, key)
);
create index play_receipts_oldest_first on private.play_receipts (received_at);
comment on table private.play_receipts is
  'Receipts are the idempotency records of plays: each play that was counted in the last 31 days, so that a repeated '
  'request counts once. 31 days are one more than plays may be late, because clocks of phones may be ahead. '
  'private.upkeep deletes older ones.';
comment on column private.play_receipts.key is 'Idempotency-Key of the play, or the id of a play that was sent later.';

create table private.plays_by_day (
  sound_id uuid not null references public.sounds (id) on delete cascade,
  day date not null,
  plays bigint not null,
  primary key (sound_id, day)
) with (fillfactor = 50);
create index plays_by_day_day on private.plays_by_day (day);
comment on table private.plays_by_day is 'Number of plays of each sound on each day (UTC).';

create table private.listeners_by_day (
  day date primary key,
  listeners bigint not null
) with (fillfactor = 50);
comment on table private.listeners_by_day is 'Number of users who played a sound on each day (UTC). No personal data.';

create table private.listening_days (
  user_id uuid not null references auth.users (id) on delete cascade,
  day date not null,
  listened boolean not null default true,
  receipts integer not null default 0,
  primary key (user_id, day)
) with (fillfactor = 50);
create index listening_days_oldest_first on private.listening_days (day);
comment on table private.listening_days is
  'Users who listened or sent plays on each day (UTC), kept for 31 days because plays can arrive late.';
comment on column private.listening_days.listened is
  'True if the user played a sound on this day, also if the play arrived later.';
comment on column private.listening_days.receipts is 'Number of receipts that the user got on the day.';

create function private.lock_user(user_id uuid) returns void language plpgsql volatile set search_path = '' as $$
begin
  perform from auth.users where id = user_id and deleted_at is null for key share;
  if not found then
    raise exception 'The account of this token no longer exists.' using errcode = 'PT401';
  end if;
end
$$;
comment on function private.lock_user is
  'Locks an account until the transaction ends, so that it cannot be deleted meanwhile. Raises PT401 if it is gone.';

-- Takes an advisory lock, because a row of private.listening_days would not do: requests that began before and after
-- midnight lock two such rows, and deadlocked when they sent the same plays.
create function private.lock_plays(player uuid) returns void language plpgsql volatile set search_path = '' as $$
begin
  perform private.lock_user(player);
  perform pg_advisory_xact_lock('private.play_receipts'::regclass::oid::integer, hashtext(player::text));
end
$$;
comment on function private.lock_plays is 'Serializes the plays and the clearings of the history of a user.';

create function private.time_of_report(moment timestamptz) returns timestamptz
language plpgsql stable set search_path = '' as $$
begin
  if moment is null or moment > now() + interval '5 minutes' then
    return 'infinity';
  end if;
  return date_trunc('milliseconds', least(moment, now()));
end
$$;
comment on function private.time_of_report is
  'Returns the time of a play or a position: at most now, because the clock of a phone may be up to five minutes '
  'ahead; infinity if it is missing or in the future. Rounds down, because a stored time must not be ahead.';

create function private.is_playable(sound uuid, player uuid, moment timestamptz) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return exists (
    select from public.sounds
    where id = sound and is_active and (not is_premium or private.is_premium(player, moment))
  );
end
$$;
comment on function private.is_playable is
  'Returns whether a sound is active, and was not locked for the player at this moment.';

create function private.receipts_a_day(with_api_key boolean) returns integer
language plpgsql immutable set search_path = '' as $$
begin
  return case when with_api_key then 100000 else 1000 end;
end
$$;
comment on function private.receipts_a_day is
  'Returns the daily limit of receipts of a user, so that one account cannot fill the disk.';

create function private.has_receipt(player uuid, idempotency_key text) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return exists (
    select from private.play_receipts
    where user_id = player and key = idempotency_key and received_at >= now() - interval '31 days'
  );
end
$$;
comment on function private.has_receipt is 'Returns whether a play with this key has a receipt of the last 31 days.';

-- A play beyond the daily limit of receipts counts, but gets no receipt, so its repetition counts again. In a batch it
-- is "over_limit" instead: the response to a batch has a status for each play, that to a single play has none.
create function private.remember_play(player uuid, idempotency_key text, sound uuid, with_api_key boolean)
returns boolean language plpgsql volatile set search_path = '' as $$
declare
  today constant date := now() at time zone 'UTC';
begin
  insert into private.listening_days as own (user_id, day, listened, receipts) values (player, today, false, 1)
    on conflict (user_id, day) do update set receipts = own.receipts + 1
      where own.receipts < private.receipts_a_day(with_api_key);
  if not found then
    return not private.has_receipt(player, idempotency_key);
  end if;
  insert into private.play_receipts as receipt (user_id, key, sound_id) values (player, idempotency_key, sound)
    on conflict (user_id, key) do update set sound_id = excluded.sound_id, received_at = now()
      where receipt.received_at < now() - interval '31 days';
  if not found then
    update private.listening_days set receipts = receipts - 1 where user_id = player and day = today;
    return false;
  end if;
  return true;
end
$$;
comment on function private.remember_play is
  'Stores the receipt of a play, within the daily limit. Returns whether no earlier play had the key.';

-- Counts one play without the arrays of count_new_plays, because a batch of one takes 5.3 ms instead of 0.7. A sound
-- that is deleted meanwhile fails as a foreign key, which the gateway answers as 404.
create function private.count_play(sound uuid, player uuid, idempotency_key text, with_api_key boolean) returns json
language plpgsql volatile security definer set search_path = '' as $$
declare
  today constant date := now() at time zone 'UTC';
  is_there constant boolean := private.is_playable(sound, player, now());
  current_count bigint;
begin
  -- All plays of a sound lock one row of counts until the commit, so the commit does not wait for the disk: 8,200 plays
  -- a second of one sound instead of 2,600. A crash of Postgres may lose the plays of the last 0.6 s.
  perform set_config('synchronous_commit', 'off', true);
  perform private.lock_plays(player);
  if is_there and (idempotency_key is null or private.remember_play(player, idempotency_key, sound, with_api_key)) then
    perform private.add_listener(player, array[today]);
    -- This play may have waited until a clearing of the history was committed.
    if private.time_of_report(now()) > private.cleared_at(player, sound) then
      perform private.add_to_history(player, sound, 1, now());
    end if;
    return json_build_object('id', sound, 'play_count', private.add_to_counts(sound, 1, today));
  end if;

  -- Not counted, because the play is repeated or its sound is not there.
  if exists (
    select from private.play_receipts where user_id = player and key = idempotency_key and sound_id <> sound
  ) then
    raise exception 'The key % was used for another sound.', idempotency_key
      using errcode = 'check_violation', constraint = 'key_is_of_one_sound', table = 'play_receipts';
  elsif not is_there then
    return null;
  end if;
  select plays into current_count from public.play_counts where sound_id = sound;
  return json_build_object('id', sound, 'play_count', coalesce(current_count, 0));
end
$$;

create function public.count_play(
  sound uuid, player uuid default null, idempotency_key text default null, with_api_key boolean default false
) returns json language plpgsql volatile set search_path = '' as $$
begin
  return private.count_play(sound, player, idempotency_key, with_api_key);
end
$$;
comment on function public.count_play is
  'Counts one play by a user, once for each key. Returns the count, or null if no such sound is active and unlocked. '
  '"player" is this user: as_api_key passes the owner of the key. "with_api_key" is true for requests with an API key.';

create function private.add_listener(player uuid, days date[]) returns void
language plpgsql volatile set search_path = '' as $$
begin
  with added as (
    insert into private.listening_days as own (user_id, day)
      select player, day from unnest(days) as day group by day order by day
      on conflict (user_id, day) do update set listened = true where not own.listened
      returning day
  )
  insert into private.listeners_by_day as counter (day, listeners) select day, 1 from added order by day
    on conflict (day) do update set listeners = counter.listeners + 1;
end
$$;
comment on function private.add_listener is 'Adds a user to the listeners of the given days, once for each day.';

create function private.add_to_history(player uuid, sound uuid, number bigint, last_moment timestamptz) returns void
language plpgsql volatile set search_path = '' as $$
begin
  if number > 0 then
    insert into public.history as entry (user_id, sound_id, plays, last_played_at)
      values (player, sound, number, last_moment)
      on conflict (user_id, sound_id) do update set
        plays = entry.plays + excluded.plays, last_played_at = greatest(entry.last_played_at, excluded.last_played_at);
  end if;
end
$$;
comment on function private.add_to_history is 'Adds plays of a sound to the history of a user.';

create function private.add_to_counts(sound uuid, number bigint, played_on date) returns bigint
language plpgsql volatile set search_path = '' as $$
declare
  new_count bigint;
begin
  insert into public.play_counts as counter (sound_id, plays) values (sound, number)
    on conflict (sound_id) do update set plays = least(counter.plays + excluded.plays, 9007199254740991)
    returning plays into new_count;
  insert into private.plays_by_day as counter values (sound, played_on, number)
    on conflict (sound_id, day) do update set plays = counter.plays + excluded.plays;
  return new_count;
end
$$;
comment on function private.add_to_counts is 'Adds plays of one day to the counts of a sound. Returns the new count.';

grant execute on function private.count_play, public.count_play to service_role;

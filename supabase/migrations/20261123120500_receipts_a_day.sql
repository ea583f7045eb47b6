-- A user leaves at most 1,000 receipts of plays a day, and 100,000 through API keys, so that no account fills the disk. What is
-- "most played" goes by listeners and days, not by the plays of one account.

alter table private.listening_days
  add column listened boolean not null default true,
  add column receipts integer not null default 0;
alter table private.listening_days set (fillfactor = 50);
comment on table private.listening_days is
  'Who listened or sent plays on a day (UTC); kept for 31 days, in which plays of that day may still come.';
comment on column private.listening_days.listened is
  'Whether the user is among the listeners of the day. Who sends plays of earlier days alone is not.';
comment on column private.listening_days.receipts is 'How many receipts of plays arrived on the day: at most private.receipts_a_day.';

drop function public.count_play(uuid, uuid, text);
drop function private.count_play(uuid, uuid, text);
drop function public.count_plays(jsonb, uuid);
drop function private.count_plays(jsonb, uuid);
drop function private.count_new_plays(uuid, text[], uuid[], timestamptz[]);

create function private.receipts_a_day(by_key boolean) returns integer
language plpgsql immutable set search_path = '' as $$
begin
  return case when by_key then 100000 else 1000 end;
end
$$;
comment on function private.receipts_a_day is
  'How many receipts a user may leave on a day (UTC, by arrival), so that no account fills the disk. An API key acts for many.';

create or replace function private.add_listener(player uuid, days date[]) returns void
language plpgsql volatile set search_path = '' as $$
declare
  new_days date[];
begin
  with added as (
    insert into private.listening_days as own (user_id, day)
      select player, day from unnest(days) as day group by day order by day
      on conflict (user_id, day) do update set listened = true where not own.listened
      returning day
  )
  select array_agg(day) into new_days from added;
  if new_days is not null then
    perform private.count_listener(new_days);
  end if;
end
$$;
comment on function private.add_listener is 'Counts a user among the listeners of these days, once for each.';

create function private.count_play(played_sound uuid, player uuid, idempotency_key text, by_key boolean) returns json
language plpgsql volatile security definer set search_path = '' set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  is_there constant boolean := exists (select from public.sounds where id = played_sound and is_active);
  is_new boolean := is_there;
  is_listener boolean := false;
  today constant date := now() at time zone 'UTC';
  new_count bigint;
begin
  perform set_config('synchronous_commit', 'off', true);
  if player is not null then -- null from a gateway of an earlier release, which says nothing of who plays
    perform private.require_player(player);
    if is_there and idempotency_key is not null then
      insert into private.listening_days as own (user_id, day, listened, receipts) values (player, today, false, 1)
        on conflict (user_id, day) do update set receipts = own.receipts + 1
          where own.receipts < private.receipts_a_day(by_key)
        returning listened into is_listener;
      if found then
        insert into private.play_receipts as receipt (user_id, key, sound_id) values (player, idempotency_key, played_sound)
          on conflict (user_id, key) do update set sound_id = excluded.sound_id, received_at = now()
            where receipt.received_at < now() - interval '31 days';
        is_new := found;
        if not is_new then
          update private.listening_days set receipts = receipts - 1 where user_id = player and day = today;
        end if;
      else
        is_new := not exists (
          select from private.play_receipts
          where user_id = player and key = idempotency_key and received_at >= now() - interval '31 days'
        );
      end if;
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
      if is_listener is not true then
        perform private.add_listener(player, array[today]);
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
grant execute on function private.count_play to service_role;

create function public.count_play(
  played_sound uuid, player uuid default null, idempotency_key text default null, by_key boolean default false
) returns json
-- A function in plain SQL would be planned anew for each call.
language plpgsql volatile set search_path = '' as $$
begin
  return private.count_play(played_sound, player, idempotency_key, by_key);
end
$$;
comment on function public.count_play is
  'Counts one play of an active sound by a user, once for each key; returns the count, or null where there is no such sound. '
  '"by_key" says that an API key plays.';
grant execute on function public.count_play to service_role;

create function private.count_new_plays(
  player uuid, keys text[], sound_ids uuid[], moments timestamptz[], by_key boolean
) returns integer[]
language plpgsql volatile set search_path = '' set enable_seqscan = off as $$
declare
  today constant date := now() at time zone 'UTC';
  playable constant integer[] := array(
    select distinct on (key) position::integer
    from unnest(keys, sound_ids, moments) with ordinality as play (key, sound_id, moment, position)
    where moment > now() - interval '30 days'
      and exists (select from public.sounds where id = play.sound_id and is_active)
    order by key, position
  );
  receipts_left integer;
  remembered integer[];
  new_keys text[];
  counted integer[];
  days date[];
begin
  perform private.require_player(player);
  -- Written, so that it is locked: other plays of the user wait, and none of them takes the same receipts.
  insert into private.listening_days as own (user_id, day, listened) values (player, today, false)
    on conflict (user_id, day) do update set receipts = own.receipts
    returning greatest(private.receipts_a_day(by_key) - receipts, 0) into receipts_left;
  remembered := array(
    select i from unnest(playable) as i
    where not exists (
      select from private.play_receipts
      where user_id = player and key = keys[i] and received_at >= now() - interval '31 days'
    )
    order by i limit receipts_left
  );
  new_keys := private.keep_receipts(
    player, array(select keys[i] from unnest(remembered) as i), array(select sound_ids[i] from unnest(remembered) as i)
  );
  update private.listening_days set receipts = receipts + cardinality(new_keys) where user_id = player and day = today;
  counted := array(select i from unnest(remembered) as i where keys[i] = any (new_keys));
  select array_agg(sound_ids[i]), array_agg(moments[i]), array_agg((moments[i] at time zone 'UTC')::date)
    into sound_ids, moments, days
    from unnest(counted) as i;
  perform private.add_to_history(player, sound_ids, moments, days);
  perform private.add_to_counts(sound_ids, days);
  return counted;
end
$$;
comment on function private.count_new_plays is
  'Counts the plays of the last 30 days that have no receipt yet, as many as the user may still leave today, and returns their '
  'positions. Of equal keys the first counts.';

create function private.count_plays(plays jsonb, player uuid, by_key boolean) returns json
language plpgsql volatile security definer set search_path = '' set enable_seqscan = off as $$
declare
  keys constant text[] := array(select play ->> 'id' from jsonb_array_elements(plays) as play);
  sound_ids constant uuid[] := array(select (play ->> 'sound_id')::uuid from jsonb_array_elements(plays) as play);
  -- The clock of a phone may be ahead.
  moments constant timestamptz[] :=
    array(select least((play ->> 'played_at')::timestamptz, now()) from jsonb_array_elements(plays) as play);
  counted integer[];
begin
  perform set_config('synchronous_commit', 'off', true);
  while counted is null loop
    begin
      counted := private.count_new_plays(player, keys, sound_ids, moments, by_key);
    exception when foreign_key_violation then
      null; -- a sound was deleted meanwhile: the next time it is not found
    end;
  end loop;
  return array_to_json(array(
    select json_build_object('id', key, 'status', case
      when position = any (counted) then 'counted'
      when exists (select from private.play_receipts where user_id = player and play_receipts.key = play.key)
        and position > all (select i from unnest(counted) as i where keys[i] = play.key)
        then 'duplicate'
      when moment <= now() - interval '30 days' then 'too_old'
      when exists (select from public.sounds where id = play.sound_id and is_active) then 'over_limit'
      else 'not_found'
    end)
    from unnest(keys, sound_ids, moments) with ordinality as play (key, sound_id, moment, position)
    order by position
  ));
end
$$;
grant execute on function private.count_plays to service_role;

create function public.count_plays(plays jsonb, player uuid default null, by_key boolean default false) returns json
language sql volatile set search_path = '' as $$ select private.count_plays(plays, player, by_key) $$;
comment on function public.count_plays is
  'Counts plays [{id, sound_id, played_at}] by a user, once for each id; returns [{id, status}] in the same order. '
  '"by_key" says that an API key plays.';
grant execute on function public.count_plays to service_role;

create or replace function private.call_of(operation text, arguments jsonb) returns text
language sql stable set search_path = '' as $$
  select format(
    'select %s from public.%I(%s) as result',
    case when prorettype = 'void'::regtype then 'null::json' else 'to_json(result)' end,
    proname,
    (
      select string_agg(
        case name when 'player' then 'player => $2' when 'by_key' then 'by_key => true'
          else format('%I => ($1 ->> %L)::%s', name, name, format_type(type, null)) end,
        ', '
      )
      from unnest(proargnames, proargtypes::oid[]) as argument (name, type)
      where arguments ? name or name in ('player', 'by_key')
    )
  )
  from pg_proc
  where pronamespace = 'public'::regnamespace and proname = operation
    and array(select jsonb_object_keys(arguments)) <@ coalesce(proargnames, '{}')
$$;
comment on function private.call_of is
  'The statement that calls a function of the API with these arguments; null where there is none that takes them.';

create or replace function private.export_account() returns json
language sql stable security definer set search_path = '' as $$
  select json_build_object(
    'api_keys', array(
      select json_build_object('name', name, 'key_prefix', key_prefix)
      from private.api_keys where owner_id = auth.uid() order by created_at, key_prefix
    ),
    'play_receipts', array(
      select json_build_object(
        'key', key, 'sound_id', sound_id,
        'received_at', to_char(received_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
      )
      from private.play_receipts where user_id = auth.uid() order by received_at, key
    ),
    'listening_days', array(select day from private.listening_days where user_id = auth.uid() and listened order by day)
  )
$$;

drop view admin.most_played;
drop function admin.fill_section(text, integer, integer);

create function admin.top_sounds(days integer)
returns table (sound_id uuid, title text, is_active boolean, listeners bigint, days_played bigint, plays bigint)
language sql stable set search_path = '' as $$
  select sound.id, sound.title, sound.is_active, coalesce(listened.listeners, 0), played.days_played, played.plays
  from (
      select sound_id, count(*) as days_played, sum(plays)::bigint as plays
      from private.plays_by_day where day > (now() at time zone 'UTC')::date - days group by sound_id
    ) as played
    join public.sounds as sound on sound.id = played.sound_id
    left join (
      select sound_id, count(*) as listeners from public.history
      where (last_played_at at time zone 'UTC')::date > (now() at time zone 'UTC')::date - days group by sound_id
    ) as listened on listened.sound_id = played.sound_id
  order by 4 desc, 5 desc, sound.title, sound.id
$$;
comment on function admin.top_sounds is
  'What was listened to in the last days, today included: the sounds with the most listeners first, among equal ones those that were '
  'played on the most days.';

create function admin.fill_section(slug text, days integer default 7, sounds integer default 10)
returns table (place integer, sound_id uuid, title text, listeners bigint, days_played bigint, plays bigint)
language plpgsql volatile set search_path = '' as $$
#variable_conflict use_column
declare
  section public.home_sections;
begin
  if days is null or days not between 1 and 365 then
    raise exception 'days is %: give the number of days to look back on, 1 to 365.', days;
  end if;
  if sounds is null or sounds not between 1 and 100 then
    raise exception 'sounds is %: give the number of sounds, 1 to 100.', sounds;
  end if;
  -- Locked, so that two who fill it come one after the other.
  select home_sections.* into section from public.home_sections where home_sections.slug = fill_section.slug for update;
  if section.id is null then
    raise exception 'There is no home section "%".', slug;
  end if;
  if section.mode <> 'manual' then
    raise exception 'The section "%" fills itself by its rule. Set its mode to manual, and rule_type and rule_value to NULL.', slug;
  end if;
  return query
    with played as (
      select row_number() over ()::integer as place, top.sound_id, top.title, top.listeners, top.days_played, top.plays
      from admin.top_sounds(fill_section.days) as top
      where top.is_active
      limit fill_section.sounds
    ), emptied as (
      delete from public.home_section_sounds where section_id = section.id and exists (select from played)
        and sound_id not in (select played.sound_id from played)
    ), filled as (
      insert into public.home_section_sounds (section_id, sound_id, position)
        select section.id, played.sound_id, 10 * played.place from played
        on conflict (section_id, sound_id) do update set position = excluded.position
    )
    select * from played order by place;
end
$$;
comment on function admin.fill_section is
  'Fills a section with mode manual with the active sounds that come first in admin.top_sounds, and returns them. Where '
  'nothing was played, the section stays as it is.';

create view admin.most_played with (security_invoker = true) as
  select
    sound_id,
    year.title,
    coalesce(week.listeners, 0) as listeners_7_days,
    coalesce(month.listeners, 0) as listeners_30_days,
    year.listeners as listeners_365_days,
    coalesce(week.plays, 0) as plays_7_days,
    coalesce(month.plays, 0) as plays_30_days,
    year.plays as plays_365_days
  from admin.top_sounds(365) as year
    left join admin.top_sounds(30) as month using (sound_id)
    left join admin.top_sounds(7) as week using (sound_id)
  order by listeners_30_days desc, month.days_played desc nulls last, listeners_365_days desc, year.title;
comment on view admin.most_played is
  'Listeners and plays of each sound in the last 7, 30 and 365 days, today included; the sounds with the most listeners in the last '
  '30 days first.';
comment on column admin.most_played.listeners_30_days is
  'Accounts that played the sound. Each is one, however often it plays, so that no account makes a sound popular by itself.';

-- Counts the plays of POST /plays, which apps may have kept while they had no network. A batch locks and writes each
-- table once.

create type private.sent_play as (place integer, key text, sound_id uuid, moment timestamptz);
comment on type private.sent_play is
  'A play of POST /plays, with its place in the request. Its key for receipts is the id that the app sent.';

create function private.sent_plays(plays jsonb) returns private.sent_play[]
language plpgsql stable set search_path = '' as $$
begin
  return array(
    select (place, play ->> 'id', play ->> 'sound_id', private.time_of_report((play ->> 'played_at')::timestamptz))
      ::private.sent_play
    from jsonb_array_elements(plays) with ordinality as sent (play, place)
    order by place
  );
end
$$;

create function private.receipts_left(player uuid, with_api_key boolean) returns integer
language plpgsql stable set search_path = '' as $$
declare
  receipts_today constant integer := (
    select receipts from private.listening_days where user_id = player and day = (now() at time zone 'UTC')::date
  );
begin
  return greatest(private.receipts_a_day(with_api_key) - coalesce(receipts_today, 0), 0);
end
$$;
comment on function private.receipts_left is
  'Returns how many receipts the user may still get today. Those of plays by apps and by API keys count together.';

create function private.remember_plays(player uuid, plays private.sent_play[]) returns void
language plpgsql volatile set search_path = '' as $$
begin
  insert into private.play_receipts as receipt (user_id, key, sound_id)
    select player, key, sound_id from unnest(plays)
    on conflict (user_id, key) do update set sound_id = excluded.sound_id, received_at = now();
  insert into private.listening_days as own (user_id, day, listened, receipts)
    values (player, (now() at time zone 'UTC')::date, false, cardinality(plays))
    on conflict (user_id, day) do update set receipts = own.receipts + excluded.receipts;
end
$$;
comment on function private.remember_plays is
  'Stores a receipt for each of these plays, and replaces those of older plays with the same keys.';

create function private.count_new_plays(player uuid, plays private.sent_play[], with_api_key boolean)
returns private.sent_play[] language plpgsql volatile set search_path = '' as $$
declare
  playable private.sent_play[];
  counted private.sent_play[];
begin
  perform private.lock_plays(player);
  -- Takes the first play of each key among those that may count, so that one that is too old hides no other.
  playable := array(
    select distinct on (key) play
    from unnest(plays) as play
    where moment > now() - interval '30 days' and moment <= now() and private.is_playable(sound_id, player, moment)
    order by key, place
  );
  counted := array(
    select play from unnest(playable) as play
    where not private.has_receipt(player, key)
    order by place limit private.receipts_left(player, with_api_key)
  );
  perform private.remember_plays(player, counted);
  perform private.add_listener(player, array(select (moment at time zone 'UTC')::date from unnest(counted)));
  -- Adds plays that were made before the history was cleared to the counts only. Postgres calls the functions from left
  -- to right, so this locks the history before the counts, for each sound and day.
  perform
    private.add_to_history(player, sound_id, number_after_clearing, last_moment),
    private.add_to_counts(sound_id, played, day)
    from (
      select sound_id, (moment at time zone 'UTC')::date as day, count(*) as played, max(moment) as last_moment,
        count(*) filter (where moment > cleared_at) as number_after_clearing
      from unnest(counted) join private.clearings(player, array(select sound_id from unnest(counted))) using (sound_id)
      group by sound_id, day order by sound_id, last_moment
    ) as plays_of_day;
  return counted;
end
$$;
comment on function private.count_new_plays is
  'Counts plays of the last 30 days without a receipt, up to the daily limit. Returns those it counted.';

-- Looks for duplicates before the other reasons, because a play that was counted may be too old by now.
create function private.status_of_play(play private.sent_play, player uuid, counted_place integer) returns text
language plpgsql stable set search_path = '' as $$
begin
  return case
    when play.place = counted_place then 'counted'
    when play.place > counted_place then 'duplicate' -- of the counted play
    when counted_place is null and private.has_receipt(player, play.key) then 'duplicate' -- of an earlier request
    when play.moment <= now() - interval '30 days' then 'too_old'
    when play.moment > now() then 'in_future'
    when not private.is_playable(play.sound_id, player, play.moment) then 'not_found'
    else 'over_limit'
  end;
end
$$;
comment on function private.status_of_play is
  'Returns the status of a play. "counted_place" is the place of the play with its key that was counted, or null.';

create function private.count_plays(plays jsonb, player uuid, with_api_key boolean) returns json
language plpgsql volatile security definer set search_path = '' as $$
declare
  sent constant private.sent_play[] := private.sent_plays(plays);
  counted private.sent_play[];
begin
  perform set_config('synchronous_commit', 'off', true); -- for the reason given in private.count_play
  while counted is null loop
    begin
      counted := private.count_new_plays(player, sent, with_api_key);
    exception when foreign_key_violation then
      null; -- a sound was deleted meanwhile, as users are locked; the next attempt does not find the sound
    end;
  end loop;
  return to_json(array(
    select json_build_object('id', key, 'status', private.status_of_play(play, player, counted_play.place))
    from unnest(sent) as play left join unnest(counted) as counted_play using (key)
    order by play.place
  ));
end
$$;

create function public.count_plays(plays jsonb, player uuid default null, with_api_key boolean default false)
returns json language sql volatile set search_path = '' as $$
  select private.count_plays(plays, player, with_api_key)
$$;
comment on function public.count_plays is
  'Counts plays [{id, sound_id, played_at}] by a user, once for each id. Returns [{id, status}] in the same order. '
  '"player" is this user: as_api_key passes the owner of the key. "with_api_key" is true for requests with an API key.';

grant execute on function private.count_plays, public.count_plays to service_role;

-- A play writes the history before the counts, so that the row of a popular sound is locked for as short a time as can be.

create or replace function private.count_play(played_sound uuid, player uuid, idempotency_key text) returns json
language plpgsql volatile security definer set search_path = '' as $$
declare
  is_there constant boolean := exists (select from public.sounds where id = played_sound and is_active);
  today constant date := now() at time zone 'UTC';
begin
  perform set_config('synchronous_commit', 'off', true);
  if player is null then -- a gateway of an earlier release, which says nothing of who plays
    perform private.add_to_counts(array[played_sound], array[today]) where is_there;
  else
    perform private.require_player(player);
    if is_there and (
      idempotency_key is null
      or cardinality(private.keep_receipts(player, array[idempotency_key], array[played_sound])) = 1
    ) then
      perform private.add_to_history(player, array[played_sound], array[now()], array[today]);
      perform private.add_to_counts(array[played_sound], array[today]);
    elsif exists (
      select from private.play_receipts where user_id = player and key = idempotency_key and sound_id <> played_sound
    ) then
      raise exception 'The key % was used for another sound.', idempotency_key
        using errcode = 'check_violation', constraint = 'key_is_of_one_sound', table = 'play_receipts';
    end if;
  end if;
  if is_there then
    return json_build_object(
      'id', played_sound,
      'play_count', coalesce((select plays from public.play_counts where sound_id = played_sound), 0)
    );
  end if;
  return null;
end
$$;

create or replace function private.count_new_plays(player uuid, keys text[], sound_ids uuid[], moments timestamptz[])
returns integer[]
language plpgsql volatile set search_path = '' set enable_seqscan = off as $$
declare
  playable constant integer[] := array(
    select distinct on (key) position::integer
    from unnest(keys, sound_ids, moments) with ordinality as play (key, sound_id, moment, position)
    where moment > now() - interval '30 days'
      and exists (select from public.sounds where id = play.sound_id and is_active)
    order by key, position
  );
  new_keys text[];
  counted integer[];
  days date[];
begin
  perform private.require_player(player);
  new_keys := private.keep_receipts(
    player, array(select keys[i] from unnest(playable) as i), array(select sound_ids[i] from unnest(playable) as i)
  );
  counted := array(select i from unnest(playable) as i where keys[i] = any (new_keys));
  select array_agg(sound_ids[i]), array_agg(moments[i]), array_agg((moments[i] at time zone 'UTC')::date)
    into sound_ids, moments, days
    from unnest(counted) as i;
  perform private.add_to_history(player, sound_ids, moments, days);
  perform private.add_to_counts(sound_ids, days);
  return counted;
end
$$;

-- The deletion of a sound takes the same order, or the two could wait for each other in a circle: triggers run by their names,
-- and those of foreign keys begin with "RI_". What was entered meanwhile is removed by the trigger that runs last, as before.
create trigger "Histories_first"
  after delete on public.sounds for each row execute function private.remove_from_histories();

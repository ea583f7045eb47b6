-- Adds 23, changes 25, drops 8. Made from supabase/schemas by npm run migration.

-- By hand: what only gets another name.
alter table private.set_aside_bans rename to suspended_bans;
alter table private.suspended_bans rename constraint set_aside_bans_pkey to suspended_bans_pkey;
alter table private.suspended_bans rename constraint set_aside_bans_customer_id_fkey to suspended_bans_customer_id_fkey;
alter policy "Nobody reaches set-aside bans" on private.suspended_bans rename to "Nobody reaches suspended bans";
alter function private.call_of rename to rpc_statement;
alter function public.refused_sounds rename to validate_sounds;

-- The triggers go with their functions: they are on a table of Auth, which is not ours to change.
drop function private.void_what_came_before() cascade;
drop function private.forget_account() cascade;
drop function private.set_ban_aside() cascade;

set local check_function_bodies = off;

drop trigger "sounds_clear_histories" on "public"."sounds";

drop trigger "sounds_compose_title" on "public"."sounds";

drop trigger "sounds_keep_positions_of_all" on "public"."sounds";

drop function "private"."clear_histories"();

drop function "private"."compose_title"();

drop function "private"."doctor_revoke_key"(text);

drop function "private"."keep_all_positions"();

drop function "private"."touch_last_seen"();

drop function "public"."clear_history"();

drop function "public"."doctor_revoke_key"(text);

drop function "public"."list_filtered_sounds"(jsonb);

drop function "public"."list_sounds"(text, boolean, boolean, text, integer, timestamp with time zone);

drop function "public"."remove_favorite"(uuid);

drop function "public"."remove_from_history"(uuid);

drop function "public"."touch_last_seen"();

create or replace function private.apply_activation() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  if new.is_active then
    update auth.users
      set banned_until = (select banned_until from private.suspended_bans where customer_id = new.id)
      where id = new.id;
    delete from private.suspended_bans where customer_id = new.id;
  else
    insert into private.suspended_bans
      select id, banned_until from auth.users where id = new.id and banned_until is not null;
    update auth.users set banned_until = private.deactivation_ban() where id = new.id;
    delete from auth.sessions where user_id = new.id;
  end if;
  return null;
end
$$;

create or replace function private.count_play(played_sound uuid, player uuid, idempotency_key text, by_key boolean) returns json
language plpgsql volatile security definer set search_path = '' set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  is_there constant boolean := exists (select from public.sounds where id = played_sound and is_active);
  is_new boolean := is_there;
  is_listener boolean := false;
  today constant date := now() at time zone 'UTC';
  new_count bigint;
begin
  perform set_config('synchronous_commit', 'off', true);
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
    insert into public.play_counts as counter (sound_id, plays) values (played_sound, 1)
      on conflict (sound_id) do update set plays = least(counter.plays + 1, 9007199254740991)
      returning plays into new_count;
    insert into private.plays_by_day as counter (sound_id, day, plays) values (played_sound, today, 1)
      on conflict (sound_id, day) do update set plays = counter.plays + 1;
  elsif exists (
    select from private.play_receipts where user_id = player and key = idempotency_key and sound_id <> played_sound
  ) then
    raise exception 'The key % was used for another sound.', idempotency_key
      using errcode = 'check_violation', constraint = 'key_is_of_one_sound', table = 'play_receipts';
  elsif is_there then
    select plays into new_count from public.play_counts where sound_id = played_sound;
  end if;
  return case when is_there then json_build_object('id', played_sound, 'play_count', coalesce(new_count, 0)) end;
end
$$;

create or replace function private.doctor_revoke_key(prefix text) returns boolean
language plpgsql volatile security definer set search_path = '' as $$
begin
  perform admin.revoke_api_key(key.key_prefix)
    from private.api_keys as key
    where key.key_prefix = left(prefix, 16) and private.is_doctors_account(key.owner_id);
  return found;
end
$$;

create or replace function private.fold_for_search(value text) returns text
language sql immutable parallel safe set search_path = '' as $$
  select lower(extensions.unaccent('extensions.unaccent', normalize(value, nfc)))
$$;

create or replace function private.purge_audit_log() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  delete from auth.audit_log_entries where payload::text like '%' || old.id || '%';
  return null;
-- The table is Auth's: a project in which it is not ours to change, or is gone, must still be able to delete accounts.
exception when insufficient_privilege or undefined_table then
  raise warning 'The entries of account % in auth.audit_log_entries were not deleted: %', old.id, sqlerrm;
  return null;
end
$$;

create or replace function private.reset_unverified_credentials() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  if not private.is_new_account(new.id) then
    new.encrypted_password := ''; -- opens nothing; some versions of Auth cannot read a null
    delete from auth.sessions where user_id = new.id;
    delete from auth.identities
      where user_id = new.id and provider <> 'email' and identity_data ->> 'email_verified' is distinct from 'true';
  end if;
  return new;
end
$$;

create or replace function private.rpc_statement(operation text, arguments jsonb) returns text
language sql stable set search_path = '' as $$
  select format(
    'select to_json(result) from public.%I(%s) as result',
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

create or replace function private.suspend_ban() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  if exists (select from public.customers where id = new.id and not is_active) then
    delete from private.suspended_bans where customer_id = new.id;
    if new.banned_until is not null then
      insert into private.suspended_bans values (new.id, new.banned_until);
    end if;
    new.banned_until := private.deactivation_ban();
  end if;
  return new;
end
$$;

create or replace function private.touch_last_seen() returns boolean
language plpgsql volatile security definer set search_path = '' as $$
declare
  today constant date := now() at time zone 'UTC';
  seen_before timestamptz;
begin
  select last_seen_at into seen_before from public.customers
    where id = auth.uid() and (last_seen_at is null or last_seen_at < now() - interval '15 minutes')
    for no key update;
  if found then
    update public.customers set last_seen_at = now() where id = auth.uid();
    if seen_before is null or seen_before < today::timestamp at time zone 'UTC' then
      insert into private.visitors_by_day as counter values (today, 1)
        on conflict (day) do update set visitors = counter.visitors + 1;
    end if;
    return true;
  end if;
  return false;
end
$$;

create or replace function public.as_api_key(key_hash text, operation text, arguments jsonb default '{}') returns json
language plpgsql volatile set search_path = '' as $$
declare
  owner uuid := private.owner_of_live_key(key_hash);
  statement text := private.rpc_statement(operation, arguments);
  result json;
begin
  if owner is null then
    raise exception 'This API key is unknown, revoked or expired.' using errcode = 'PT401';
  end if;
  if statement is null then
    raise exception 'There is no operation "%" with these arguments.', operation using errcode = 'invalid_parameter_value';
  end if;
  -- Counting is the service's own act, for users as for keys. For anything else this becomes the owner, under row-level
  -- security: a function that is not granted to users is refused.
  if operation not in ('count_play', 'count_plays') then
    perform set_config('request.jwt.claims', jsonb_build_object('sub', owner, 'role', 'authenticated')::text, true);
    perform set_config('role', 'authenticated', true);
  end if;
  execute statement into result using arguments, owner;
  return result;
end
$$;

create or replace function public.clear_history() returns boolean
language plpgsql volatile set search_path = '' as $$
begin
  perform private.require_account();
  delete from public.history where user_id = (select auth.uid());
  return found;
end
$$;

create or replace function public.doctor_revoke_key(prefix text) returns boolean
language sql volatile set search_path = '' as $$ select private.doctor_revoke_key(prefix) $$;

create or replace function public.list_sounds(filters jsonb default '{}') returns json
language sql stable set search_path = '' as $$
  select private.list_sounds(
    left(category, 101), coalesce(include_children, false), featured, left(search, 100), coalesce("limit", 50), cursor
  )
  from jsonb_to_record((filters #>> '{}')::jsonb) as given (
    category text, include_children boolean, featured boolean, search text, "limit" integer, cursor timestamptz
  )
$$;

create or replace function public.remove_favorite(disliked_sound uuid) returns boolean
language plpgsql volatile set search_path = '' set enable_seqscan = off set enable_bitmapscan = off as $$
begin
  perform private.require_account();
  delete from public.favorites where user_id = (select auth.uid()) and sound_id = disliked_sound;
  return found;
end
$$;

create or replace function public.remove_from_history(forgotten_sound uuid) returns boolean
language plpgsql volatile set search_path = '' as $$
begin
  perform private.require_account();
  delete from public.history where user_id = (select auth.uid()) and sound_id = forgotten_sound;
  return found;
end
$$;

create or replace function public.touch_last_seen() returns boolean
language plpgsql volatile set search_path = '' as $$
begin
  return private.touch_last_seen();
end
$$;

create trigger sounds_service_purge_audit_log
  after delete on auth.users for each row execute function private.purge_audit_log();

create trigger sounds_service_reset_unverified_credentials
  before update of email_confirmed_at on auth.users for each row
  when (old.email_confirmed_at is null and new.email_confirmed_at is not null)
  execute function private.reset_unverified_credentials();

create trigger sounds_service_suspend_ban
  before update of banned_until on auth.users for each row
  when (old.banned_until is distinct from new.banned_until
    and new.banned_until is distinct from timestamptz '9999-12-31 00:00:00+00') -- private.deactivation_ban()
  execute function private.suspend_ban();

comment on function "private"."fold_for_search"(text) is 'A text as the search compares it: without case and accents, however they were typed. "Schöne Straße" becomes "schone strasse".';

comment on function "public"."clear_history"() is 'Removes all entries of the caller''s history; false when there is none. Counts of sounds stay.';

comment on function "public"."doctor_revoke_key"(text) is 'Revokes a key of a throw-away account, as an administrator would; false for any other. For npm run doctor alone.';

comment on function "public"."list_sounds"(jsonb) is 'One page of active sounds: {data, next_cursor}. "filters" is an object with the query parameters of GET /sounds.';

comment on function "public"."remove_favorite"(uuid) is 'Removes a favorite of the caller; false when there is none.';

comment on function "public"."remove_from_history"(uuid) is 'Removes a sound from the caller''s history; false when it is not there.';

comment on function "public"."touch_last_seen"() is 'Notes that the caller was here, at most every 15 minutes; whether it did.';

revoke all on function "private"."doctor_revoke_key"(text) from public;

grant execute on function "private"."doctor_revoke_key"(text) to "postgres", "service_role";

revoke all on function "private"."purge_audit_log"() from public;

grant execute on function "private"."purge_audit_log"() to "postgres";

revoke all on function "private"."reset_unverified_credentials"() from public;

grant execute on function "private"."reset_unverified_credentials"() to "postgres";

revoke all on function "private"."suspend_ban"() from public;

grant execute on function "private"."suspend_ban"() to "postgres";

revoke all on function "private"."touch_last_seen"() from public;

grant execute on function "private"."touch_last_seen"() to "authenticated", "postgres";

revoke all on function "public"."clear_history"() from public;

grant execute on function "public"."clear_history"() to "authenticated", "postgres";

revoke all on function "public"."doctor_revoke_key"(text) from public;

grant execute on function "public"."doctor_revoke_key"(text) to "postgres", "service_role";

revoke all on function "public"."list_sounds"(jsonb) from public;

grant execute on function "public"."list_sounds"(jsonb) to "authenticated", "postgres", "service_role";

revoke all on function "public"."remove_favorite"(uuid) from public;

grant execute on function "public"."remove_favorite"(uuid) to "authenticated", "postgres";

revoke all on function "public"."remove_from_history"(uuid) from public;

grant execute on function "public"."remove_from_history"(uuid) to "authenticated", "postgres";

revoke all on function "public"."touch_last_seen"() from public;

grant execute on function "public"."touch_last_seen"() to "authenticated", "postgres";

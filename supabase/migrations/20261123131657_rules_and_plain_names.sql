-- Adds 88, changes 42, drops 13. Made from supabase/schemas by npm run migration.

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

drop view "admin"."catalogue_problems";

drop view "admin"."most_played";

drop function "admin"."fill_section"(text, integer, integer);

drop function "private"."clear_histories"();

drop function "private"."compose_title"();

drop function "private"."count_new_plays"(uuid, text[], uuid[], timestamp with time zone[]);

drop function "private"."count_play"(uuid, uuid, text);

drop function "private"."count_plays"(jsonb, uuid);

drop function "private"."doctor_revoke_key"(text);

drop function "private"."export_account"();

drop function "private"."keep_all_positions"();

drop function "private"."touch_last_seen"();

drop function "public"."clear_history"();

drop function "public"."count_play"(uuid, uuid, text);

drop function "public"."count_plays"(jsonb, uuid);

drop function "public"."doctor_revoke_key"(text);

drop function "public"."list_filtered_sounds"(jsonb);

drop function "public"."list_sounds"(text, boolean, boolean, text, integer, timestamp with time zone);

drop function "public"."remove_favorite"(uuid);

drop function "public"."remove_from_history"(uuid);

drop function "public"."touch_last_seen"();

alter table "private"."listening_days"
  set (fillfactor=50);

alter table "private"."listening_days"
  add column "listened" boolean not null default true;

alter table "private"."listening_days"
  add column "receipts" integer not null default 0;

create or replace function admin.fill_section(slug text, days integer default 7, sounds integer default 10)
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

create or replace function admin.top_sounds(days integer)
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

create or replace function private.count_new_plays(
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

create or replace function private.count_plays(plays jsonb, player uuid, by_key boolean) returns json
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

create or replace function private.doctor_report() returns jsonb
language plpgsql stable security definer set search_path = '' as $$
declare
  migrations jsonb;
begin
  if to_regclass('supabase_migrations.schema_migrations') is not null then
    execute 'select coalesce(jsonb_agg(version order by version), ''[]'') from supabase_migrations.schema_migrations'
      into migrations;
  end if;
  return jsonb_build_object('migrations', migrations, 'schema', private.schema_report());
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

create or replace function private.export_account(out api_keys json, out play_receipts json, out listening_days json)
language sql stable security definer set search_path = '' as $$
  select
    to_json(array(
      select json_build_object('name', name, 'key_prefix', key_prefix)
      from private.api_keys where owner_id = auth.uid() order by created_at, key_prefix
    )),
    to_json(array(
      select json_build_object(
        'key', key, 'sound_id', sound_id,
        'received_at', to_char(received_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
      )
      from private.play_receipts where user_id = auth.uid() order by received_at, key
    )),
    to_json(array(select day from private.listening_days where user_id = auth.uid() and listened order by day))
$$;

create or replace function private.fold_for_search(value text) returns text
language sql immutable parallel safe set search_path = '' as $$
  select lower(extensions.unaccent('extensions.unaccent', normalize(value, nfc)))
$$;

create or replace function private.keep_customer() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  if tg_op = 'TRUNCATE' or exists (select from auth.users where id = old.id) then
    raise exception 'A customer is deleted with the account alone. Delete the account under Authentication > Users; to keep '
      'somebody out, set is_active to false.'
      using errcode = 'check_violation', constraint = 'customer_is_deleted_with_the_account';
  end if;
  return old;
end
$$;

create or replace function private.keep_mirrored() returns trigger
language plpgsql security definer set search_path = '' as $$
declare
  mirrored public.customers;
begin
  select customer.* into mirrored
    from auth.users as account, private.customer_of(account) as customer where account.id = new.id;
  if (new.email, new.provider) is distinct from (mirrored.email, mirrored.provider)
    or new.source is distinct from old.source and new.source is distinct from mirrored.source
  then
    raise exception 'email, provider and source are copied from Authentication. Change the e-mail address under '
      'Authentication > Users; the other two stay as they are.'
      using errcode = 'check_violation', constraint = 'email_provider_and_source_are_copied_from_authentication';
  end if;
  return new;
end
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

create or replace function private.receipts_a_day(by_key boolean) returns integer
language plpgsql immutable set search_path = '' as $$
begin
  return case when by_key then 100000 else 1000 end;
end
$$;

create or replace function private.refuse_at_auth() returns trigger
language plpgsql set search_path = '' as $$
begin
  raise exception '%', tg_argv[0] using errcode = 'feature_not_supported';
end
$$;

create or replace function private.refuse_bucket_in_path() returns trigger
language plpgsql set search_path = '' as $$
declare
  column_name text;
  bucket text;
  path text;
begin
  for column_name, bucket, path in values ('audio_path', 'audio', new.audio_path), ('cover_image_path', 'covers', new.cover_image_path)
  loop
    if starts_with(path, bucket || '/')
      and not exists (select from storage.objects where bucket_id = bucket and name = path)
    then
      raise exception 'Leave the name of the bucket out of %: enter "%" instead of "%".',
        column_name, substr(path, char_length(bucket) + 2), path
        using errcode = 'check_violation', constraint = column_name || '_does_not_begin_with_the_bucket';
    end if;
  end loop;
  return new;
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

create or replace function private.schema_report() returns jsonb
language sql stable set search_path = '' as $$
  with our_schemas as (
    select oid, nspname::text, nspacl from pg_namespace where nspname in ('public', 'private', 'admin')
  ),
  api_roles as (
    select oid, rolname::text as name from pg_roles where rolname in ('anon', 'authenticated', 'service_role')
    union all
    select 0, 'public' -- everybody
  ),
  relations as (
    select relation.oid, relacl, relrowsecurity, relkind in ('r', 'p') as is_table, reloptions, format(
      '%s %I.%I', case when relkind in ('r', 'p') then 'table' else 'view' end, nspname, relname
    ) as object
    from pg_class as relation join our_schemas on our_schemas.oid = relnamespace
    where relkind in ('r', 'p', 'v', 'm')
  ),
  -- Without those of extensions, whose definitions nobody ships here.
  functions as (
    select routine.oid, routine.proname, coalesce(proacl, acldefault('f', proowner)) as acl,
      format('function %I.%I(%s)', nspname, proname, pg_get_function_identity_arguments(routine.oid)) as object
    from pg_proc as routine join our_schemas on our_schemas.oid = pronamespace
    where prokind in ('f', 'p')
      and not exists (select from pg_depend where classid = 'pg_proc'::regclass and objid = routine.oid and deptype = 'e')
  ),
  grants as (
    select 'schema ' || nspname as object, null as column_name, acl.* from our_schemas, aclexplode(nspacl) as acl
      where nspname <> 'public' -- whose grants are the platform's
    union all
    select object, null, acl.* from relations, aclexplode(relacl) as acl
    union all
    select object, quote_ident(attname), acl.*
      from relations join pg_attribute on attrelid = relations.oid, aclexplode(attacl) as acl
      where not attisdropped
    union all
    select object, null, acl.* from functions, aclexplode(acl) as acl
  ),
  aspects (object, aspect, state) as (
    select 'schema ' || nspname, 'name', nspname from our_schemas
    union all
    select object, 'row-level security', case when relrowsecurity then 'on' else 'off' end from relations where is_table
    union all
    select 'role ' || rolname, 'row-level security', case when rolbypassrls then 'off' else 'on' end
      from pg_roles where rolname in ('anon', 'authenticated')
    union all
    select format('role %s', member::regrole), format('membership of %s', roleid::regrole), 'granted'
      from pg_auth_members where member::regrole::text in ('anon', 'authenticated')
    union all
    select object, concat_ws(' ', lower(privilege_type), '(' || column_name || ')', 'to', api_roles.name), 'granted'
      from grants join api_roles on api_roles.oid = grantee
    union all
    select object, format('column %I', attname), concat_ws(
      ' ', format_type(atttypid, atttypmod), case when attnotnull then 'not null' end, nullif(attidentity, ''),
      nullif(attgenerated, ''), 'default ' || pg_get_expr(adbin, adrelid)
    )
      from relations join pg_attribute on attrelid = relations.oid
      left join pg_attrdef on adrelid = attrelid and adnum = attnum
      where attnum > 0 and not attisdropped
    union all
    select object, format('constraint %I', conname), pg_get_constraintdef(pg_constraint.oid)
      from relations join pg_constraint on conrelid = relations.oid where contype <> 'n'
    union all
    select object, format('index %I', relname), pg_get_indexdef(indexrelid)
      from relations join pg_index on indrelid = relations.oid join pg_class on pg_class.oid = indexrelid
      where not exists (select from pg_constraint where conindid = indexrelid)
    union all
    select object, format('policy %I', policyname), concat_ws(
      ' ', 'as', lower(permissive), 'for', lower(cmd), 'to', array_to_string(roles, ', '),
      'using (' || qual || ')', 'with check (' || with_check || ')'
    )
      from relations join pg_policies on object = format('table %I.%I', schemaname, tablename)
    union all
    select format('table %s', tgrelid::regclass), format('trigger %I', tgname),
      case when tgenabled in ('O', 'A') then pg_get_triggerdef(pg_trigger.oid) else 'off' end
      from pg_trigger
      where not tgisinternal
        and (tgrelid in (select oid from relations union all select 'auth.users'::regclass) or tgfoid in (select oid from functions))
    union all
    -- Of a view not its definition, which each release of Postgres writes in its own way.
    select object, 'security_invoker', case when reloptions @> '{security_invoker=true}' then 'on' else 'off' end
      from relations where not is_table
    union all
    -- As if every line ended as here: what is pasted on Windows ends its lines in two characters.
    select object, 'definition', md5(replace(pg_get_functiondef(oid), e'\r', '')) from functions
  ),
  objects as (select object, jsonb_object_agg(aspect, state) as aspects from aspects group by object)
  select jsonb_object_agg(object, aspects) from objects
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

create or replace function private.withhold_address() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  if not exists (select from auth.users where id = new.user_id and lower(email) = lower(new.identity_data ->> 'email')) then
    new.identity_data := new.identity_data - 'email';
  end if;
  return new;
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

create or replace function public.count_play(
  played_sound uuid, player uuid default null, idempotency_key text default null, by_key boolean default false
) returns json
-- A function in plain SQL would be planned anew for each call.
language plpgsql volatile set search_path = '' as $$
begin
  return private.count_play(played_sound, player, idempotency_key, by_key);
end
$$;

create or replace function public.count_plays(plays jsonb, player uuid default null, by_key boolean default false) returns json
language sql volatile set search_path = '' as $$ select private.count_plays(plays, player, by_key) $$;

create or replace function public.doctor_revoke_key(prefix text) returns boolean
language sql volatile set search_path = '' as $$ select private.doctor_revoke_key(prefix) $$;

create or replace function public.export_account() returns json
language sql stable set search_path = '' as $$
  select private.require_account();
  select json_build_object(
    'profile', json_build_object(
      'id', auth.uid(), 'email', coalesce(customer.email, auth.jwt() ->> 'email'),
      'full_name', customer.full_name, 'avatar_url', customer.avatar_url
    ),
    'customer', case when customer.id is not null then row_to_json(customer) end,
    'favorites', array(select favorite from private.favorite as favorite),
    'history', array(select entry from private.history_entry as entry),
    'api_keys', hidden.api_keys,
    'play_receipts', hidden.play_receipts,
    'listening_days', hidden.listening_days
  )
  from private.export_account() as hidden
  left join private.customer as customer on customer.id = (select auth.uid())
$$;

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

create or replace function public.validate_sounds(sounds json) returns json
language plpgsql set search_path = '' as $$
declare
  candidate record;
  refused json[] := '{}';
begin
  for candidate in
    select ordinality - 1 as index, value from json_array_elements(sounds) with ordinality
  loop
    begin
      insert into public.sounds (
        title, description, bowl_note, frequency_hz, duration_sec, tags, cover_image_path, audio_path, sort_order,
        created_at
      )
      -- A folder may be named like a bucket: its files are there by the time the row is written.
      select
        title, description, bowl_note, frequency_hz, duration_sec, tags, regexp_replace(cover_image_path, '^(covers/)+', ''),
        regexp_replace(audio_path, '^(audio/)+', ''), coalesce(sort_order, 0), coalesce(created_at, now())
      from json_populate_record(null::public.sounds, candidate.value);
      raise sqlstate 'SSOK0';
    exception
      when sqlstate 'SSOK0' then
        null;
      when integrity_constraint_violation or data_exception then
        refused := refused || json_build_object('index', candidate.index, 'message', sqlerrm);
    end;
  end loop;
  return to_json(refused);
end
$$;

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

create view admin.unused_files with (security_invoker = true) as
  select bucket_id as bucket, name, round((metadata ->> 'size')::numeric / (1024 * 1024), 1) as megabytes, created_at as uploaded_at, id
  from (
      select * from storage.objects
      where bucket_id = 'audio' and not exists (select from public.sounds where audio_path = objects.name)
      union all
      select * from storage.objects
      where bucket_id = 'covers' and not exists (select from public.sounds where cover_image_path = objects.name)
    ) as unused
  where name !~ '(^|/)\.emptyFolderPlaceholder$'
  order by bucket, name;

create view admin.catalogue_problems with (security_invoker = true) as
  with files as (
    select
      sound.id, sound.title, wanted.*, object.metadata ->> 'mimetype' as found_type, object.id is not null as is_there
    from public.sounds as sound
      cross join lateral (values
        ('audio', 'audio_path', sound.audio_path, 'audio', '\.(aac|flac|m4a|mp3|mp4|oga|ogg|opus|wav|webm)$'),
        ('cover', 'cover_image_path', sound.cover_image_path, 'covers', '\.(avif|jpe?g|png|webp)$')
      ) as wanted (what, column_name, path, bucket, extensions)
      left join storage.objects as object on object.bucket_id = wanted.bucket and object.name = wanted.path
    where sound.is_active and wanted.path is not null
  ),
  active_sounds as (
    select id as section_id, cardinality(private.sounds_of_section(section)) as count
    from public.home_sections as section
    where is_active
  )
  select 'sound_without_audio' as problem, format('sound "%s"', title) as concerns, id,
    'Upload its file to the bucket audio and enter the name in audio_path; until then, set is_active to false.'
      as how_to_mend
  from public.sounds where is_active and audio_path is null
  union all
  select what || '_file_missing', format('sound "%s"', title), id,
    format('The bucket %s has no file "%s". Upload it under exactly this name, or correct %s.', bucket, path, column_name)
  from files where not is_there
  union all
  select what || '_file_has_wrong_type', format('sound "%s"', title), id,
    format(
      'The file "%s" in the bucket %s is of type %s. Upload one whose type and extension are those of %s, and enter its '
      'name in %s.',
      path, bucket, coalesce(found_type, 'unknown'), case what when 'audio' then 'a recording' else 'a picture' end,
      column_name
    )
  from files
  where is_there and (found_type is null or split_part(found_type, '/', 1) <> case what when 'audio' then 'audio' else 'image' end
    or path !~* extensions)
  union all
  select 'sound_without_duration', format('sound "%s"', title), id,
    'Enter the length of its audio in seconds in duration_sec.'
  from public.sounds where is_active and duration_sec is null
  union all
  select 'file_name_cannot_be_entered', format('file "%s" in the bucket %s', name, bucket_id), id,
    'Rename it in Storage: letters, digits, dots, hyphens and underscores, ending in an extension such as .mp3 or .jpg.'
  from storage.objects
  where bucket_id in ('audio', 'covers') and not private.is_file_path(name) and name !~ '(^|/)\.emptyFolderPlaceholder$'
  union all
  select 'file_is_unused', format('file "%s" in the bucket %s', name, bucket), id,
    'Enter its name in a sound, or delete the file in Storage. The view unused_files lists all of them.'
  from admin.unused_files where private.is_file_path(name)
  union all
  select 'active_category_under_inactive_parent', format('category "%s"', child.slug), child.id,
    format('Set is_active of its parent "%s" to true, set its own to false, or empty its parent_id.', parent.slug)
  from public.categories as child join public.categories as parent on parent.id = child.parent_id
  where child.is_active and not parent.is_active
  union all
  select 'category_without_sounds', format('category "%s"', slug), id,
    format('Enter "%s" as the category of active sounds, or set is_active of the category to false.', slug)
  from public.categories as category
  where is_active and not exists (
    select from public.sounds where is_active and category = any (private.category_family(slug, true))
  )
  union all
  select 'section_without_picks', format('home section "%s"', slug), id,
    'Add rows to home_section_sounds that name active sounds, or set is_active of the section to false.'
  from public.home_sections join active_sounds on section_id = id where mode = 'manual' and count = 0
  union all
  select 'rule_finds_nothing', format('home section "%s"', slug), id,
    case rule_type
      when 'category' then format('Enter "%s" as the category of active sounds, choose another rule_value, ', rule_value)
      when 'featured' then 'Set is_featured of some active sounds to true, '
      else 'Set is_active of some sounds to true, '
    end || 'or set is_active of the section to false.'
  from public.home_sections join active_sounds on section_id = id where mode = 'rule' and count = 0
  union all
  select 'picks_are_ignored', format('home section "%s"', slug), id,
    'The section fills itself by its rule. Delete its rows in home_section_sounds, or set mode to manual and rule_type and '
    'rule_value to NULL.'
  from public.home_sections as section
  where mode = 'rule' and exists (select from public.home_section_sounds where section_id = section.id)
  order by 1, 2, 3;

create trigger sounds_service_withhold_address
  before insert or update of identity_data on auth.identities for each row
  when (new.provider <> 'email' and new.identity_data ? 'email' and new.identity_data ->> 'email_verified' is distinct from 'true')
  execute function private.withhold_address();

create trigger sounds_service_refuse_factor
  before insert on auth.mfa_factors for each row
  execute function private.refuse_at_auth('The service knows no second factors.');

create trigger sounds_service_purge_audit_log
  after delete on auth.users for each row execute function private.purge_audit_log();

create trigger sounds_service_refuse_change
  before update of email_change, phone_change on auth.users for each row
  when (coalesce(new.email_change, '') not in ('', coalesce(old.email_change, ''))
    or coalesce(new.phone_change, '') not in ('', coalesce(old.phone_change, '')))
  execute function private.refuse_at_auth('Only administrators change the e-mail address of an account, and nobody signs in by phone.');

create trigger sounds_service_refuse_phone
  before insert on auth.users for each row
  when (coalesce(new.phone, '') <> '' and coalesce(new.email, '') = '')
  execute function private.refuse_at_auth('The service knows no accounts by phone.');

create trigger sounds_service_reset_unverified_credentials
  before update of email_confirmed_at on auth.users for each row
  when (old.email_confirmed_at is null and new.email_confirmed_at is not null)
  execute function private.reset_unverified_credentials();

create trigger sounds_service_suspend_ban
  before update of banned_until on auth.users for each row
  when (old.banned_until is distinct from new.banned_until
    and new.banned_until is distinct from timestamptz '9999-12-31 00:00:00+00') -- private.deactivation_ban()
  execute function private.suspend_ban();

create trigger customers_keep_all
  before truncate on public.customers for each statement execute function private.keep_customer();

create trigger customers_keep_mirrored
  before update of email, provider, source on public.customers for each row
  when (old.email is distinct from new.email or old.provider is distinct from new.provider or old.source is distinct from new.source)
  execute function private.keep_mirrored();

create trigger customers_keep
  before delete on public.customers for each row execute function private.keep_customer();

create trigger sounds_refuse_bucket_in_path
  before insert or update of audio_path, cover_image_path on public.sounds for each row
  when (new.audio_path like 'audio/%' or new.cover_image_path like 'covers/%')
  execute function private.refuse_bucket_in_path();

comment on column "private"."listening_days"."listened" is 'Whether the user is among the listeners of the day. Who sends plays of earlier days alone is not.';

comment on column "private"."listening_days"."receipts" is 'How many receipts of plays arrived on the day: at most private.receipts_a_day.';

comment on function "admin"."fill_section"(text, integer, integer) is 'Fills a section with mode manual with the active sounds that come first in admin.top_sounds, and returns them. Where nothing was played, the section stays as it is.';

comment on function "admin"."top_sounds"(integer) is 'What was listened to in the last days, today included: the sounds with the most listeners first, among equal ones those that were played on the most days.';

comment on function "private"."count_new_plays"(uuid, text[], uuid[], timestamp
  with time zone[], boolean) is 'Counts the plays of the last 30 days that have no receipt yet, as many as the user may still leave today, and returns their positions. Of equal keys the first counts.';

comment on function "private"."fold_for_search"(text) is 'A text as the search compares it: without case and accents, however they were typed. "Schöne Straße" becomes "schone strasse".';

comment on function "private"."receipts_a_day"(boolean) is 'How many receipts a user may leave on a day (UTC, by arrival), so that no account fills the disk. An API key acts for many.';

comment on function "private"."refuse_at_auth"() is 'Refuses what users may ask of Auth and the service does not use, with the sentence it is given.';

comment on function "private"."schema_report"() is 'What stands in our schemas, and how: row-level security, policies, grants to the roles of the API, columns, constraints, indexes, triggers, and a hash of each function.';

comment on function "public"."clear_history"() is 'Removes all entries of the caller''s history; false when there is none. Counts of sounds stay.';

comment on function "public"."count_play"(uuid, uuid, text, boolean) is 'Counts one play of an active sound by a user, once for each key; returns the count, or null where there is no such sound. "by_key" says that an API key plays.';

comment on function "public"."count_plays"(jsonb, uuid, boolean) is 'Counts plays [{id, sound_id, played_at}] by a user, once for each id; returns [{id, status}] in the same order. "by_key" says that an API key plays.';

comment on function "public"."doctor_report"() is 'Which migrations the database has seen, and what stands in our schemas. For npm run doctor alone.';

comment on function "public"."doctor_revoke_key"(text) is 'Revokes a key of a throw-away account, as an administrator would; false for any other. For npm run doctor alone.';

comment on function "public"."export_account"() is 'Everything that is kept of the caller: the data of GET /me/export.';

comment on function "public"."list_sounds"(jsonb) is 'One page of active sounds: {data, next_cursor}. "filters" is an object with the query parameters of GET /sounds.';

comment on function "public"."remove_favorite"(uuid) is 'Removes a favorite of the caller; false when there is none.';

comment on function "public"."remove_from_history"(uuid) is 'Removes a sound from the caller''s history; false when it is not there.';

comment on function "public"."touch_last_seen"() is 'Notes that the caller was here, at most every 15 minutes; whether it did.';

comment on table "private"."listening_days" is 'Who listened or sent plays on a day (UTC); kept for 31 days, in which plays of that day may still come.';

comment on table "public"."customers" is 'One row for each account, made and deleted with it. Set is_active to false to lock somebody out.';

comment on view "admin"."catalogue_problems" is 'What listeners would notice, and files that only take up space: one row for each problem, with what to do about it. Problems of hidden sounds are left out.';

comment on view "admin"."most_played" is 'Listeners and plays of each sound in the last 7, 30 and 365 days, today included; the sounds with the most listeners in the last 30 days first.';

comment on view "admin"."unused_files" is 'Files in the buckets audio and covers that no sound names, not even a hidden one. Delete them in Storage, or with the command of docs/admin.md.';

revoke all on function "admin"."fill_section"(text, integer, integer) from public;

grant execute on function "admin"."fill_section"(text, integer, integer) to "postgres";

revoke all on function "admin"."top_sounds"(integer) from public;

grant execute on function "admin"."top_sounds"(integer) to "postgres";

revoke all
  on function "private"."count_new_plays"(uuid, text[], uuid[], timestamp with time zone[], boolean)
  from public;

grant execute
  on function "private"."count_new_plays"(uuid, text[], uuid[], timestamp with time zone[], boolean)
  to "postgres";

revoke all on function "private"."count_play"(uuid, uuid, text, boolean) from public;

grant execute on function "private"."count_play"(uuid, uuid, text, boolean) to "postgres", "service_role";

revoke all on function "private"."count_plays"(jsonb, uuid, boolean) from public;

grant execute on function "private"."count_plays"(jsonb, uuid, boolean) to "postgres", "service_role";

revoke all on function "private"."doctor_revoke_key"(text) from public;

grant execute on function "private"."doctor_revoke_key"(text) to "postgres", "service_role";

revoke all on function "private"."export_account"() from public;

grant execute on function "private"."export_account"() to "authenticated", "postgres";

revoke all on function "private"."keep_customer"() from public;

grant execute on function "private"."keep_customer"() to "postgres";

revoke all on function "private"."keep_mirrored"() from public;

grant execute on function "private"."keep_mirrored"() to "postgres";

revoke all on function "private"."purge_audit_log"() from public;

grant execute on function "private"."purge_audit_log"() to "postgres";

revoke all on function "private"."receipts_a_day"(boolean) from public;

grant execute on function "private"."receipts_a_day"(boolean) to "postgres";

revoke all on function "private"."refuse_at_auth"() from public;

grant execute on function "private"."refuse_at_auth"() to "postgres";

revoke all on function "private"."refuse_bucket_in_path"() from public;

grant execute on function "private"."refuse_bucket_in_path"() to "postgres";

revoke all on function "private"."reset_unverified_credentials"() from public;

grant execute on function "private"."reset_unverified_credentials"() to "postgres";

revoke all on function "private"."schema_report"() from public;

grant execute on function "private"."schema_report"() to "postgres";

revoke all on function "private"."suspend_ban"() from public;

grant execute on function "private"."suspend_ban"() to "postgres";

revoke all on function "private"."touch_last_seen"() from public;

grant execute on function "private"."touch_last_seen"() to "authenticated", "postgres";

revoke all on function "private"."withhold_address"() from public;

grant execute on function "private"."withhold_address"() to "postgres";

revoke all on function "public"."clear_history"() from public;

grant execute on function "public"."clear_history"() to "authenticated", "postgres";

revoke all on function "public"."count_play"(uuid, uuid, text, boolean) from public;

grant execute on function "public"."count_play"(uuid, uuid, text, boolean) to "postgres", "service_role";

revoke all on function "public"."count_plays"(jsonb, uuid, boolean) from public;

grant execute on function "public"."count_plays"(jsonb, uuid, boolean) to "postgres", "service_role";

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

grant delete, insert, references, select, trigger, truncate, update
  on table "admin"."catalogue_problems"
  to "postgres";

grant delete, insert, references, select, trigger, truncate, update
  on table "admin"."most_played"
  to "postgres";

grant delete, insert, references, select, trigger, truncate, update
  on table "admin"."unused_files"
  to "postgres";

-- By hand.
-- Changes of address that were begun end here. The trigger takes unverified addresses out of identities that have them already.
update auth.users
  set email_change = '', email_change_token_new = '', email_change_token_current = '', phone_change = '', phone_change_token = ''
  where email_change <> '' or phone_change <> '';
update auth.identities set identity_data = identity_data
  where provider <> 'email' and identity_data ? 'email' and identity_data ->> 'email_verified' is distinct from 'true';

-- Views and functions for administrators, in the dashboard. API roles have no usage on the schema admin.

create view admin.api_keys with (security_invoker = true) as
  select key.key_prefix, key.name, owner.email as owner_email, case
      when key.revoked_at is not null then 'revoked'
      when key.expires_at <= now() then 'expired'
      when account.deleted_at is not null then 'owner deleted'
      when not owner.is_active then 'owner deactivated'
      when account.banned_until > now() then 'owner banned'
      else 'live'
    end as state, key.last_used_at, key.created_at, key.expires_at, key.revoked_at, key.scope
  from private.api_keys as key
    join public.customers as owner on owner.id = key.owner_id
    join auth.users as account on account.id = key.owner_id
  order by key.created_at desc, key.key_prefix;
comment on view admin.api_keys is
  'API keys, newest first. Issue them with admin.create_api_key, revoke them with admin.revoke_api_key.';
comment on column admin.api_keys.key_prefix is 'First 16 characters of the key, to identify and revoke it.';
comment on column admin.api_keys.state is
  'State of the key: live (accepted), revoked, expired, owner deactivated, owner banned or owner deleted.';
comment on column admin.api_keys.scope is 'What the key may do: all, read or catalogue.';
comment on column admin.api_keys.last_used_at is 'Time of the last use, updated at most once a minute.';

-- Omits the hidden files that the dashboard adds to empty folders.
create view admin.unused_files with (security_invoker = true) as
  with used as (
    select 'audio' as bucket, audio_path as path from public.sounds
    union all
    select 'covers', cover_image_path from public.sounds
  ),
  uploaded as (
    select id, bucket_id, name, metadata, created_at,
      case bucket_id when 'covers' then regexp_replace(name, '\.256\.webp$', '') else name end as path
    from storage.objects
    where bucket_id in ('audio', 'covers') and name !~ '(^|/)\.emptyFolderPlaceholder$'
  )
  select bucket_id as bucket, name, round((metadata ->> 'size')::numeric / (1024 * 1024), 1) as megabytes,
    created_at as uploaded_at, id
  from uploaded
  where not exists (select from used where bucket = bucket_id and used.path = uploaded.path)
  order by bucket, name;
comment on view admin.unused_files is
  'Files that no sound uses, not even a hidden one or one in the trash, with their small versions. Delete them as in '
  'docs/admin.md.';

-- Each of the next views finds one kind of problem. admin.catalogue_problems unites them.

create view private.sound_problems with (security_invoker = true) as
  select 'sound_without_audio' as problem, format('sound "%s"', title) as concerns, id,
    'Upload its file to the bucket audio and enter the name in audio_path; until then, set is_active to false.'
      as how_to_mend
  from public.sounds where is_active and audio_path is null

  union all select 'sound_without_duration', format('sound "%s"', title), id,
    'Enter the length of its audio in seconds in duration_sec.'
  from public.sounds where is_active and duration_sec is null

  union all select 'premium_file_is_public', format('sound "%s"', title), sound.id,
    format('Everybody can download "%s" from the bucket %s. Delete it there, or make the bucket private.',
      audio_path, bucket_id)
  from public.sounds as sound
    join storage.objects on objects.name = audio_path
    join storage.buckets on buckets.id = bucket_id
  where sound.is_premium and buckets.public

  union all select 'premium_file_is_free', format('sound "%s"', title), id,
    format('A sound that is free has the same file, "%s". Set is_premium of both to the same value.', audio_path)
  from public.sounds as sound
  where is_active and is_premium
    and exists (select from public.sounds where is_active and not is_premium and audio_path = sound.audio_path);

create view private.named_file with (security_invoker = true) as
  select sound.id as sound_id, sound.title, named.*, object.id is not null as is_there,
    object.metadata ->> 'mimetype' as stored_type
  from public.sounds as sound
    cross join lateral (values
      ('audio', 'audio', 'audio_path', audio_path, 'audio', '\.(aac|flac|m4a|mp3|mp4|oga|ogg|opus|wav|webm)$'),
      ('cover', 'covers', 'cover_image_path', cover_image_path, 'image', '\.(avif|jpe?g|png|webp)$')
    ) as named (what, bucket, column_name, path, kind, extensions)
    left join storage.objects as object on object.bucket_id = bucket and object.name = path
  where sound.is_active and path is not null;
comment on view private.named_file is 'Files that active sounds name, with the type that Storage has for them.';

create view private.file_problems with (security_invoker = true) as
  select what || '_file_missing' as problem, format('sound "%s"', title) as concerns, sound_id as id,
    format('The bucket %s has no file "%s". Upload it under exactly this name, or correct %s.',
      bucket, path, column_name) as how_to_mend
  from private.named_file where not is_there

  union all select what || '_file_has_wrong_type', format('sound "%s"', title), sound_id,
    format('The file "%s" in the bucket %s is of type %s. Upload one whose type and extension are those of %s, and '
      'enter its name in %s.', path, bucket, coalesce(stored_type, 'unknown'),
      case what when 'audio' then 'a recording' else 'a picture' end, column_name)
  from private.named_file
  where is_there and (split_part(stored_type, '/', 1) is distinct from kind or path !~* extensions)

  union all select 'file_name_cannot_be_entered', format('file "%s" in the bucket %s', name, bucket_id), id,
    'Rename it in Storage: letters, digits, dots, hyphens and underscores, ending in an extension such as .mp3 or .jpg.'
  from storage.objects
  where bucket_id in ('audio', 'covers') and not private.is_file_path(name)
    and name !~ '(^|/)\.emptyFolderPlaceholder$'

  union all select 'file_is_unused', format('file "%s" in the bucket %s', name, bucket), id,
    'Enter its name in a sound, or delete the file in Storage. The view unused_files lists all of them.'
  from admin.unused_files where private.is_file_path(name);

create view private.category_problems with (security_invoker = true) as
  select 'active_category_under_inactive_parent' as problem, format('category "%s"', child.slug) as concerns, child.id,
    format('Set is_active of its parent "%s" to true, set its own to false, or empty its parent_id.', parent.slug)
      as how_to_mend
  from public.categories as child join public.categories as parent on parent.id = child.parent_id
  where child.is_active and not parent.is_active

  union all select 'category_without_sounds', format('category "%s"', slug), id,
    format('Enter "%s" as the category of active sounds, or set is_active of the category to false.', slug)
  from public.categories
  where is_active and not exists (
    select from public.sounds where is_active and category = any (private.category_family(slug, true)));

create view private.section_problems with (security_invoker = true) as
  with shown as (
    select section.*, private.sounds_of_section(section) as sound_ids
    from public.home_sections as section where is_active
  )
  select case mode when 'manual' then 'section_without_picks' else 'rule_finds_nothing' end as problem,
    format('home section "%s"', slug) as concerns, id,
    case coalesce(rule_type, mode)
      when 'manual' then 'Add rows to home_section_sounds that name active sounds, '
      when 'category' then
        format('Enter "%s" as the category of active sounds, choose another rule_value, ', rule_value)
      when 'featured' then 'Set is_featured of some active sounds to true, '
      else 'Set is_active of some sounds to true, '
    end || 'or set is_active of the section to false.' as how_to_mend
  from shown where cardinality(sound_ids) = 0

  union all select 'picks_are_ignored', format('home section "%s"', slug), id,
    'The section fills itself by its rule. Delete its rows in home_section_sounds, or set mode to manual and rule_type '
    'and rule_value to NULL.'
  from public.home_sections as section
  where mode = 'rule' and exists (select from public.home_section_sounds where section_id = section.id)

  union all select 'home_page_is_premium', 'home page', null,
    'Show a sound in one of its sections whose is_premium is false, so that everybody finds something to play.'
  from shown join public.sounds on sounds.id = any (sound_ids) having bool_and(is_premium);

create view admin.catalogue_problems with (security_invoker = true) as
  select * from private.sound_problems
  union all select * from private.file_problems
  union all select * from private.category_problems
  union all select * from private.section_problems
  union all select * from private.trash_problems
  order by problem, concerns, id;
comment on view admin.catalogue_problems is
  'Unused files, the trash, and problems that listeners notice, each with its fix. Of hidden sounds, only public '
  'premium files.';
comment on column admin.catalogue_problems.id is 'Id of the row or the stored file that has the problem.';

create view admin.home_explained with (security_invoker = true) as
  with families as materialized (
    select id as section_id, private.category_family(rule_value, rule_include_children) as slugs
    from public.home_sections where rule_type = 'category'
  ),
  candidates as (
    select section_id, sound_id, true as is_picked from public.home_section_sounds
    union all select section.id, sound.id, false
    from public.home_sections as section
      left join families on families.section_id = section.id
      join public.sounds as sound
        on section.rule_type = 'newest'
        or section.rule_type = 'featured' and sound.is_featured
        or sound.category = any (families.slugs)
  ),
  shown as (
    select section.id as section_id, sound.id as sound_id, sound.position
    from public.home_sections as section
      cross join unnest(private.sounds_of_section(section)) with ordinality as sound (id, position)
    where section.is_active
  ),
  sections as (
    select *, case when is_active then
      row_number() over (partition by is_active order by sort_order, created_at, id) end as section_position
    from public.home_sections
  )
  select section_position, section.slug as section,
    section.mode || coalesce(': ' || section.rule_type, '') || coalesce(' ' || section.rule_value, '')
      || case when section.rule_include_children then ' and its sub-intentions' else '' end as filled_by,
    case when is_picked is not distinct from (section.mode = 'manual') then shown.position end as position,
    sound.title as sound, sound.id as sound_id, case
      when section.deleted_at is not null then 'Not shown: the section is in the trash.'
      when not section.is_active then 'Not shown: the section is inactive.'
      when sound.id is null then 'The section is empty: no sound fits it.'
      when is_picked and section.mode = 'rule' then 'Not shown: picks count only in mode manual.'
      when shown.position is not null then 'Shown.'
      when sound.deleted_at is not null then 'Not shown: the sound is in the trash.'
      when not sound.is_active then 'Not shown: the sound is inactive.'
      else format('Not shown: beyond the item_limit of %s.', section.item_limit)
    end as why
  from sections as section
    left join candidates on candidates.section_id = section.id
    left join public.sounds as sound on sound.id = candidates.sound_id
    left join shown on shown.section_id = section.id and shown.sound_id = candidates.sound_id
  order by section_position nulls last, section.slug, 4 nulls last, sound.title, sound.id;
comment on view admin.home_explained is
  'Current sections of the home page, their sounds, and the reason why other matching sounds are not shown.';
comment on column admin.home_explained.section_position is 'Position of the section. Null if it is inactive.';
comment on column admin.home_explained.position is 'Position of the sound. Null if it is not shown.';

-- Orders by listeners, because one account can make thousands of plays; then by days, because users repeat sounds that
-- they like. The history has one row for each listener, also for the owner of an API key.
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
  'Returns the sounds played in the given number of days, today included, by listeners, then by days with plays.';

create function admin.fill_section(slug text, days integer default 7, sounds integer default 10)
returns table (place integer, sound_id uuid, title text, listeners bigint, days_played bigint, plays bigint)
language plpgsql volatile set search_path = '' as $$
#variable_conflict use_column
declare
  section public.home_sections;
  found_sounds integer;
begin
  if (days between 1 and 365 and sounds between 1 and 100) is not true then
    raise exception 'days is % and sounds is %: look back on 1 to 365 days, for 1 to 100 sounds.', days, sounds;
  end if;
  select home_sections.* into section from public.home_sections
    where home_sections.slug = fill_section.slug and deleted_at is null for update;
  if section.mode is distinct from 'manual' then
    raise exception 'No home section "%" has mode manual. Correct the slug, or set its mode to manual, and rule_type '
      'and rule_value to NULL.', slug;
  end if;
  return query
    with played as (
      select row_number() over ()::integer as place, top.sound_id, top.title, top.listeners, top.days_played, top.plays
      from admin.top_sounds(fill_section.days) as top where top.is_active limit fill_section.sounds
    ), emptied as (
      delete from public.home_section_sounds
        where section_id = section.id and sound_id not in (select played.sound_id from played)
    ), filled as (
      insert into public.home_section_sounds (section_id, sound_id, position)
        select section.id, played.sound_id, 10 * played.place from played
        on conflict (section_id, sound_id) do update set position = excluded.position
    )
    select * from played order by place;
  get diagnostics found_sounds = row_count;
  if found_sounds < sounds then
    raise exception 'Only % active sounds were played in the last % days, so the section stays as it is. Ask for fewer '
      'sounds, or look back on more days.', found_sounds, days;
  end if;
end
$$;
comment on function admin.fill_section is
  'Fills a manual section with the first active sounds of admin.top_sounds. Changes nothing if there are too few.';

create function admin.arrange_section(slug text, titles text[]) returns table (place integer, title text, sound_id uuid)
language plpgsql volatile set search_path = '' as $$
#variable_conflict use_column
declare
  section constant uuid := (
    select id from public.home_sections
    where home_sections.slug = arrange_section.slug and mode = 'manual' and deleted_at is null);
  problems text;
begin
  with wanted_titles as (
    select wanted, count(*) as named,
      (select count(*) from public.sounds where title = wanted and deleted_at is null) as found
    from unnest(titles) as wanted group by wanted
  )
  select string_agg(
      case when named > 1 then format('"%s" is named %s times', wanted, named)
        else format('"%s" is the title of %s sounds', coalesce(wanted, 'NULL'), found) end,
      ', ' order by wanted
    ) into problems
    from wanted_titles where named > 1 or found <> 1;
  if section is null then
    raise exception 'No home section "%" has mode manual.', slug;
  elsif coalesce(cardinality(titles), 0) = 0 then
    raise exception 'There are no titles. To empty a section, delete its rows of home_section_sounds.';
  elsif problems is not null then
    raise exception '%. Correct the title here, or rename the sound.', problems;
  end if;
  delete from public.home_section_sounds where section_id = section;
  return query
    with arranged as (
      insert into public.home_section_sounds (section_id, sound_id, position)
        select section, sounds.id, 10 * place
        from unnest(titles) with ordinality as wanted (title, place) join public.sounds using (title)
        where sounds.deleted_at is null
        returning sound_id, position
    )
    select (position / 10)::integer, sounds.title, sounds.id
    from arranged join public.sounds on sounds.id = sound_id
    order by position;
end
$$;
comment on function admin.arrange_section is
  'Replaces the sounds of a manual section by the sounds with these titles, in this order.';

create function admin.time_zone(moment text) returns text language plpgsql immutable set search_path = '' as $$
declare
  words constant text[] := regexp_match(
    moment, '^\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)? ?(\w+(?:/[\w+-]+)+|UTC|Z|[+-]\d\d:?\d\d)$');
begin
  if words is null then
    raise exception '"%" is not a moment. Write the date as YYYY-MM-DD, the time, and a zone: a name with a slash, UTC '
      'or an offset. For example: 2030-01-04 09:30 Europe/Berlin, 2030-01-04 08:30 UTC, 2030-01-04 09:30 +01:00',
      moment;
  end if;
  return case words[1] when 'Z' then 'UTC' else words[1] end;
end
$$;
comment on function admin.time_zone is
  'Returns the zone of a moment that a person wrote: a name with a slash, UTC or an offset. Rejects others, because '
  'abbreviations have several meanings (IST is the time of India, of Ireland and of Israel).';

create function admin.moment(written text) returns timestamptz language plpgsql stable set search_path = '' as $$
begin
  perform admin.time_zone(written);
  return written::timestamptz;
end
$$;
comment on function admin.moment is
  'Returns the moment that a person wrote, for example 2030-01-04 09:30 Europe/Berlin.';

create function private.local_time(moment timestamptz, zone text) returns text
language plpgsql stable set search_path = '' as $$
declare
  -- Converts an offset to an interval, because Postgres reads a zone such as '+01:00' with the opposite sign.
  there constant timestamp := case
    when zone ~ '^[+-]' then moment at time zone zone::interval else moment at time zone zone end;
begin
  return to_char(there, 'YYYY-MM-DD HH24:MI ') || zone;
end
$$;

create function private.require_found(is_found boolean, what text, name text) returns void
language plpgsql immutable set search_path = '' as $$
begin
  if not is_found then
    raise exception 'There is no %: "%". Correct it, and run this again.', what, name;
  end if;
end
$$;
comment on function private.require_found is 'Rejects a name, in a snippet, of which there is no row.';

create function admin.sounds_named(title text) returns setof public.sounds
language plpgsql stable set search_path = '' as $$
begin
  return query select * from public.sounds where sounds.title = sounds_named.title and deleted_at is null;
  perform private.require_found(found, 'sound with this title', title);
end
$$;
comment on function admin.sounds_named is
  'Returns the sounds with this title, without the trash. An unknown title is an error.';

create function admin.section_named(slug text) returns setof public.home_sections
language plpgsql stable set search_path = '' as $$
begin
  return query
    select * from public.home_sections where home_sections.slug = section_named.slug and deleted_at is null;
  perform private.require_found(found, 'section of the home page with this slug', slug);
end
$$;
comment on function admin.section_named is
  'Returns the section with this slug, unless it is in the trash. An unknown slug is an error.';

create function admin.customer_named(email text) returns setof public.customers
language plpgsql stable set search_path = '' as $$
begin
  return query select * from public.customers where lower(customers.email) = lower(customer_named.email);
  perform private.require_found(found, 'customer with this e-mail address', email);
end
$$;
comment on function admin.customer_named is 'Returns the customer with this address. An unknown address is an error.';

-- Requires a moment in the future, because schedules of Supabase Cron have no year: a job that misses its minute runs a
-- year later. The command then does nothing, because more than a day has passed since the moment.
create function admin.schedule_activation(kind text, id uuid, is_active boolean, moment timestamptz) returns text
language plpgsql volatile set search_path = '' as $$
declare
  job constant text := concat_ws(' ', case when is_active then 'publish' else 'hide' end, kind, id);
  minute constant timestamptz := date_trunc('minute', moment);
  table_name constant text := case kind when 'sound' then 'sounds' when 'section' then 'home_sections' end;
  is_there boolean;
begin
  if table_name is null then
    raise exception 'The kind is "%". It must be sound or section.', kind;
  end if;
  execute format('select exists (select from public.%I where id = $1)', table_name) into is_there using id;
  perform private.require_found(is_there, kind || ' with this id', id::text);
  if (minute between now() + interval '30 seconds' and now() + interval '364 days') is not true then
    raise exception '% is not within the next 364 days. Give a moment at least two minutes from now.',
      coalesce(moment::text, 'NULL');
  elsif to_regprocedure('cron.schedule(text, text, text)') is null then
    raise exception 'Supabase Cron is off. Switch it on under Integrations.';
  end if;
  perform cron.schedule(
    job, to_char(minute at time zone 'UTC', 'FMMI FMHH24 FMDD FMMM *'),
    format(
      'update public.%I set is_active = %L where id = %L and deleted_at is null and now() < %L; '
        'select cron.unschedule(%L)',
      table_name, is_active, id, minute + interval '1 day', job
    )
  );
  return job;
end
$$;
comment on function admin.schedule_activation is
  'Sets is_active of a sound or section (kind) at a moment within 364 days, unless it is in the trash then. Returns '
  'the job, named by the id.';

-- Schedules the activation of the given rows, which are not in this state yet.
create function private.schedule_named(kind text, name text, ids uuid[], is_active boolean, moment text)
returns table (job text, due_in_utc text, due_there text) language plpgsql volatile set search_path = '' as $$
begin
  if cardinality(ids) = 0 then
    raise exception '"%" is % already.', name, case when is_active then 'active' else 'hidden' end;
  end if;
  return query
    select admin.schedule_activation(kind, id, is_active, admin.moment(moment)),
      private.local_time(admin.moment(moment), 'UTC'),
      private.local_time(admin.moment(moment), admin.time_zone(moment))
    from unnest(ids) as id;
end
$$;

create function admin.schedule_sound(title text, is_active boolean, moment text)
returns table (job text, due_in_utc text, due_there text) language plpgsql volatile set search_path = '' as $$
declare
  ids constant uuid[] := array(
    select id from admin.sounds_named(title) as sound where sound.is_active <> schedule_sound.is_active);
begin
  return query select * from private.schedule_named('sound', title, ids, is_active, moment);
end
$$;
comment on function admin.schedule_sound is
  'Publishes (is_active true) or hides the sounds with this title at a moment. Returns the jobs with their moment.';

create function admin.schedule_section(slug text, is_active boolean, moment text)
returns table (job text, due_in_utc text, due_there text) language plpgsql volatile set search_path = '' as $$
declare
  ids constant uuid[] := array(
    select id from admin.section_named(slug) as section where section.is_active <> schedule_section.is_active);
begin
  return query select * from private.schedule_named('section', slug, ids, is_active, moment);
end
$$;
comment on function admin.schedule_section is
  'Publishes (is_active true) or hides a section of the home page at a moment. Returns the job with its moment.';

create function admin.give_premium(email text, moment text)
returns table (customer text, until_in_utc text, until_there text) language plpgsql volatile set search_path = '' as $$
declare
  is_date constant boolean := coalesce(moment <> 'infinity', false);
  until constant timestamptz := case when is_date then admin.moment(moment) else moment::timestamptz end;
begin
  return query
    update public.customers as given set premium_given_until = until
      from admin.customer_named(give_premium.email) as found
      where given.id = found.id
      returning given.email,
        case when is_date then private.local_time(until, 'UTC') else coalesce(moment, 'no premium given') end,
        case when is_date then private.local_time(until, admin.time_zone(moment)) end;
end
$$;
comment on function admin.give_premium is
  'Sets premium_given_until of the customer with this address: a moment, infinity, or null for none.';

-- Uses a dynamic statement, because a database without Supabase Cron has no table of jobs.
create function private.scheduled_jobs() returns table (job text, schedule text, is_active boolean, command text)
language plpgsql stable set search_path = '' as $$
begin
  if to_regclass('cron.job') is not null then
    return query execute 'select jobname::text, schedule::text, active, command::text from cron.job';
  end if;
end
$$;
-- Looks eight years ahead, because these always include a 29 February.
create function private.next_run(schedule text) returns timestamptz
language sql stable set search_path = '' as $$
  with parsed as (select string_to_array(schedule, ' ', '*')::integer[] as fields),
  days as (
    select day, fields
    from parsed cross join generate_series(
      date_trunc('day', now() at time zone 'UTC'), now() at time zone 'UTC' + interval '8 years', '1 day') as day
  ),
  runs as (
    select (day + make_interval(hours => fields[2], mins => fields[1])) at time zone 'UTC' as due from days
    where extract(day from day) = fields[3] and extract(month from day) = fields[4]
  )
  select min(due) from runs where due >= date_trunc('minute', now())
$$;
comment on function private.next_run is
  'Returns the next run of a job that runs once a year ("minute hour day month *").';

create view admin.scheduled with (security_invoker = true) as
  select job, case when schedule ~ '^\d+ \d+ \d+ \d+ \*$' then private.next_run(schedule) end as due_at,
    schedule, is_active, command
  from private.scheduled_jobs()
  order by due_at, job;
comment on view admin.scheduled is 'Jobs of Supabase Cron, such as later publications of sounds and sections.';
comment on column admin.scheduled.due_at is
  'Time of a one-time job. Null for a recurring job, and for a day that never comes.';

-- Plays, listeners and accounts by day in UTC, without names.

create view admin.plays_by_day with (security_invoker = true) as
  select played.day, played.sound_id, sound.title, played.plays
  from private.plays_by_day as played join public.sounds as sound on sound.id = played.sound_id
  order by played.day desc, played.plays desc, sound.title;
comment on view admin.plays_by_day is 'Number of plays of each sound on each day (UTC), latest day first.';
comment on column admin.plays_by_day.day is 'Day on which the sound was played, even if an app sent the play later.';

create view admin.most_played with (security_invoker = true) as
  select sound_id, year.title,
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
  'Listeners and plays of each sound in the last 7, 30 and 365 days, today included. Ordered by listeners_30_days.';
comment on column admin.most_played.listeners_30_days is 'Number of accounts that played the sound. Each counts once.';

create function private.days_since(first_day date) returns setof date language sql stable set search_path = '' as $$
  select day::date from generate_series(first_day::timestamp, now() at time zone 'UTC', interval '1 day') as day
$$;
comment on function private.days_since is 'Returns the days (UTC) from a first day, which may be null, until today.';

create view admin.listeners_by_day with (security_invoker = true) as
  select day, coalesce(listeners, 0) as listeners
  from private.days_since((select min(day) from private.listeners_by_day)) as day
    left join private.listeners_by_day using (day)
  order by day desc;
comment on view admin.listeners_by_day is 'Number of users who played a sound on each day (UTC), latest day first.';

create view admin.accounts_by_day with (security_invoker = true) as
  with events as (
    select (created_at at time zone 'UTC')::date as day, (not is_guest)::integer as sign_ups, 0 as active, 0 as deleted,
      is_guest::integer as guests, 0 as active_guests
    from public.customers where email is null or email not like '%@doctor.invalid'
    union all select signed_up_on, (not is_guest)::integer, 0, 0, is_guest::integer, 0 from private.deleted_accounts
    union all select day, 0, visitors, 0, 0, guests from private.visitors_by_day
    union all select deleted_on, 0, 0, 1, 0, 0 from private.deleted_accounts where not is_guest
    union all select (deleted_at at time zone 'UTC')::date, 0, 0, 1, 0, 0 from auth.users where deleted_at is not null
  )
  select day,
    coalesce(sum(sign_ups), 0)::bigint as sign_ups,
    coalesce(sum(active), 0)::bigint as active,
    coalesce(sum(deleted), 0)::bigint as deleted,
    coalesce(sum(guests), 0)::bigint as guests,
    coalesce(sum(active_guests), 0)::bigint as active_guests
  from private.days_since((select min(day) from events)) as day left join events using (day)
  group by day order by day desc;
comment on view admin.accounts_by_day is
  'Sign-ups, active and deleted accounts, and guests, on each day (UTC), latest day first.';
comment on column admin.accounts_by_day.guests is
  'Number of new guests. They count neither as sign-ups nor as deleted accounts.';
comment on column admin.accounts_by_day.sign_ups is 'Number of sign-ups, including accounts that were deleted later.';
comment on column admin.accounts_by_day.active is
  'Number of accounts that used the app, without API keys. Days before this view was installed have 0.';

-- Lists of the catalogue. They are definer functions that filter is_active, because with row-level security the planner
-- does not use the trigram index. Each returns one json value, because PostgREST limits the number of rows.

create view private.sound with (security_invoker = true) as
  select sound.id, sound.title, sound.description, sound.bowl_note, sound.frequency_hz, sound.duration_sec,
    sound.category, sound.tags,
    'covers/' || sound.cover_image_path as cover_image_url,
    sound.is_featured,
    coalesce(counter.plays, 0) as play_count,
    private.iso_time(sound.created_at) as created_at,
    sound.cover_placeholder, sound.is_premium
  from public.sounds as sound left join public.play_counts as counter on counter.sound_id = sound.id
  where sound.is_active;
comment on view private.sound is 'Sound in API responses. cover_image_url is a path that begins with the bucket.';
grant select on private.sound to authenticated;

create view private.stored_sound with (security_invoker = true) as
  select sound.*, stored.loudness_lufs, stored.true_peak_dbtp, stored.waveform,
    case when not is_locked then stored.audio_path end as audio_path, stored.cover_image_path, is_locked
  from private.sound as sound join public.sounds as stored using (id)
    cross join lateral (select sound.is_premium and not private.is_premium((select auth.uid())) as is_locked) as rule;
comment on view private.stored_sound is
  'Sound with the names of its files, for the SoundDetail of a response. A locked sound has no audio_path.';
grant select on private.stored_sound to authenticated;

create view private.sound_preview with (security_invoker = true) as
  select id, title, category,
    'covers/' || cover_image_path as cover_image_url,
    duration_sec, cover_placeholder, is_premium
  from public.sounds
  where is_active;
comment on view private.sound_preview is 'Compact sound in favorites, history and home sections.';
grant select on private.sound_preview to authenticated;

-- Reads parameters from an object, because PostgREST reads an argument of a GET such as "in.(a)" as a filter. #>> also
-- reads a JSON string, which some releases pass. Cuts values, because users may call it without the gateway.
create type private.sound_query as (
  category text, include_children boolean, featured boolean, search text, tag text[], min_duration numeric, max_duration numeric,
  q text, ids uuid[], sort text, "limit" integer, cursor jsonb
);
create function private.sound_query(filters jsonb) returns private.sound_query language plpgsql immutable set search_path = '' as $$
declare
  given constant jsonb := (filters #>> '{}')::jsonb;
  asked private.sound_query;
begin
  -- Cuts lists before it reads them, because a million ids would take seconds.
  asked := jsonb_populate_record(null::private.sound_query, given - '{ids,tag}'::text[]);
  asked.ids := case when jsonb_typeof(given -> 'ids') <> 'null' then array(
    select left(id, 100)::uuid from jsonb_array_elements_text(jsonb_path_query_array(given, '$.ids[0 to 99]')) as id) end;
  asked.tag := (select array_agg(left(tag, 101)) filter (where tag is not null)
    from jsonb_array_elements_text(jsonb_path_query_array(given, '$.tag[0 to 9]')) as tag);
  asked.category := left(asked.category, 101);
  asked.search := left(asked.search, 100);
  asked.q := left(asked.q, 100);
  asked.limit := least(greatest(coalesce(asked.limit, 50), 1), 100);
  return asked;
end
$$;

-- Returns the position of the sound whose created_at is the cursor, also if the sound was deleted. The rank is null if
-- no sound had this time. Clients may cut the fraction, so a full second means the last sound of that second in list
-- order.
create function private.list_position(inout moment timestamptz, out rank bigint) language plpgsql stable set search_path = '' as $$
declare
  given constant timestamptz := moment;
begin
  select found.created_at, found.list_rank into moment, rank from (
      select created_at, list_rank from public.sounds
      union all select created_at, list_rank from private.former_positions
    ) as found
    where created_at between given and given + case given when date_trunc('second', given) then interval '999 ms' else '0' end
    order by found.created_at = given desc, found.list_rank, found.created_at limit 1;
  moment := coalesce(moment, given);
end
$$;

-- Reads a cursor of a list with `sort`: the order, and the key and created_at of the last sound. Rejects other orders.
create function private.position_in_order(query private.sound_query, out key text, out moment timestamptz)
language plpgsql stable set search_path = '' as $$
declare
  given jsonb;
begin
  given := convert_from(decode(left(query.cursor #>> '{}', 4000), 'hex'), 'UTF8');
  key := given ->> 1;
  moment := given ->> 2;
  if (given ->> 0 = query.sort and key is not null and moment is not null and (query.sort <> 'popular' or key::bigint >= 0))
    is not true
  then
    raise data_exception;
  end if;
exception
  when data_exception then
    raise exception 'The cursor belongs to another order. Send the next_cursor of a page with the same sort.' using errcode = 'check_violation', constraint = 'cursor_is_of_its_order';
end
$$;

-- Returns a page of active sounds, and the cursor of the next one. With force_custom_plan the planner sees the
-- arguments, drops null filters and other orders, and reads one index range, or one for each slug of a category. The
-- order by plays has two parts: sounds with plays, then the others, newest first.
create function private.sounds_in_order(query private.sound_query, out ids uuid[], out next_cursor json)
language plpgsql stable security definer set search_path = '' set plan_cache_mode = force_custom_plan as $$
declare
  slugs constant text[] := case when query.category is null then array[null]
    else private.category_family(query.category, coalesce(query.include_children, false)) end;
  pattern constant text := private.like_pattern(nullif(query.search, ''));
  parts text[] := case query.sort when 'popular' then '{popular,unplayed}' else array[coalesce(query.sort, 'list')] end;
  part text;
  after_key text;
  after_number bigint;
  after_time timestamptz;
begin
  ids := '{}';
  if query.cursor is not null and query.sort is null then
    select moment, rank into after_time, after_number from private.list_position((query.cursor #>> '{}')::timestamptz);
  elsif query.cursor is not null then
    select moment, key into after_time, after_key from private.position_in_order(query);
    if query.sort = 'popular' then
      after_number := after_key;
      parts := case after_number when 0 then '{unplayed}' else parts end;
    end if;
  end if;
  foreach part in array parts loop
    ids := ids || array(
      select found.id
      from unnest(case part when 'popular' then array[null] else slugs end) as slug cross join lateral (
        select sound.id,
          case part when 'list' then list_rank when 'popular' then popular.plays end as number,
          case part when 'title' then search_title end as title,
          case part when 'title' then sound.created_at end as oldest,
          case part when 'title' then null when 'popular' then popular.created_at else sound.created_at end as newest
        from public.sounds as sound left join private.popularity as popular on popular.sound_id = sound.id
        where is_active
          and (query.category is null or case part when 'popular' then category = any (slugs) else category = slug end)
          and (query.featured is null or is_featured = query.featured)
          and (pattern is null or search_title like pattern)
          and (query.tag is null or tags @> query.tag)
          and (query.min_duration is null or duration_sec >= query.min_duration)
          and (query.max_duration is null or duration_sec <= query.max_duration)
          and case part when 'popular' then popular.plays is not null when 'unplayed' then popular.sound_id is null else true end
          and case
            when after_time is null then true
            when part = 'list' and after_number is not null then (list_rank, sound.created_at) < (after_number, after_time)
            when part = 'title' then (search_title, sound.created_at) > (after_key, after_time)
            when part = 'popular' then (popular.plays, popular.created_at) < (after_number, after_time)
            else sound.created_at < after_time
          end
        order by number desc, title, oldest, newest desc
        limit query.limit + 1 - cardinality(ids)
      ) as found
      order by number desc, title, oldest, newest desc
      limit query.limit + 1 - cardinality(ids)
    );
    exit when cardinality(ids) > query.limit;
    after_time := null;
  end loop;
  if cardinality(ids) > query.limit then
    ids := ids[:query.limit];
    select case
      when query.sort is null then to_json(private.iso_time(sound.created_at))
      else to_json(encode(convert_to(jsonb_build_array(
        query.sort,
        case query.sort when 'title' then search_title when 'popular' then coalesce(plays, 0)::text else '' end,
        case query.sort when 'popular' then coalesce(popular.created_at, sound.created_at) else sound.created_at end
      )::text, 'UTF8'), 'hex'))
      end into next_cursor
      from public.sounds as sound left join private.popularity as popular on popular.sound_id = sound.id
      where sound.id = ids[query.limit];
  end if;
end
$$;

-- Uses a subquery for each row, because for a join the planner may read the whole table.
create function private.list_sounds(query private.sound_query) returns json
language plpgsql stable security definer set search_path = '' as $$
declare
  page_ids uuid[];
  next_cursor json;
begin
  if query.ids is not null then
    page_ids := array(
      select id from unnest(query.ids) with ordinality as wanted (id, position) join public.sounds using (id)
      where is_active order by position
    );
  elsif query.q <> '' then
    page_ids := private.search_sounds(query);
  else
    select ids, page.next_cursor into page_ids, next_cursor from private.sounds_in_order(query) as page;
  end if;
  return json_build_object(
    'data', array(
      select (select to_json(sound) from private.sound as sound where sound.id = page.id)
      from unnest(page_ids) with ordinality as page (id, position)
      order by position
    ),
    'next_cursor', next_cursor
  );
end
$$;

create function public.list_sounds(filters jsonb default '{}') returns json
language sql stable set search_path = '' as $$ select private.list_sounds(private.sound_query(filters)) $$;
comment on function public.list_sounds is
  'Returns one page of active sounds: {data, next_cursor}. "filters" has the query parameters of GET /sounds.';

create function public.get_sound(sound uuid) returns json
language sql stable set search_path = '' as $$ select row_to_json(stored) from private.stored_sound as stored where id = get_sound.sound $$;
comment on function public.get_sound is
  'Returns an active sound with its file names, from which only the service can create addresses, or null.';

-- Runs as definer, because users cannot read the tables of Storage.
create function private.stored_file(bucket text, path text) returns json language sql stable security definer set search_path = '' as $$
  select json_build_object(
    'path', name, 'version', trim('"' from metadata ->> 'eTag'),
    'content_type', metadata ->> 'mimetype', 'bytes', (metadata ->> 'size')::bigint
  )
  from storage.objects where bucket_id = bucket and name = path
$$;
comment on function private.stored_file is
  'Returns path, version, type and size of a file, or null if it is missing. The version changes with the content.';

create function private.list_sound_files(wanted jsonb) returns json language sql stable security definer set search_path = '' as $$
  select to_json(array(
    select json_build_object(
      'id', id, 'audio', case when not is_locked then private.stored_file('audio', audio_path) end,
      'cover', private.stored_file('covers', cover_image_path), 'is_locked', is_locked)
    from jsonb_array_elements_text(jsonb_path_query_array((wanted #>> '{}')::jsonb, '$.ids[0 to 49]')) with ordinality as given (sound_id, position)
      join public.sounds on id = sound_id::uuid
      cross join lateral (select is_premium and not private.is_premium(auth.uid()) as is_locked) as rule
    where is_active order by position
  ))
$$;

create function public.list_sound_files(wanted jsonb) returns json
language sql stable set search_path = '' as $$ select private.list_sound_files(wanted) $$;
comment on function public.list_sound_files is
  'Returns the files of at most 50 active sounds, without audio if it is locked for the caller. "wanted" is {"ids": […]}. '
  'Only the service can create addresses.';

grant execute on function private.sound_query, private.list_sounds, public.list_sounds to authenticated, service_role;
grant execute on function public.get_sound, private.list_sound_files, public.list_sound_files to authenticated;

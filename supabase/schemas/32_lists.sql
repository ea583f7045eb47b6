-- Reading the catalogue. Lists are definer functions with an explicit is_active: under row-level security the planner does not use
-- the trigram index, as like is not leakproof (52 ms instead of 1 for 100,000 sounds).
-- Each returns one json value: PostgREST cuts row sets at its limit, but not a value.

create view private.sound with (security_invoker = true) as
  select
    sound.id,
    sound.title,
    sound.description,
    sound.bowl_note,
    sound.frequency_hz,
    sound.duration_sec,
    sound.category,
    sound.tags,
    'covers/' || sound.cover_image_path as cover_image_url,
    sound.is_featured,
    coalesce(counter.plays, 0) as play_count,
    to_char(sound.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as created_at
  from public.sounds as sound left join public.play_counts as counter on counter.sound_id = sound.id
  where sound.is_active;
comment on view private.sound is 'The Sound of a response. Its cover is a path that begins with the bucket.';
grant select on private.sound to authenticated;

create view private.stored_sound with (security_invoker = true) as
  select sound.*, stored.audio_path, stored.cover_image_path
  from private.sound as sound join public.sounds as stored using (id);
comment on view private.stored_sound is 'The Sound with the names of its files, of which the service makes a SoundDetail.';
grant select on private.stored_sound to authenticated;

create view private.sound_preview with (security_invoker = true) as
  select
    id,
    title,
    category,
    'covers/' || cover_image_path as cover_image_url,
    duration_sec
  from public.sounds
  where is_active;
comment on view private.sound_preview is 'The compact Sound inside favorites and home sections.';
grant select on private.sound_preview to authenticated;

-- What a query asks for, by the names of its parameters; null for what it does not name. PostgREST takes an argument of a GET such
-- as "in.(a)" for a filter, so all of them go in one object. Some releases pass it as a JSON string, others as the object: #>> makes
-- text of either. Users may call this directly: longer values than the gateway allows are cut.
create type private.sound_query as (
  category text, include_children boolean, featured boolean, search text, tag text[], min_duration numeric, max_duration numeric,
  q text, ids uuid[], sort text, "limit" integer, cursor jsonb
);
create function private.sound_query(filters jsonb) returns private.sound_query
language plpgsql immutable set search_path = '' as $$
declare
  asked private.sound_query := jsonb_populate_record(null::private.sound_query, (filters #>> '{}')::jsonb);
begin
  asked.category := left(asked.category, 101);
  asked.search := left(asked.search, 100);
  asked.q := left(asked.q, 100);
  asked.tag := asked.tag[:10];
  asked.ids := asked.ids[:100];
  asked.limit := least(greatest(coalesce(asked.limit, 50), 1), 100);
  return asked;
end
$$;
comment on function private.sound_query is 'Reads the query parameters of GET /sounds.';
grant execute on function private.sound_query to authenticated, service_role;

create function private.sound_conditions(query private.sound_query) returns text
language sql stable set search_path = '' as $$
  select concat_ws(
    ' and ',
    'is_active',
    case query.featured when true then 'is_featured' when false then 'not is_featured' end,
    'search_title like ' || quote_literal(
      '%' || regexp_replace(private.fold_for_search(nullif(query.search, '')), '([\\%_])', '\\\1', 'g') || '%'
    ),
    'tags @> ' || quote_literal(query.tag),
    'duration_sec >= ' || quote_literal(query.min_duration),
    'duration_sec <= ' || quote_literal(query.max_duration)
  )
$$;
comment on function private.sound_conditions is
  'The filters that are present, but that by category: "$1 is null or …" would end in a generic plan without an index.';

-- The cursor of list order is the created_at of a sound. Clients that cut its fraction send a full second: then the last sound in list
-- order of that second is taken, so that no page is sent twice. Sounds that were deleted or moved count.
create function private.list_position(inout moment timestamptz, out rank bigint)
language plpgsql stable set search_path = '' as $$
declare
  given constant timestamptz := moment;
begin
  select found.created_at, found.list_rank into moment, rank from (
    select created_at, list_rank from public.sounds where created_at = given
    union all
    select created_at, list_rank from private.former_positions where created_at = given
  ) as found limit 1;
  if not found and given = date_trunc('second', given) then
    select found.created_at, found.list_rank into moment, rank from (
      select created_at, list_rank from public.sounds where created_at > given and created_at < given + interval '1 second'
      union all
      select created_at, list_rank from private.former_positions where created_at > given and created_at < given + interval '1 second'
    ) as found order by found.list_rank, found.created_at limit 1;
  end if;
  moment := coalesce(moment, given);
end
$$;
comment on function private.list_position is 'Where a cursor of list order points; without a rank where it names no sound.';

-- The cursors of the other orders hold the position itself, whatever happens to its sound: the order, the key and created_at of the last
-- sound, and of a popular order its moment.
create function private.position_in_order(query private.sound_query, out key text, out moment timestamptz, out popular_at timestamptz)
language plpgsql stable set search_path = '' as $$
declare
  given jsonb;
begin
  given := convert_from(decode(left(query.cursor #>> '{}', 4000), 'hex'), 'UTF8');
  key := given ->> 1;
  moment := given ->> 2;
  popular_at := given ->> 3;
  if (given ->> 0 = query.sort and key is not null and moment is not null and (query.sort <> 'popular' or key::bigint >= 0)) is not true then
    raise data_exception;
  end if;
exception
  when data_exception then
    raise exception 'This is no cursor of this order.' using errcode = 'check_violation', constraint = 'cursor_is_of_its_order';
end
$$;
comment on function private.position_in_order is 'Reads a cursor that private.sounds_in_order has written.';

-- A category filter reads one index range for each slug and merges them; neither a big nor a small category is sorted whole.
-- random_page_cost is that of SSDs; enable_seqscan keeps to the index also where an import has outdated the statistics.
create function private.sounds_in_order(query private.sound_query, out ids uuid[], out next_cursor json)
language plpgsql stable security definer set search_path = '' set random_page_cost = 1.1 set enable_seqscan = off as $$
declare
  source text := 'public.sounds';
  slugs constant text[] := case when query.category is not null then
    private.category_family(query.category, coalesce(query.include_children, false)) end;
  key text := 'list_rank';
  direction text := 'desc';
  after_key text;
  after_time timestamptz;
  popular_at timestamptz;
  conditions text := private.sound_conditions(query);
  order_and_limit text;
  statement text;
  keys text[];
  times timestamptz[];
begin
  if query.cursor is not null and query.sort is null then
    select rank, moment into after_key, after_time from private.list_position((query.cursor #>> '{}')::timestamptz);
  elsif query.cursor is not null then
    select position.* into after_key, after_time, popular_at from private.position_in_order(query) as position;
  end if;
  if query.sort = 'newest' then
    key := 'created_at';
  elsif query.sort = 'title' then
    key := 'search_title';
    direction := 'asc';
  elsif query.sort = 'popular' then
    popular_at := private.popular_order(popular_at);
    source := 'public.sounds join private.popularity using (created_at)';
    conditions := conditions || format(' and ordered_at = %L', popular_at);
    key := 'plays';
  end if;
  if query.cursor is not null then
    conditions := conditions || format(
      case when after_key is null or key = 'created_at' then ' and created_at < %4$L'
        else ' and (%1$s, created_at) %2$s (%3$L, %4$L)' end,
      key, case direction when 'asc' then '>' else '<' end, after_key, after_time
    );
  end if;

  order_and_limit := format(' order by key %1$s, created_at %1$s limit %2$s', direction, query.limit + 1);
  statement := format('select id, %s as key, created_at from %s where %s', key, source, conditions);
  if slugs is not null and key = 'plays' then
    statement := statement || format(' and category = any (%L)', slugs);
  elsif slugs is not null then
    statement := format(
      'select found.* from unnest(%L::text[]) as slug cross join lateral (%s and category = slug%s) as found', slugs, statement,
      order_and_limit
    );
  end if;
  execute format('select array_agg(id), array_agg(key::text), array_agg(created_at) from (%s%s) as page', statement, order_and_limit)
    into ids, keys, times;
  if cardinality(ids) > query.limit then
    ids := ids[:query.limit];
    next_cursor := case
      when key = 'list_rank' then to_json(to_char(times[query.limit] at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
      else to_json(encode(convert_to(jsonb_build_array(query.sort, keys[query.limit], times[query.limit], popular_at)::text, 'UTF8'), 'hex'))
    end;
  end if;
end
$$;
comment on function private.sounds_in_order is 'The ids of one page of active sounds, and the cursor of the next; null where there is none.';

-- A subquery looks up each row: for a join the planner guesses the number of rows, and may read the whole table.
create function private.list_sounds(query private.sound_query) returns json
language plpgsql stable security definer set search_path = '' set enable_seqscan = off as $$
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
grant execute on function private.list_sounds to authenticated, service_role;

create function public.list_sounds(filters jsonb default '{}') returns json
language sql stable set search_path = '' as $$ select private.list_sounds(private.sound_query(filters)) $$;
comment on function public.list_sounds is
  'One page of active sounds: {data, next_cursor}. "filters" is an object with the query parameters of GET /sounds.';
grant execute on function public.list_sounds to authenticated, service_role;

create function public.get_sound(wanted_sound uuid) returns json
language sql stable set search_path = '' as $$
  select row_to_json(sound) from private.stored_sound as sound where id = wanted_sound
$$;
comment on function public.get_sound is
  'One active sound with the names of its files, which only the service can turn into addresses; or null.';
grant execute on function public.get_sound to authenticated;

-- Of Storage, which knows what lies in its buckets. Definer, as users may not read its tables.
create function private.stored_file(bucket text, path text) returns json
language sql stable security definer set search_path = '' as $$
  select json_build_object(
    'path', name,
    'version', trim('"' from metadata ->> 'eTag'),
    'content_type', metadata ->> 'mimetype',
    'bytes', (metadata ->> 'size')::bigint
  )
  from storage.objects where bucket_id = bucket and name = path
$$;
comment on function private.stored_file is
  'A file as it is now; its version changes with its content. Null where there is none.';

create function private.list_sound_files(ids uuid[]) returns json
language sql stable security definer set search_path = '' set enable_seqscan = off as $$
  select to_json(array(
    select json_build_object(
      'id', id,
      'audio', private.stored_file('audio', audio_path),
      'cover', private.stored_file('covers', cover_image_path)
    )
    from unnest(ids[:50]) with ordinality as wanted (id, position) join public.sounds using (id)
    where is_active
    order by position
  ))
$$;
grant execute on function private.list_sound_files to authenticated, service_role;

create function public.list_sound_files(wanted jsonb) returns json
language sql stable set search_path = '' as $$
  select private.list_sound_files(array(select jsonb_array_elements_text((wanted #>> '{}')::jsonb -> 'ids')::uuid))
$$;
comment on function public.list_sound_files is
  'The files of active sounds, which only the service can turn into addresses. "wanted" is {"ids": […]}, of which the first 50 count.';
grant execute on function public.list_sound_files to authenticated, service_role;

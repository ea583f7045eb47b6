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

-- The statement holds only the filters that are present: "$1 is null or …" ends in a generic plan without an index. A category
-- filter reads one index range for each slug and merges them; neither a big nor a small category is sorted whole.
-- A cursor is the created_at of a sound. Clients that cut its fraction send a full second: then the last sound in list order of
-- that second is taken, so that no page is sent twice.
-- random_page_cost is that of SSDs; enable_seqscan keeps to the index also where an import has outdated the statistics.
create function private.sounds_in_list_order(
  slugs text[], featured boolean, title_search text, after timestamptz, max_rows integer
) returns uuid[]
language plpgsql stable security definer set search_path = '' set random_page_cost = 1.1 set enable_seqscan = off as $$
declare
  anchor_rank bigint;
  anchor_time timestamptz(3) := after;
  condition text := 'is_active';
  statement text;
  found_ids uuid[];
begin
  if featured is not null then
    condition := condition || case when featured then ' and is_featured' else ' and not is_featured' end;
  end if;
  if title_search <> '' then
    title_search :=
      '%' || regexp_replace(private.fold_for_search(title_search), '([\\%_])', '\\\1', 'g') || '%';
    condition := condition || ' and search_title like $2';
  end if;
  if after is not null then
    select list_rank into anchor_rank from (
      select list_rank from public.sounds where created_at = anchor_time
      union all
      select list_rank from private.former_positions where created_at = anchor_time
    ) as anchor limit 1;
    if not found and after = date_trunc('second', after) then
      select list_rank, created_at into anchor_rank, anchor_time from (
        select list_rank, created_at from public.sounds
          where created_at > after and created_at < after + interval '1 second'
        union all
        select list_rank, created_at from private.former_positions
          where created_at > after and created_at < after + interval '1 second'
      ) as anchor order by list_rank, created_at limit 1;
    end if;
    condition := condition
      || case when found then ' and (list_rank, created_at) < ($3, $4)' else ' and created_at < $4' end;
  end if;

  statement := 'select id, list_rank, created_at from public.sounds where ' || condition;
  if slugs is not null then
    statement := 'select sound.* from unnest($1) as slug cross join lateral ('
      || statement || ' and category = slug order by list_rank desc, created_at desc limit $5) as sound';
  end if;
  execute 'select array(select id from (' || statement
    || ' order by list_rank desc, created_at desc limit $5) as found)'
    into found_ids using slugs, title_search, anchor_rank, coalesce(anchor_time, after), max_rows;
  return found_ids;
end
$$;
comment on function private.sounds_in_list_order is 'The ids of the first active sounds that pass the filters.';

-- A subquery looks up each row: for a join the planner guesses the number of rows, and may read the whole table.
create function private.list_sounds(
  category_slug text, include_children boolean, featured boolean, title_search text, page_size integer,
  after timestamptz
) returns json
language plpgsql stable security definer set search_path = '' set enable_seqscan = off as $$
declare
  max_rows constant integer := least(greatest(page_size, 1), 100);
  ids constant uuid[] := private.sounds_in_list_order(
    case when category_slug is not null then private.category_family(category_slug, include_children) end,
    featured, title_search, after, max_rows + 1
  );
begin
  return json_build_object(
    'data', array(
      select (select sound from private.sound as sound where sound.id = page.id)
      from unnest(ids[:max_rows]) with ordinality as page (id, position)
      order by position
    ),
    'next_cursor', case when cardinality(ids) > max_rows then
      (select created_at from private.sound where id = ids[max_rows])
    end
  );
end
$$;
grant execute on function private.list_sounds to authenticated, service_role;

-- Read by GET, so that a replica may answer. PostgREST takes an argument of a GET such as "in" or "fts(x" for a filter, so all
-- filters go in one object. Some releases of PostgREST pass it as a JSON string, others as the object: #>> makes text of either.
-- Users may call this directly: longer values than the gateway allows are cut (a slug has at most 100 characters).
create function public.list_sounds(filters jsonb default '{}') returns json
language sql stable set search_path = '' as $$
  select private.list_sounds(
    left(category, 101), coalesce(include_children, false), featured, left(search, 100), coalesce("limit", 50), cursor
  )
  from jsonb_to_record((filters #>> '{}')::jsonb) as given (
    category text, include_children boolean, featured boolean, search text, "limit" integer, cursor timestamptz
  )
$$;
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

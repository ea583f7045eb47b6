-- Reading the catalogue. Lists are definer functions in private: under row-level security the planner may not use
-- the index on titles (like is not leakproof). They state "is_active" themselves instead.
-- Each returns one jsonb value, because PostgREST silently cuts rows at its limit, and one value cannot be cut.

create function private.sound_json(sound public.sounds, plays bigint) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'id', sound.id,
    'title', sound.title,
    'description', sound.description,
    'bowl_note', sound.bowl_note,
    'frequency_hz', sound.frequency_hz,
    'duration_sec', sound.duration_sec,
    'category', sound.category,
    'tags', sound.tags,
    'cover_image_url', 'covers/' || sound.cover_image_path,
    'is_featured', sound.is_featured,
    'play_count', coalesce(plays, 0),
    'created_at', private.iso_date_time(sound.created_at)
  )
$$;
comment on function private.sound_json is 'The Sound of a response. Its cover is a path that begins with the bucket.';
grant execute on function private.sound_json to authenticated;

create function private.sound_preview_json(sound public.sounds) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'id', sound.id,
    'title', sound.title,
    'category', sound.category,
    'cover_image_url', 'covers/' || sound.cover_image_path,
    'duration_sec', sound.duration_sec
  )
$$;
comment on function private.sound_preview_json is 'The compact Sound inside favorites and home sections.';
grant execute on function private.sound_preview_json to authenticated;

-- The statement is built from the filters that are present: "$1 is null or ..." would end in a generic plan that
-- uses no index. A category filter becomes one index range for each slug, merged, so that neither a big nor a
-- small category is sorted as a whole. What is found is a created_at, which every index holds; only the rows of the page
-- are then looked up in the table.
create function private.sounds_in_list_order(
  slugs text[], featured boolean, title_search text, after timestamptz, max_rows integer
) returns setof public.sounds
-- Without the number of rows the planner would assume a thousand, and read a whole table of play counts for them. Without the
-- cost, which is that of memory and SSDs, it would rather read the whole table than an index that has all in order.
language plpgsql stable security definer rows 51 set search_path = '' set random_page_cost = 1.1 as $$
declare
  anchor_rank bigint;
  anchor_time timestamptz(3) := after;
  condition text := 'is_active';
  statement text;
begin
  if featured is not null then
    condition := condition || case when featured then ' and is_featured' else ' and not is_featured' end;
  end if;
  if title_search <> '' then
    title_search := '%' || regexp_replace(lower(title_search), '([\\%_])', '\\\1', 'g') || '%';
    condition := condition || ' and search_title like $2';
  end if;
  if after is not null then
    select list_rank into anchor_rank from (
      select list_rank from public.sounds where created_at = anchor_time
      union all
      select list_rank from private.former_positions where created_at = anchor_time
    ) as anchor limit 1;
    condition := condition
      || case when found then ' and (list_rank, created_at) < ($3, $4)' else ' and created_at < $4' end;
  end if;

  statement := 'select created_at, list_rank from public.sounds where ' || condition;
  if slugs is not null then
    statement := 'select sound.* from unnest($1) as slug cross join lateral ('
      || statement || ' and category = slug order by list_rank desc, created_at desc limit $5) as sound';
  end if;
  return query execute 'select sound.* from ('
    || statement || ' order by list_rank desc, created_at desc limit $5'
    || ') as found join public.sounds as sound using (created_at) order by found.list_rank desc, found.created_at desc'
    using slugs, title_search, anchor_rank, anchor_time, max_rows;
end
$$;

create function private.list_sounds(
  category_slug text, include_children boolean, featured boolean, title_search text, page_size integer,
  after timestamptz
) returns jsonb
language sql stable security definer set search_path = '' as $$
  with numbered as (
    select sound, sound.created_at, sound.id, row_number() over () as position
    from private.sounds_in_list_order(
      case when category_slug is not null then private.category_family(category_slug, include_children) end,
      featured, title_search, after, least(greatest(page_size, 1), 100) + 1
    ) as sound
  ),
  page as (
    select * from numbered where position <= least(greatest(page_size, 1), 100)
  )
  select jsonb_build_object(
    'data', coalesce(
      (select jsonb_agg(private.sound_json(page.sound, counter.plays) order by position)
        from page left join public.play_counts as counter on counter.sound_id = page.id),
      '[]'
    ),
    'next_cursor', case when (select count(*) from numbered) > (select count(*) from page) then
      (select private.iso_date_time(created_at) from page order by position desc limit 1)
    end
  )
$$;
grant execute on function private.list_sounds to authenticated, service_role;

create function public.list_sounds(
  category_slug text default null, include_children boolean default false, featured boolean default null,
  title_search text default null, page_size integer default 50, after timestamptz default null
) returns jsonb
language sql stable set search_path = '' as $$
  select private.list_sounds(category_slug, include_children, featured, title_search, page_size, after)
$$;
comment on function public.list_sounds is
  'One page of active sounds: {data, next_cursor}. "after" is the created_at of the last sound already seen.';
grant execute on function public.list_sounds to authenticated, service_role;

create function public.get_sound(wanted_sound uuid) returns jsonb
language sql stable set search_path = '' as $$
  select private.sound_json(sound, counter.plays)
    || jsonb_build_object('audio_path', sound.audio_path, 'cover_image_path', sound.cover_image_path)
  from public.sounds as sound left join public.play_counts as counter on counter.sound_id = sound.id
  where sound.id = wanted_sound
$$;
comment on function public.get_sound is
  'One active sound with the names of its files, which only the service can turn into addresses; or null.';
grant execute on function public.get_sound to authenticated;

-- Orders and cursors of GET /sounds. Its filters are in 32_list_filters.sql, its search is in 53_search.sql. Read
-- private.sounds_in_order at the end of this file first. All orders end with created_at, which is unique
-- (31_sounds_created_at.sql), so that each sound has one place in them.
--
-- Statements are made of SQL about "sound", and all have the same parameters: $1 query, $2 slugs of its categories,
-- $3 number of rows, $4 key and $5 moment of a place in the list. Those of the search also have $6 query for words,
-- $7 folded text, $8 ids that the page has already.

create type private.list_place as (key text, moment timestamptz);
comment on type private.list_place is
  'The place of a sound in a list: the two values that the list is ordered by. A page begins after it.';
comment on column private.list_place.key is
  'The first value, as text. It depends on the sort. None: list_rank; title: the folded title; popular: the number of '
  'plays at the last hourly refresh, "0" without plays; newest: always an empty text. Null in place of list_rank if no '
  'sound ever had the time of the cursor.';
comment on column private.list_place.moment is 'The second value: created_at of the sound.';

-- Also finds former places, of sounds that were deleted or got another created_at. The key is null if no sound had
-- this time. Clients may cut the fraction of a cursor, so a full second finds the sound of exactly this time, or else
-- the last one of that second in list order, which may be another than that of the cursor.
create function private.place_in_list(moment timestamptz) returns private.list_place
language plpgsql stable set search_path = '' as $$
declare
  is_full_second constant boolean := moment = date_trunc('second', moment);
  latest constant timestamptz := case when is_full_second then moment + interval '999 ms' else moment end;
  place private.list_place;
begin
  with former_and_present as (
    select created_at, list_rank from public.sounds
    union all
    select created_at, list_rank from private.former_positions
  )
  select list_rank, created_at into place.key, place.moment from former_and_present
    where created_at between moment and latest
    order by (created_at = moment) desc, list_rank, created_at limit 1; -- the last one in list order
  place.moment := coalesce(place.moment, moment);
  return place;
end
$$;
comment on function private.place_in_list is 'Returns the place of the sound whose created_at is the cursor.';

-- Rejects the cursor of another sort. The gateway has rejected a time where a sort is given, and the cursor of a sort
-- where none is.
create function private.place_in_sorted_list(cursor text, sort text) returns private.list_place
language plpgsql stable set search_path = '' as $$
declare
  given jsonb;
  place private.list_place;
begin
  given := convert_from(decode(left(cursor, 4000), 'hex'), 'UTF8');
  place := (given ->> 1, given ->> 2);
  if given ->> 0 is distinct from sort or place.key is null or place.moment is null
    or (sort = 'popular' and place.key::bigint < 0)
  then
    raise data_exception;
  end if;
  return place;
exception
  when data_exception then
    raise exception 'The cursor belongs to another order. Send the next_cursor of a page with the same sort.'
      using errcode = 'check_violation', constraint = 'cursor_is_of_its_order';
end
$$;
comment on function private.place_in_sorted_list is 'Returns the place in the cursor of a list with a sort.';

create function private.place_of(query private.sound_query) returns private.list_place
language plpgsql stable set search_path = '' as $$
declare
  cursor_text constant text := query.cursor #>> '{}'; -- the JSON text without its quotes
begin
  return case
    when query.cursor is null then null
    when query.sort is null then private.place_in_list(cursor_text::timestamptz)
    else private.place_in_sorted_list(cursor_text, query.sort)
  end;
end
$$;
comment on function private.place_of is 'Returns the place in the cursor of a query. Null on the first page.';

create function private.cursor_at(last_sound uuid, sort text) returns json
language plpgsql stable set search_path = '' as $$
declare
  place private.list_place;
begin
  select
      case sort when 'title' then search_title when 'popular' then coalesce(plays, 0)::text else '' end,
      case sort when 'popular' then coalesce(popular.created_at, sound.created_at) else sound.created_at end
    into place.key, place.moment
    from public.sounds as sound left join private.popularity as popular on popular.sound_id = sound.id
    where sound.id = last_sound;
  if sort is null then
    return to_json(private.iso_time(place.moment));
  end if;
  return to_json(encode(convert_to(jsonb_build_array(sort, place.key, place.moment)::text, 'UTF8'), 'hex'));
end
$$;
comment on function private.cursor_at is 'Returns the cursor of the page that begins after a sound.';

-- Statements with a category read one index range for each slug, and merge them (but see private.played_sounds). The
-- merged rows are named "sound", too, so that the same order applies to them.
create function private.sorted_sounds(
  query private.sound_query, condition text, place private.list_place, ordering text, max_rows integer
) returns uuid[] language plpgsql stable set search_path = '' as $$
declare
  conditions constant text := private.filter_conditions(query, 'sound.category = slug') || ' and ' || condition;
  of_all constant text := 'select array(select id from public.sounds as sound where %1$s order by %2$s limit $3)';
  of_categories constant text := $statement$
    select array(
      select id from unnest($2) as slug cross join lateral (
        select id, list_rank, search_title, created_at from public.sounds as sound
        where %1$s order by %2$s limit $3
      ) as sound
      order by %2$s limit $3
    )$statement$;
  ids uuid[];
begin
  execute format(case when query.category is null then of_all else of_categories end, conditions, ordering)
    into ids using query, private.slugs_of(query), max_rows, place.key, place.moment;
  return ids;
end
$$;
comment on function private.sorted_sounds is 'Returns the first sounds that pass the filters and a condition.';

create function private.sounds_by_sort(query private.sound_query, place private.list_place, max_rows integer)
returns uuid[] language plpgsql stable set search_path = '' as $$
declare
  ordering constant text := case query.sort
    when 'title' then 'sound.search_title, sound.created_at'
    when 'newest' then 'sound.created_at desc'
    else 'sound.list_rank desc, sound.created_at desc' -- without a sort
  end;
  after_place constant text := case
    when place.moment is null then 'true'
    when query.sort = 'title' then '(sound.search_title, sound.created_at) > ($4, $5)'
    when query.sort = 'newest' or place.key is null then 'sound.created_at < $5'
    else '(sound.list_rank, sound.created_at) < ($4::bigint, $5)' -- without a sort
  end;
begin
  return private.sorted_sounds(query, after_place, place, ordering, max_rows);
end
$$;

-- Reads the counts of all sounds in order, and skips other categories, because private.popularity has no category.
create function private.played_sounds(query private.sound_query, place private.list_place, max_rows integer)
returns uuid[] language plpgsql stable set search_path = '' as $$
declare
  after_place constant text := case
    when place.moment is null then 'true'
    else '(popular.plays, popular.created_at) < ($4::bigint, $5)'
  end;
  ids uuid[];
begin
  execute format($statement$
    select array(
      select sound.id from private.popularity as popular join public.sounds as sound on sound.id = popular.sound_id
      where %s and %s
      order by popular.plays desc, popular.created_at desc limit $3
    )$statement$, private.filter_conditions(query, 'sound.category = any ($2)'), after_place)
    into ids using query, private.slugs_of(query), max_rows, place.key, place.moment;
  return ids;
end
$$;

create function private.unplayed_sounds(query private.sound_query, place private.list_place, max_rows integer)
returns uuid[] language plpgsql stable set search_path = '' as $$
declare
  was_not_played constant text :=
    'not exists (select from private.popularity as popular where popular.sound_id = sound.id)';
  after_place constant text := case when place.moment is null then 'true' else 'sound.created_at < $5' end;
begin
  return private.sorted_sounds(
    query, was_not_played || ' and ' || after_place, place, 'sound.created_at desc', max_rows);
end
$$;

-- Lists sounds with plays, then those without, newest first.
create function private.sounds_by_popularity(query private.sound_query, place private.list_place, max_rows integer)
returns uuid[] language plpgsql stable set search_path = '' as $$
declare
  without_plays constant text := '0'; -- as private.cursor_at writes it
  ids uuid[] := '{}';
begin
  if place.key = without_plays then
    return private.unplayed_sounds(query, place, max_rows);
  end if;
  ids := private.played_sounds(query, place, max_rows);
  return ids || private.unplayed_sounds(query, place => null, max_rows => max_rows - cardinality(ids));
end
$$;

create function private.sounds_in_order(query private.sound_query, out ids uuid[], out next_cursor json)
language plpgsql stable set search_path = '' as $$
declare
  place constant private.list_place := private.place_of(query);
  limit_and_one constant integer := query.limit + 1; -- the additional sound shows that there is another page
begin
  ids := case query.sort
    when 'popular' then private.sounds_by_popularity(query, place, limit_and_one)
    else private.sounds_by_sort(query, place, limit_and_one) -- title, newest, or no sort
  end;
  if cardinality(ids) > query.limit then
    ids := ids[:query.limit];
    next_cursor := private.cursor_at(ids[query.limit], query.sort);
  end if;
end
$$;
comment on function private.sounds_in_order is
  'Returns a page for a query without q (but perhaps with the filter "search"), and the cursor of the next page.';

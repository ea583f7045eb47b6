-- Search by words: GET /sounds?q=.

-- Makes the query from six words. Long words and the last one, which may be incomplete, match beginnings of words. Each
-- also matches the names of a sound's category and parent category, unless it matches more than 20 categories.
create function private.search_terms(typed text, out in_title tsquery, out anywhere tsquery, out swapped tsquery)
language sql stable set search_path = '' as $$
  select
    string_agg(format('''%s'':%sA', word, star), '&')::tsquery,
    string_agg(format('(''%s''%s%s)', word, ':' || nullif(star, ''), filed), '&')::tsquery,
    string_agg(format('(''%s''%s%s)', word, ':' || nullif(star, ''), (
      select string_agg(format('|''%s''', overlay(word placing reverse(substr(word, place, 2)) from place for 2)), '')
      from generate_series(1, char_length(word) - 1) as place where char_length(word) > 3
    )), '&')::tsquery
  from (
    select word, case when char_length(word) > 3 or place = cardinality(words) then '*' else '' end as star
    from (select (private.search_words(typed))[:6]) as first (words), unnest(words) with ordinality as term (word, place)
  ) as term cross join lateral (
    select string_agg(format('|''/%s''', slug), '') as filed from (
      select array(
        select id from public.categories
        where array_to_tsvector(private.search_words(name || ' ' || slug)) @@ format('''%s''%s', word, ':' || nullif(star, ''))::tsquery
        limit 21
      ) as ids
    ) as named join public.categories on (id = any (ids) or parent_id = any (ids)) and cardinality(ids) <= 20
  ) as family
$$;
comment on function private.search_terms is
  'Builds three searches from q: words in the title, words anywhere, and words with two adjacent letters swapped.';

-- Runs one statement for each tier, planned with its values, as in private.sounds_in_order. Trigrams find texts inside
-- of titles, for Chinese, Japanese and Thai, and similar words if nothing else was found.
create function private.search_sounds(query private.sound_query) returns uuid[]
language plpgsql stable security definer set search_path = '' set plan_cache_mode = force_custom_plan as $$
declare
  typed constant text := btrim(private.fold_for_search(query.q));
  slugs constant text[] := private.category_family(query.category, coalesce(query.include_children, false));
  searched constant text := private.like_pattern(nullif(query.search, ''));
  pattern constant text := private.like_pattern(typed);
  has_trigrams constant boolean := extensions.show_trgm(typed) <> '{}'; -- a search without trigrams would read every title
  terms record;
  found_ids uuid[] := '{}';
begin
  select * into terms from private.search_terms(typed);
  for tier in 1..6 loop
    exit when typed = '' or cardinality(found_ids) >= query.limit or tier > 4 and cardinality(found_ids) > 0;
    perform set_config('pg_trgm.word_similarity_threshold', case tier when 6 then '0.4' else '0.6' end, true);
    found_ids := found_ids || array(
      select id from public.sounds
      where is_active
        and case tier
          when 1 then search_title >= typed and search_title < typed || chr(1114111)
          when 2 then search_vector @@ terms.in_title
          when 3 then search_vector @@ terms.anywhere
          when 4 then search_title like pattern
          else has_trigrams and search_title operator(extensions.%>) typed or search_vector @@ terms.swapped
        end
        and id <> all (found_ids)
        and (query.category is null or category = any (slugs))
        and (query.featured is null or is_featured = query.featured)
        and (searched is null or search_title like searched)
        and (query.tag is null or tags @> query.tag)
        and (query.min_duration is null or duration_sec >= query.min_duration)
        and (query.max_duration is null or duration_sec <= query.max_duration)
      order by
        case tier when 1 then search_title end,
        case when tier > 4 then extensions.word_similarity(typed, search_title) end desc,
        list_rank desc, created_at desc
      limit query.limit - cardinality(found_ids)
    );
  end loop;
  return found_ids;
end
$$;
comment on function private.search_sounds is
  'Returns the ids of active sounds that match q: titles that begin with it, titles with all words, all words '
  'anywhere, titles that contain it, otherwise similar titles.';

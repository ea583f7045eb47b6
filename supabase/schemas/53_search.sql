-- Search by words: GET /sounds?q=.

create materialized view private.vocabulary as
  select ltrim(word, '=#') collate "C" as word, max(ndoc) as sounds, bool_and(word !~ '^[=#]') as in_descriptions_only
  from ts_stat($$select search_vector from public.sounds where is_active
    union all select private.search_vector(name || ' ' || slug, null, null, null) from public.categories$$)
  where word !~ '^[=#]?[0-9/]' group by 1;
create unique index vocabulary_word on private.vocabulary (word);
create index vocabulary_trigrams on private.vocabulary using gin (extensions.show_trgm(word));
comment on materialized view private.vocabulary is 'Words of active sounds and of categories at the last hourly refresh, without numbers.';

-- Finds the words of a search. "terms" are the typed words, with up to 20 categories of that name. Long words and the
-- last one match beginnings, except frequent words without longer forms, which would take 10 ms. "known" are words of
-- sounds for them: equal ones, else with ü for ue, else similar ones. The words that a search drops first are last.
create function private.find_words(q text, out terms text[], out known text[], out frequencies double precision[], out last_unknown bigint)
language plpgsql stable set search_path = '' set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
declare
  words constant text[] := (private.search_words(q))[:case when octet_length(q) > 2 * char_length(q) then 12 else 6 end];
begin
  select
    array_agg(case when sounds < 2000 or has_longer then term else quote_literal(typed) end || coalesce(filed, '') order by place),
    (array_agg(format('''%s''%s', word, filed) order by is_corrected, in_descriptions_only, sounds) filter (where word <> ''))[:6],
    array_agg(sounds / greatest(reltuples, 1) order by is_corrected, in_descriptions_only, sounds) filter (where word <> ''),
    max(place) filter (where is_corrected is not false)
  into terms, known, frequencies, last_unknown
  from pg_class cross join unnest(words) with ordinality as given (typed, place)
  cross join lateral repeat(':*', (char_length(typed) > 3 or place = cardinality(words) or ascii(typed) > 3583)::integer) as star
  cross join lateral format('''%s''%s', typed, star) as term left join lateral (
    (select word, max(sounds) over () as sounds, in_descriptions_only, spelled <> typed as is_corrected, max(word) over () > typed as has_longer
      from unnest(array[typed, regexp_replace(typed, '([aou])e', '\1', 'g')]) as spelled join private.vocabulary
        on word >= spelled and word < spelled || case star when '' then chr(1) else chr(1114111) end
      order by spelled = typed desc, word = typed desc, vocabulary.sounds desc limit 1)
    union all
    (select typed, 0, false, false, true -- a number, or a word that is newer than the vocabulary
      where exists (select from public.sounds where is_active and search_vector @@ term::tsquery)
        or exists (select from public.categories where private.search_vector(name || ' ' || slug, null, null, null) @@ term::tsquery))
    union all
    (select word, sounds, in_descriptions_only, true, true from private.vocabulary
      where extensions.show_trgm(word) && extensions.show_trgm(typed) and extensions.similarity(word, typed) >= 0.2::real and typed !~ '[0-9]'
        and extensions.levenshtein(word, typed) <= least(char_length(typed) - 2, 2 + (char_length(typed) > 5)::integer)
      order by extensions.levenshtein(word, typed), sounds desc limit 1)
    limit 1
  ) as found on true cross join lateral (
    select string_agg(format('|''/%s''', slug), '') as filed from (select array(
      select id from public.categories
      where private.search_vector(name || ' ' || slug, null, null, null) @@ case when is_corrected then quote_literal(word) else term end::tsquery
      limit 21
    ) as ids offset 0) as named join public.categories on (id = any (ids) or parent_id = any (ids)) and cardinality(ids) <= 20
  ) as family
  where oid = 'public.sounds'::regclass;
end
$$;

-- Searches in tiers, the best results first: with the typed words (kept = 7), then with "known" words, each time one
-- less. Plans each statement with its values, as private.sounds_in_order does. Frequent words are first searched in the
-- head of the list. Otherwise "+ 0" keeps the planner from reading the whole list for words that rarely occur together.
create function private.search_sounds(query private.sound_query) returns uuid[]
language plpgsql stable security definer set search_path = '' set plan_cache_mode = force_custom_plan set enable_seqscan = off as $$
declare
  typed constant text := btrim(private.fold_for_search(query.q));
  slugs constant text[] := private.category_family(query.category, coalesce(query.include_children, false));
  searched constant text := private.like_pattern(nullif(query.search, ''));
  narrowed constant uuid[] := array(select id from public.sounds where is_active and search_title like searched limit 500);
  given constant record := private.find_words(typed);
  terms text[];
  matching tsquery;
  head record;
  tier text;
  ids uuid[] := '{}';
begin
  for kept in reverse 7..1 loop
    continue when typed = '' or cardinality(ids) > 0 or kept < 7 and kept > cardinality(given.known) - (given.last_unknown is null)::integer;
    terms := case kept when 7 then given.terms else given.known[:kept] end;
    select list_rank, created_at into head from public.sounds
      where is_active and 1 - 0.9 / cardinality(terms) < all (given.frequencies[:kept])
      order by list_rank desc, created_at desc offset 999 limit 1;
    foreach tier in array '{begins,title at head,title,words at head,words,contains}'::text[] loop
      continue when cardinality(ids) >= query.limit or tier in ('begins', 'contains') and kept < 7
        or tier <> 'begins' and kept = 7 and given.last_unknown > (tier = 'contains')::integer or tier like '% at head' and head is null;
      matching := case when tier like 'words%' then '(' || array_to_string(terms, ')&(') || ')' when tier like 'title%' then
        '''=' || substr(replace(regexp_replace(array_to_string(terms, '&'), '\|''.*?''', '', 'g'), '&''', '&''='), 2) end; -- without categories
      ids := ids || array(
        select id from public.sounds
        where is_active
          and case tier when 'begins' then search_title >= typed and search_title < typed || chr(1114111)
            when 'contains' then search_title like private.like_pattern(typed) else search_vector @@ matching end
          and (tier not like '% at head' or (list_rank, created_at) >= (head.list_rank, head.created_at))
          and id <> all (ids)
          and (query.category is null or category = any (slugs))
          and (query.featured is null or is_featured = query.featured)
          and (searched is null or case when cardinality(narrowed) < 500 then id = any (narrowed) else search_title like searched end)
          and (query.tag is null or tags @> query.tag)
          and (query.min_duration is null or duration_sec >= query.min_duration)
          and (query.max_duration is null or duration_sec <= query.max_duration)
        order by case tier when 'begins' then search_title end,
          list_rank + case when tier in ('title', 'words') or tier = 'contains' and char_length(typed) > 2 then 0 end desc, list_rank desc, created_at desc
        limit query.limit - cardinality(ids)
      );
    end loop;
  end loop;
  return ids;
end
$$;

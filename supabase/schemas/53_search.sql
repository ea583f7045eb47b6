-- Search by words: GET /sounds?q=.

create materialized view private.vocabulary as
  select ltrim(word, '=#') collate "C" as word, max(ndoc) as sounds, bool_and(word !~ '^[=#]') as in_descriptions_only
  from ts_stat($$select search_vector from public.sounds where is_active
    union all select private.search_vector(name || ' ' || slug, null, null, null) from public.categories$$)
  where word !~ '^[=#]?[0-9/]' group by 1;
create unique index vocabulary_word on private.vocabulary (word);
create index vocabulary_trigrams on private.vocabulary using gin (extensions.show_trgm(word));
comment on materialized view private.vocabulary is 'Words of active sounds and of categories at the last hourly refresh, without numbers.';

-- Returns the terms of q, and the words of sounds for them: whole words, otherwise words with ü for ue, otherwise similar
-- ones. A search leaves out the last of these first: corrected words, those of descriptions, frequent ones. Terms also match
-- up to 20 categories by their names, and beginnings, unless that takes 10 ms for a frequent word without longer ones.
create function private.find_words(q text, out terms text[], out known text[], out sound_counts integer[], out last_unknown bigint)
language plpgsql stable set search_path = '' set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
declare
  words constant text[] := (private.search_words(q))[:case when octet_length(q) > 2 * char_length(q) then 12 else 6 end];
begin
  select
    array_agg(case when sounds < 2000 or has_longer then term else quote_literal(typed) end || coalesce(filed, '') order by place),
    (array_agg(format('''%s''%s', word, filed) order by is_corrected, in_descriptions_only, sounds) filter (where word <> ''))[:6],
    array_agg(sounds order by is_corrected, in_descriptions_only, sounds) filter (where word <> ''),
    max(place) filter (where is_corrected is not false)
  into terms, known, sound_counts, last_unknown
  from unnest(words) with ordinality as given (typed, place)
  cross join lateral repeat(':*', (char_length(typed) > 3 or place = cardinality(words) or ascii(typed) > 3583)::integer) as star
  cross join lateral format('''%s''%s', typed, star) as term left join lateral (
    (select word, sounds, in_descriptions_only, spelled <> typed as is_corrected, max(word) over () > typed as has_longer
      from unnest(array[typed, regexp_replace(typed, '([aou])e', '\1', 'g')]) as spelled join private.vocabulary
        on word >= spelled and word < spelled || case star when '' then chr(1) else chr(1114111) end
      order by spelled = typed desc, word = typed desc, sounds desc limit 1)
    union all
    (select typed, 0, false, false, true -- a number, or newer than the vocabulary
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
  ) as family;
end
$$;

-- Runs one statement for each tier, planned with its values, as in private.sounds_in_order: for the words as typed (7),
-- then for words of sounds, each time without the last one. Sorts what the index of words finds, unless many sounds have
-- all words, because the planner would read the whole list for frequent words that never occur together.
create function private.search_sounds(query private.sound_query) returns uuid[]
language plpgsql stable security definer set search_path = '' set plan_cache_mode = force_custom_plan set enable_seqscan = off as $$
declare
  typed constant text := btrim(private.fold_for_search(query.q));
  slugs constant text[] := private.category_family(query.category, coalesce(query.include_children, false));
  searched constant text := private.like_pattern(nullif(query.search, ''));
  pattern constant text := private.like_pattern(typed);
  total constant double precision := (select greatest(reltuples, 1) from pg_class where oid = 'public.sounds'::regclass);
  given constant record := private.find_words(typed);
  terms text[];
  tier text;
  matching tsquery;
  is_sorted boolean;
  ids uuid[] := '{}';
begin
  for kept in reverse 7..1 loop
    continue when typed = '' or cardinality(ids) > 0 or kept < 7 and kept > cardinality(given.known) - (given.last_unknown is null)::integer;
    terms := case kept when 7 then given.terms else given.known[:kept] end;
    foreach tier in array '{begins,title,words,contains}'::text[] loop
      continue when cardinality(ids) >= query.limit or tier in ('begins', 'contains') and kept < 7
        or tier <> 'begins' and kept = 7 and given.last_unknown > (tier = 'contains')::integer;
      matching := case tier when 'title' then (select string_agg('''=' || substr(split_part(term, '|', 1), 2), '&') from unnest(terms) as term)
        when 'words' then '(' || array_to_string(terms, ')&(') || ')' end;
      is_sorted := matching is not null and (select sum(1 - n / total) from unnest(given.sound_counts[:kept]) as n) > 0.95;
      ids := ids || array(
        select id from public.sounds
        where is_active
          and case tier
            when 'begins' then search_title >= typed and search_title < typed || chr(1114111)
            when 'contains' then search_title like pattern
            else search_vector @@ matching
          end
          and id <> all (ids)
          and (query.category is null or category = any (slugs))
          and (query.featured is null or is_featured = query.featured)
          and (searched is null or search_title like searched)
          and (query.tag is null or tags @> query.tag)
          and (query.min_duration is null or duration_sec >= query.min_duration)
          and (query.max_duration is null or duration_sec <= query.max_duration)
        order by case tier when 'begins' then search_title end, case when is_sorted then list_rank + 0 else list_rank end desc, created_at desc
        limit query.limit - cardinality(ids)
      );
    end loop;
  end loop;
  return ids;
end
$$;

-- Words of the catalogue, and the most similar one for a misspelt word.

create view private.visible_category with (security_invoker = true) as
  select id, parent_id, slug, private.search_vector(name || ' ' || slug, null, null, null) as search_vector
  from public.categories
  where is_active and (parent_id is null or private.is_category_active(parent_id));
comment on view private.visible_category is
  'Categories that a search finds by their name or slug, with the search index of both.';

create materialized view private.vocabulary as
  with marked as (
    select word, ndoc from ts_stat($$
      select search_vector from public.sounds where is_active
      union all
      select search_vector from private.visible_category
    $$)
    where word !~ '^[=#]?[/+]'
  ),
  total as (select greatest(count(*), 1)::double precision as sounds from public.sounds where is_active),
  counted as (
    select ltrim(word, '=#') collate "C" as word, max(ndoc) / min(total.sounds) as share,
      bool_and(word !~ '^[=#]') as in_descriptions_only
    from marked cross join total
    group by 1
  )
  select word, share, in_descriptions_only from counted
  where share >= 0.001 or word !~ '^[0-9]';
create unique index vocabulary_word on private.vocabulary (word) include (share, in_descriptions_only);
comment on materialized view private.vocabulary is
  'Words of active sounds and of categories at the last refresh (hourly, and after an import). The share is the number '
  'of sounds and categories that have the word, divided by the number of sounds. Leaves out numbers that few sounds '
  'have, because each sound may be numbered.';

create function private.swaps(word text) returns text[]
language plpgsql immutable parallel safe set search_path = '' as $$
begin
  return array(
    select overlay(word placing substr(word, place + 1, 1) || substr(word, place, 1) from place for 2)
    from generate_series(1, char_length(word) - 1) as place
  );
end
$$;
comment on function private.swaps is 'Returns the spellings in which two neighbouring letters are swapped.';

create function private.max_edits(misspelt text) returns integer
language plpgsql immutable parallel safe set search_path = '' as $$
begin
  return case
    when char_length(misspelt) < 4 or misspelt ~ '[0-9]' then 0
    when char_length(misspelt) < 8 then 1
    else 2
  end;
end
$$;
comment on function private.max_edits is 'Returns how many edits of a word are corrected. A swap of neighbours is one.';

-- The first two letters stay, and the first three with two edits, because people rarely mistype a beginning. Only a
-- correction by a single swap may change them. Reads only words that begin so, because no index finds similar ones
-- among many short words. Without sequential scans Postgres reads the index of the vocabulary, also in a small
-- catalogue.
create function private.correction(misspelt text) returns text
language plpgsql stable set search_path = '' set enable_seqscan = off as $$
declare
  max_edits constant integer := private.max_edits(misspelt);
  swapped constant text[] := private.swaps(misspelt);
  swapped_twice constant text[] := array(
    select unnest(private.swaps(spelled)) from unnest(swapped) as spelled where max_edits = 2
  );
  correction text;
begin
  if max_edits = 0 then
    return null;
  end if;
  with beginning_alike as (
    select word, share, max_edits = 2 and left(word, 3) = left(misspelt, 3) as may_have_two
    from private.vocabulary
    where not in_descriptions_only and word >= left(misspelt, 2) and word < private.end_of_range(left(misspelt, 2))
      and abs(char_length(word) - char_length(misspelt)) <= max_edits
  ),
  alike as (
    select word, share, may_have_two,
      -- A swap has the distance 2, so a swap and another edit have 3.
      extensions.levenshtein_less_equal(word, misspelt, case when may_have_two then 3 else 1 end) as distance
    from beginning_alike
  ),
  candidates as (
    select word, share, distance as edits from alike
    union all -- a swap
    select word, share, 1 from private.vocabulary where word = any (swapped) and not in_descriptions_only
    union all -- a swap and another edit
    select word, share, 1 + extensions.levenshtein_less_equal(word, spelled, 1)
    from alike cross join unnest(swapped) as spelled where may_have_two and distance = 3
    union all
    select word, share, 2 from private.vocabulary where word = any (swapped_twice) and not in_descriptions_only
  )
  select word into correction
    from candidates
    where edits = 1 or (edits <= max_edits and left(word, 3) = left(misspelt, 3))
    order by edits, share desc, word limit 1;
  return correction;
end
$$;
comment on function private.correction is
  'Returns the most similar word of titles, tags and categories for a misspelt one, or null.';

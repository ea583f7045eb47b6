-- Orders the sounds that have the words of a search. The order is, first to last:
--   1. whole words in the title; 2. words or beginnings of words in the title;
--   3. and 4. the same in title, tags and category; 5. and 6. the same in all texts.
-- Within 1 and 2, titles that begin with the text of the search come first, by title; then all are in list order.
-- private.rank_sounds sorts few sounds so in one statement, private.ranked_by_tier fills a page step by step.

-- Plans each statement with its values, because the best plan depends on how frequent the words are. Disables
-- sequential scans for the reason given at private.any_matches. 32_list_order.sql lists the parameters of statements.
-- The place in $4 and $5 is that of the thousandth sound of the list here (private.end_of_head), or null.
create function private.add_sounds(
  page uuid[], query private.sound_query, condition text, ordering text, matching tsquery, folded text,
  end_of_head private.list_place
) returns uuid[] language plpgsql stable set search_path = '' set enable_seqscan = off as $$
declare
  conditions constant text := private.filter_conditions(query, 'sound.category = any ($2)') || ' and ' || condition;
  added uuid[];
begin
  execute format(
    'select array(select id from public.sounds as sound where %s and id <> all ($8) order by %s limit $3)',
    conditions, ordering)
    into added
    using query, private.slugs_of(query), query.limit - cardinality(page), end_of_head.key, end_of_head.moment,
      matching, folded, page;
  return page || added;
end
$$;
comment on function private.add_sounds is
  'Adds the next sounds to a page that meet a condition, in an order.';

-- Sorts by list_rank + 0, which no index has, because the planner may otherwise read the whole list in the order of an
-- index to find words that rarely occur together.
create function private.add_matching(
  page uuid[], query private.sound_query, matching tsquery, end_of_head private.list_place
) returns uuid[] language plpgsql stable set search_path = '' as $$
begin
  if end_of_head.moment is not null and cardinality(page) < query.limit then
    page := private.add_sounds(page, query,
      'search_vector @@ $6 and (list_rank, created_at) >= ($4::bigint, $5)', 'list_rank desc, created_at desc',
      matching, null, end_of_head);
  end if;
  if cardinality(page) < query.limit then
    page := private.add_sounds(page, query,
      'search_vector @@ $6', 'list_rank + 0 desc, created_at desc', matching, null, null);
  end if;
  return page;
end
$$;
comment on function private.add_matching is
  'Adds sounds that match, in list order. Searches the head of the list first, if one is given.';

-- Compares with an end, so that the index of titles finds beginnings.
create function private.add_titles_beginning(
  page uuid[], query private.sound_query, matching tsquery, folded text
) returns uuid[] language plpgsql stable set search_path = '' as $$
begin
  if cardinality(page) >= query.limit then
    return page;
  end if;
  return private.add_sounds(page, query,
    'search_vector @@ $6 and search_title >= $7 and search_title < private.end_of_range($7)',
    'search_title, list_rank desc, created_at desc', matching, folded, null);
end
$$;
comment on function private.add_titles_beginning is
  'Adds sounds that match and whose title begins with the folded text of the search, by title.';

create function private.add_titles_containing(page uuid[], query private.sound_query, folded text) returns uuid[]
language plpgsql stable set search_path = '' as $$
begin
  if cardinality(page) >= query.limit or char_length(folded) < 4 then
    return page;
  end if;
  return private.add_sounds(page, query,
    'search_title like private.like_pattern($7)', 'list_rank + 0 desc, created_at desc', null, folded, null);
end
$$;
comment on function private.add_titles_containing is
  'Adds sounds whose title contains the folded text, also inside of words. Shorter texts than four letters would be '
  'inside of too many words.';

-- Words are frequent if at least a tenth of the sounds has all of them. This is certain if each of n words is missing
-- in less than 0.9/n of the sounds. About a hundred of the first thousand sounds of the list then have them, which is
-- the largest page. Where filters or a step leave fewer, private.add_matching goes on with the whole list.
create function private.end_of_head(found_words private.search_word[]) returns private.list_place
language plpgsql stable set search_path = '' as $$
declare
  min_share constant double precision := 1 - 0.9 / greatest(cardinality(found_words), 1);
  place private.list_place;
begin
  if not exists (select from unnest(found_words) where share <= min_share) then
    select list_rank, created_at into place from public.sounds where is_active
      order by list_rank desc, created_at desc offset 999 limit 1;
  end if;
  return place;
end
$$;
comment on function private.end_of_head is
  'Returns the place of the thousandth sound for frequent words. Null for others, or with fewer sounds.';

create function private.rank_sounds(candidates uuid[], tiers private.search_tier[], folded text, max_rows integer)
returns uuid[] language plpgsql stable set search_path = '' as $$
begin
  return array(
    select id
    from public.sounds cross join lateral (
      select min(step) as rank from unnest(tiers) with ordinality as tier (matching, part, step)
      where search_vector @@ matching
    ) as best
    where id = any (candidates)
    order by rank,
      case when tiers[rank].part = 'title' and starts_with(search_title, folded) then search_title end,
      list_rank desc, created_at desc
    limit max_rows
  );
end
$$;
comment on function private.rank_sounds is 'Sorts sounds by the first step whose query they match.';

create function private.ranked_by_tier(
  query private.sound_query, tiers private.search_tier[], folded text, end_of_head private.list_place
) returns uuid[] language plpgsql stable set search_path = '' as $$
declare
  tier private.search_tier;
  page uuid[] := '{}';
begin
  foreach tier in array tiers loop
    if tier.part = 'title' and folded is not null then
      page := private.add_titles_beginning(page, query, tier.matching, folded);
    end if;
    page := private.add_matching(page, query, tier.matching, end_of_head);
    exit when cardinality(page) >= query.limit;
  end loop;
  return page;
end
$$;
comment on function private.ranked_by_tier is 'Fills a page in the order of private.rank_sounds, without reading all.';

-- Sorts up to 500 sounds. More would take too long, so a page is then filled query by query, from the best one on. It
-- is filled so at once if there are certainly more. With the filter "search" there may be few sounds even then, and
-- each query would read all to find them.
create function private.ranked_sounds(
  query private.sound_query, found_words private.search_word[], short_words private.search_word[], folded text
) returns uuid[] language plpgsql stable set search_path = '' as $$
declare
  max_sorted constant integer := 500;
  in_any_order constant text := 'null::integer'; -- a constant sorts nothing
  tiers constant private.search_tier[] := private.preferring(private.search_tiers(found_words), short_words);
  widest constant tsquery := tiers[cardinality(tiers)].matching;
  end_of_head constant private.list_place := private.end_of_head(found_words);
  number_of_sounds constant real := (select reltuples from pg_class where oid = 'public.sounds'::regclass);
  are_too_many_to_sort constant boolean := end_of_head.moment is not null
    or (cardinality(found_words) = 1 and found_words[1].share * number_of_sounds > max_sorted);
  wide_query private.sound_query := query;
  candidates uuid[];
begin
  if query.search is not null or not are_too_many_to_sort then
    wide_query.limit := max_sorted + 1;
    candidates := private.add_sounds('{}', wide_query, 'search_vector @@ $6', in_any_order, widest, null, null);
    if cardinality(candidates) <= max_sorted then
      return private.rank_sounds(candidates, tiers, folded, query.limit);
    end if;
  end if;
  return private.ranked_by_tier(query, tiers, folded, end_of_head);
end
$$;
comment on function private.ranked_sounds is
  'Returns sounds that have all words, best first. Of equal ones, those that also have the short words come first. '
  'Compares no titles with the text of the search if folded is null.';

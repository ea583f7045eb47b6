-- Looks the words of a search up in the catalogue, as packages/client/src/search-lookup.ts does. Read
-- private.read_search at the end of this file first, then upwards max_words, find_words, find_word and look_up, then
-- find_whole and find_longer. 53_search.sql says in which order to read the files.

create type private.search_word as (
  place integer,
  typed text,
  spelled text,
  joined text[],
  is_last boolean,
  is_known boolean,
  is_whole boolean,
  is_beginning boolean,
  slugs text[],
  slugs_beginning text[],
  share double precision,
  in_descriptions_only boolean
);
comment on type private.search_word is 'A word of a search, and what sounds and categories have of it.';
comment on column private.search_word.place is 'Position in the search, from 1.';
comment on column private.search_word.typed is 'The folded word, as private.search_words returns it.';
comment on column private.search_word.spelled is
  'The spelling that was looked up: typed, or without "e" after "a", "o" and "u" if neither the word as typed, nor a '
  'joined form, nor a longer word is known.';
comment on column private.search_word.joined is
  'Up to two texts: the word joined with the one before it and the one after it, because "lo fi" is also written '
  '"lofi". Words that may be pairs of letters (private.may_be_pair) are not joined.';
comment on column private.search_word.is_last is
  'True for the last word that is looked up, which people may still be typing. private.max_words cuts longer searches.';
comment on column private.search_word.is_known is
  'True if is_whole or is_beginning: the vocabulary had the word at its last refresh, or the catalogue has it now. '
  'Filters of the search do not matter.';
comment on column private.search_word.is_whole is
  'True if a sound or a category has the word itself, or joined with a neighbour.';
comment on column private.search_word.is_beginning is
  'True if longer words that begin with it match, too: the catalogue has some, or may have some that are newer than '
  'the vocabulary. False where private.look_up does not look for them.';
comment on column private.search_word.slugs is
  'Categories whose name or slug has the word or a joined form of it, and their sub-categories.';
comment on column private.search_word.slugs_beginning is
  'Categories whose name or slug has a word that begins with it, and their sub-categories.';
comment on column private.search_word.share is
  'Greatest share that the vocabulary has for the word and its joined forms (private.find_whole). If it has none of '
  'them, the greatest share of longer words (private.find_longer), else 0.';
comment on column private.search_word.in_descriptions_only is
  'True if the vocabulary has the word and its joined forms, or else the longer words, from descriptions only.';

-- Disables sequential scans, because Postgres would read the whole table if it overestimates how frequent a word is.
create function private.any_matches(matching tsquery) returns boolean
language plpgsql stable set search_path = '' set enable_seqscan = off as $$
begin
  return exists (select from public.sounds where is_active and search_vector @@ matching)
    or exists (select from private.visible_category where search_vector @@ matching);
end
$$;
comment on function private.any_matches is
  'Tells whether a sound or a category matches. Also finds rare numbers, and words newer than the vocabulary.';

-- Disables sequential scans for the reason given at private.any_matches.
create function private.slugs_named(matching tsquery) returns text[]
language plpgsql stable set search_path = '' set enable_seqscan = off as $$
declare
  max_categories constant integer := 20;
  named constant uuid[] := array(
    select id from private.visible_category where search_vector @@ matching limit max_categories + 1
  );
begin
  if cardinality(named) > max_categories then
    return '{}';
  end if;
  return array(select slug from private.visible_category where id = any (named) or parent_id = any (named));
end
$$;
comment on function private.slugs_named is
  'Returns the categories whose name or slug matches, and their sub-categories. None if more than 20 match.';

-- Plans its statements once (force_generic_plan), because the same index suits all words. Disables sequential scans, so
-- that Postgres uses it in small catalogues, too.
create function private.find_whole(word private.search_word) returns private.search_word
language plpgsql stable
set search_path = '' set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
declare
  forms constant text[] := word.spelled || word.joined;
  -- The index has neighbours such as "lo fi" also as "+lofi", from titles, tags, descriptions and names of categories.
  -- The vocabulary leaves out words with "+".
  indexed_forms constant text[] := forms || ('+' || word.spelled);
  matching constant tsquery := array_to_string(
    array(select quote_literal(form) from unnest(indexed_forms) as form), '|');
begin
  select max(known.share), bool_and(known.in_descriptions_only) into word.share, word.in_descriptions_only
    from private.vocabulary as known where known.word = any (forms);
  word.is_whole := word.share is not null or private.any_matches(matching); -- with a share, the vocabulary has a form
  word.slugs := case when word.is_whole then private.slugs_named(matching) end;
  return word;
end
$$;
comment on function private.find_whole is 'Adds to a word the sounds and categories that have the word itself.';

-- Plans as private.find_whole does.
create function private.find_longer(word private.search_word) returns private.search_word
language plpgsql stable
set search_path = '' set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
declare
  matching constant tsquery := quote_literal(word.spelled) || ':*';
  -- The share is null if the vocabulary has neither the word nor a joined form of it. It lacks rare numbers, and words
  -- that are newer.
  vocabulary_may_lack_it constant boolean := word.share is null or word.spelled ~ '^[0-9]';
  share_of_longer double precision;
  longer_in_descriptions_only boolean;
begin
  select max(known.share), bool_and(known.in_descriptions_only) into share_of_longer, longer_in_descriptions_only
    from private.vocabulary as known
    where known.word > word.spelled and known.word < private.end_of_range(word.spelled);
  word.is_beginning := case
    when share_of_longer is not null then true
    when vocabulary_may_lack_it then private.any_matches(matching)
    -- Longer words may be newer than the vocabulary. Assumes some for a rare word, and none for a frequent one, because
    -- to search for longer words would take 10 ms.
    else word.share < 0.1
  end;
  word.share := coalesce(word.share, share_of_longer);
  word.in_descriptions_only := coalesce(word.in_descriptions_only, longer_in_descriptions_only);
  word.slugs_beginning := case when word.is_beginning then private.slugs_named(matching) end;
  return word;
end
$$;
comment on function private.find_longer is 'Adds to a word the sounds and categories with longer words that begin so.';

create function private.look_up(word private.search_word, spelling text) returns private.search_word
language plpgsql stable set search_path = '' as $$
begin
  word.spelled := spelling;
  word.is_beginning := false;
  word := private.find_whole(word);
  -- Longer words count for the last word, and for others only if nothing has the word itself or a joined form. They
  -- always count for a word that may belong to a script of pairs of letters, because it may be a single letter there.
  if word.is_last or not word.is_whole or private.may_be_pair(spelling) then
    word := private.find_longer(word);
  end if;
  word.is_known := word.is_whole or word.is_beginning;
  word.share := coalesce(word.share, 0);
  word.in_descriptions_only := coalesce(word.in_descriptions_only, false);
  return word;
end
$$;
comment on function private.look_up is 'Adds to a word what the catalogue has in a spelling of it.';

create function private.find_word(word private.search_word) returns private.search_word
language plpgsql stable set search_path = '' as $$
declare
  without_e constant text := regexp_replace(word.typed, '([aou])e', '\1', 'g'); -- "ü" is also written "ue"
  as_typed private.search_word;
begin
  as_typed := private.look_up(word, word.typed);
  if as_typed.is_known or without_e = word.typed then
    return as_typed;
  end if;
  return private.look_up(word, without_e);
end
$$;
comment on function private.find_word is
  'Looks a word up as typed and, if it is unknown so, without "e" after "a", "o" and "u".';

create function private.find_words(words text[]) returns private.search_word[]
language plpgsql stable set search_path = '' as $$
declare
  joined constant text[] := private.joined_words(words);
  found_words private.search_word[] := '{}';
  word private.search_word;
begin
  for place in 1..cardinality(words) loop
    word := null;
    word.place := place;
    word.typed := words[place];
    -- Removes nulls: those beyond the first and the last word, and those of words that are not joined.
    word.joined := array_remove(array[joined[place - 1], joined[place]], null);
    word.is_last := place = cardinality(words);
    found_words := found_words || private.find_word(word);
  end loop;
  return found_words;
end
$$;
comment on function private.find_words is 'Returns the words of a search, each as the catalogue has it.';

create type private.search_text as (q text, folded text, words text[], found_words private.search_word[]);
comment on type private.search_text is 'A text to search for.';
comment on column private.search_text.q is 'The text as typed or corrected.';
comment on column private.search_text.folded is 'The folded text, to compare with titles.';
comment on column private.search_text.words is 'All words of the text.';
comment on column private.search_text.found_words is
  'The first words, each as the catalogue has it. Later words only count in titles that contain the whole text.';

create function private.max_words(folded text) returns integer
language plpgsql immutable set search_path = '' as $$
begin
  return case when octet_length(folded) > 2 * char_length(folded) then 12 else 6 end;
end
$$;
comment on function private.max_words is
  'Returns how many words of a text are looked up: 12 if most of its letters take three bytes, else 6. Chinese, '
  'Japanese and Thai need more, because their words are pairs of letters. Hindi has spaces, but gets as many.';

create function private.read_search(q text) returns private.search_text
language plpgsql stable set search_path = '' as $$
declare
  search private.search_text;
begin
  search.q := q;
  search.folded := btrim(private.fold_for_search(q));
  search.words := private.words_of_folded(search.folded);
  search.found_words := private.find_words(search.words[:private.max_words(search.folded)]);
  return search;
end
$$;
comment on function private.read_search is 'Splits a text to search for into words, and looks them up.';

-- Words of a search, and the spellings in which the catalogue has them.

create type private.search_word as (
  place integer,
  typed text,
  spelled text,
  joined text[],
  is_last boolean,
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
  'The spelling that sounds or categories have: typed, or with "u" for "ue". Null if none has the word.';
comment on column private.search_word.joined is
  'Up to two texts: the word joined with the one before it and the one after it, because "lo fi" is also written '
  '"lofi".';
comment on column private.search_word.is_last is 'True for the last word, which people may still be typing.';
comment on column private.search_word.is_whole is
  'True if a sound or a category has the word itself, or joined with a neighbour.';
comment on column private.search_word.is_beginning is 'True if longer words that begin with it match, too.';
comment on column private.search_word.slugs is 'Categories that are named so, and their sub-categories.';
comment on column private.search_word.slugs_beginning is 'Categories whose names have a word that begins so.';
comment on column private.search_word.share is
  'Share of the sounds that have the word; if the vocabulary lacks it, the share of the most frequent longer word that '
  'begins with it, else 0.';
comment on column private.search_word.in_descriptions_only is
  'True if the word, or else every longer one, is in descriptions and in no title, tag or category.';

-- Disables sequential scans, because Postgres would read the whole table if it overestimates how frequent a word is.
create function private.any_has(words tsquery) returns boolean
language plpgsql stable set search_path = '' set enable_seqscan = off as $$
begin
  return exists (select from public.sounds where is_active and search_vector @@ words)
    or exists (select from private.visible_category as category where category.words @@ any_has.words);
end
$$;
comment on function private.any_has is
  'Returns whether a sound or a category has words. Also finds numbers, and words that are newer than the vocabulary.';

-- Disables sequential scans for the reason given at private.any_has.
create function private.slugs_named(words tsquery) returns text[]
language plpgsql stable set search_path = '' set enable_seqscan = off as $$
declare
  max_categories constant integer := 20;
  named constant uuid[] := array(
    select id from private.visible_category as category where category.words @@ slugs_named.words
    limit max_categories + 1
  );
begin
  if cardinality(named) > max_categories then
    return '{}';
  end if;
  return array(select slug from private.visible_category where id = any (named) or parent_id = any (named));
end
$$;
comment on function private.slugs_named is
  'Returns the categories with words in their names, and their sub-categories. None if more than 20 have them.';

-- Finds beginnings for the last word, and for others only if no sound or category has the word itself. Words of
-- scripts without spaces are pairs of letters, so a single letter is always a beginning. Leaves out beginnings of
-- frequent words without longer forms, which would take 10 ms. Plans its statements once (force_generic_plan), because
-- the same index suits all words. Disables sequential scans, so that Postgres uses it in small catalogues, too.
create function private.look_up(word private.search_word, spelled text) returns private.search_word
language plpgsql stable
set search_path = '' set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
declare
  whole constant text[] := array[spelled, '+' || spelled] || word.joined;
  whole_query constant tsquery := array_to_string(array(select quote_literal(form) from unnest(whole) as form), '|');
  beginning_query constant tsquery := quote_literal(spelled) || ':*';
  is_of_unspaced_script constant boolean := ascii(spelled) >= 3584; -- U+0E00
  last_character constant text := chr(1114111); -- U+10FFFF
  share_of_longer double precision;
  longer_in_descriptions_only boolean;
begin
  select max(known.share), bool_and(known.in_descriptions_only) into word.share, word.in_descriptions_only
    from private.vocabulary as known where known.word = any (whole);
  word.is_whole := word.share is not null or private.any_has(whole_query);
  word.is_beginning := false;
  if word.is_last or not word.is_whole or is_of_unspaced_script then
    select max(known.share), bool_and(known.in_descriptions_only) into share_of_longer, longer_in_descriptions_only
      from private.vocabulary as known where known.word > spelled and known.word < spelled || last_character;
    word.is_beginning := case
      when share_of_longer is not null then true
      when word.share is not null then word.share < 0.1
      else private.any_has(beginning_query)
    end;
  end if;
  if word.is_whole or word.is_beginning then
    word.spelled := spelled;
    word.share := coalesce(word.share, share_of_longer, 0);
    word.in_descriptions_only := coalesce(word.in_descriptions_only, longer_in_descriptions_only, false);
    word.slugs := private.slugs_named(whole_query);
    word.slugs_beginning := case when word.is_beginning then private.slugs_named(beginning_query) end;
  end if;
  return word;
end
$$;
comment on function private.look_up is 'Adds to a word what the catalogue has in a spelling of it.';

create function private.find_word(word private.search_word) returns private.search_word
language plpgsql stable set search_path = '' as $$
declare
  without_e constant text := regexp_replace(word.typed, '([aou])e', '\1', 'g'); -- ü is also written ue
begin
  word := private.look_up(word, word.typed);
  if word.spelled is null and without_e <> word.typed then
    word := private.look_up(word, without_e);
  end if;
  return word;
end
$$;
comment on function private.find_word is
  'Looks a word up as typed and, if neither sounds nor categories have it, without "e" after "a", "o" and "u".';

create function private.find_words(q text) returns private.search_word[]
language plpgsql stable set search_path = '' as $$
declare
  -- Allows more words in scripts without spaces, because they are pairs of letters.
  max_words constant integer := case when octet_length(q) > 2 * char_length(q) then 12 else 6 end;
  typed constant text[] := (private.search_words(q))[:max_words];
  joined constant text[] := private.joined_words(typed);
  words private.search_word[] := '{}';
  word private.search_word;
begin
  for place in 1..cardinality(typed) loop
    word := null;
    word.place := place;
    word.typed := typed[place];
    word.joined := array_remove(array[joined[place - 1], joined[place]], null);
    word.is_last := place = cardinality(typed);
    words := words || private.find_word(word);
  end loop;
  return words;
end
$$;
comment on function private.find_words is 'Returns the first words of a search, each as the catalogue has it.';

-- Corrects the three longest, because each takes up to 20 ms among 50,000 words.
create function private.corrected_text(q text, words private.search_word[]) returns text
language plpgsql stable set search_path = '' as $$
declare
  misspelt constant text[] := array(
    select typed from unnest(words) where spelled is null order by char_length(typed) desc, place limit 3
  );
  corrections constant text[] := array(select private.correction(typed) from unnest(misspelt) as typed);
  part text;
  parts text[] := '{}';
  typed text[];
  spelled text[];
begin
  foreach part in array regexp_split_to_array(btrim(q), '\s+') loop
    typed := private.search_words(part);
    spelled := array(
      select coalesce(corrections[array_position(misspelt, word)], word) from unnest(typed) as word
    );
    parts := parts || case spelled when typed then part else array_to_string(spelled, ' ') end;
  end loop;
  return array_to_string(parts, ' ');
end
$$;
comment on function private.corrected_text is
  'Returns the text of a search, in which the most similar words replace those that the catalogue does not have.';

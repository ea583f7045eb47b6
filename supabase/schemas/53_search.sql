-- Search by words: GET /sounds?q=. packages/client/src/search.ts does the same with the copy in an app.
--
-- Read private.search_sounds at the end of this file first, then what it calls, in this order:
--   12_search_words.sql    folds a text and splits it into words, for the index and for a search;
--   53_found_words.sql     looks the words of a search up in the catalogue;
--   53_queries.sql         makes text queries of words;
--   53_ranking.sql         orders the sounds that have words;
--   53_corrections.sql     finds the most similar word for a misspelt one.

create function private.sounds_with_text(query private.sound_query, search private.search_text) returns uuid[]
language plpgsql stable set search_path = '' as $$
declare
  has_words constant boolean := cardinality(search.found_words) > 0;
  are_known constant boolean := not exists (select from unnest(search.found_words) where not is_known);
  page uuid[] := '{}';
begin
  if has_words and are_known then
    page := private.ranked_sounds(query, search.found_words, '{}', search.folded);
  end if;
  return private.add_titles_containing(page, query, search.folded);
end
$$;
comment on function private.sounds_with_text is
  'Returns sounds that have all words, best first, then those whose titles contain the text, also with unknown words.';

-- Corrects the three longest unknown words, because each takes up to 20 ms among 50,000 words. A word is known, too, if
-- only a description has it, or if another word begins with it.
create function private.corrections_of(found_words private.search_word[]) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  misspelt text;
  correction text;
  corrections jsonb := '{}';
begin
  for misspelt in
    select typed from unnest(found_words) where not is_known order by char_length(typed) desc, place limit 3
  loop
    correction := private.correction(misspelt);
    if correction is not null then
      corrections := corrections || jsonb_build_object(misspelt, correction);
    end if;
  end loop;
  return corrections;
end
$$;
comment on function private.corrections_of is
  'Returns the most similar words for those that the catalogue does not have, for example {"raim": "rain"}.';

create function private.with_corrections(q text, corrections jsonb) returns text
language plpgsql stable set search_path = '' as $$
declare
  part text;
  corrected_part text;
  misspelt text;
  parts text[] := '{}';
begin
  foreach part in array regexp_split_to_array(btrim(q), '\s+') loop
    corrected_part := part;
    for misspelt in
      select word from unnest(private.search_words(part)) as word where corrections -> word is not null
    loop
      corrected_part := replace(private.fold_for_search(corrected_part), misspelt, corrections ->> misspelt);
    end loop;
    parts := parts || corrected_part;
  end loop;
  return array_to_string(parts, ' ');
end
$$;
comment on function private.with_corrections is
  'Replaces the corrected words in the text of a search, also inside of other words between the same spaces. Folds the '
  'parts between spaces that have one.';

create function private.is_short(word text) returns boolean
language plpgsql immutable set search_path = '' as $$
begin
  return word ~ '^[a-z]{1,3}$';
end
$$;
comment on function private.is_short is
  'Tells whether a word has up to three Latin letters. Most of these, such as "for" and "the", tell little of a sound, '
  'however few titles have them.';

create function private.most_telling_first(found_words private.search_word[], new_words text[])
returns private.search_word[] language plpgsql stable set search_path = '' as $$
begin
  return array(
    select word from unnest(found_words) as word where is_known and not private.is_short(typed)
    order by typed = any (new_words), in_descriptions_only, share, place
  );
end
$$;
comment on function private.most_telling_first is
  'Sorts the known words, without short ones. Those come first that were typed so before corrections, then those of '
  'titles, tags and categories before those of descriptions only, then rare ones.';

-- To find nothing rather than something wrong, keeps at least half of the known words, one of them in at most half of
-- the sounds. Leaves out at least one word, because no sound has all. Short words only decide the order.
create function private.sounds_with_fewer_words(
  query private.sound_query, found_words private.search_word[], new_words text[],
  out ids uuid[], out has_correction boolean
) language plpgsql stable set search_path = '' as $$
declare
  known constant private.search_word[] := private.most_telling_first(found_words, new_words);
  short_words constant private.search_word[] := array(
    select word from unnest(found_words) as word where is_known and private.is_short(typed)
  );
  most constant integer := least(cardinality(known), cardinality(found_words) - 1);
  fewest constant integer := (cardinality(known) + 1) / 2;
  kept private.search_word[];
begin
  ids := '{}';
  for number in reverse most..fewest loop -- finds nothing for a single word
    kept := known[:number];
    if exists (select from unnest(kept) where share <= 0.5) then
      ids := private.ranked_sounds(query, kept, short_words, folded => null);
    end if;
    if cardinality(ids) > 0 then
      has_correction := exists (select from unnest(kept) where typed = any (new_words));
      return;
    end if;
  end loop;
end
$$;
comment on function private.sounds_with_fewer_words is
  'Leaves out words, the least telling first and never the most telling one, until there are sounds with the others. '
  'Returns these sounds, and whether one of the kept words was corrected.';

create function private.search_sounds(query private.sound_query, out ids uuid[], out corrected_q text)
language plpgsql stable set search_path = '' as $$
declare
  as_typed constant private.search_text := private.read_search(query.q);
  corrected private.search_text := as_typed; -- without corrections, the text stays
  corrections jsonb;
  new_words text[];
  has_correction boolean;
begin
  -- 1. All words as typed
  ids := private.sounds_with_text(query, as_typed);
  if cardinality(ids) > 0 then
    return;
  end if;

  -- 2. All words, misspelt ones corrected. Filters cause no corrections, because they make no word unknown.
  corrections := private.corrections_of(as_typed.found_words);
  if corrections <> '{}' then
    corrected := private.read_search(private.with_corrections(query.q, corrections));
    ids := private.sounds_with_text(query, corrected);
    if cardinality(ids) > 0 then
      corrected_q := corrected.q;
      return;
    end if;
  end if;

  -- 3. Fewer words
  new_words := array(select word from unnest(corrected.words) as word where word <> all (as_typed.words));
  select fewer.ids, fewer.has_correction into ids, has_correction
    from private.sounds_with_fewer_words(query, corrected.found_words, new_words) as fewer;
  if cardinality(ids) > 0 and has_correction then
    corrected_q := corrected.q;
  end if;
end
$$;
comment on function private.search_sounds is
  'Returns the best sounds for q. Returns the corrected text, too, if these sounds match a corrected word.';

-- Search by words: GET /sounds?q=. packages/client/src/search.ts does the same with the copy in an app.

create function private.sounds_as_typed(query private.sound_query, words private.search_word[], typed text)
returns uuid[] language plpgsql stable set search_path = '' as $$
declare
  is_known constant boolean := not exists (select from unnest(words) where spelled is null);
  page uuid[] := '{}';
begin
  if is_known then
    page := private.ranked_sounds(query, words, typed);
  end if;
  return private.add_titles_containing(page, query, typed);
end
$$;
comment on function private.sounds_as_typed is
  'Returns sounds that have all words, best first, then those whose titles contain the typed text.';

-- Leaves out words of descriptions first, then frequent ones, so that the rarest word decides. To find nothing rather
-- than something wrong, keeps at least half of the known words, one of them in at most half of the sounds.
create function private.sounds_with_most_words(
  query private.sound_query, words private.search_word[], corrected text[], out ids uuid[], out kept text[]
) language plpgsql stable set search_path = '' as $$
declare
  known constant private.search_word[] := array(
    select word from unnest(words) as word where spelled is not null
    order by typed = any (corrected), in_descriptions_only, share, place
  );
  most constant integer := least(cardinality(known), cardinality(words) - 1);
  fewest constant integer := greatest((cardinality(known) + 1) / 2, 1);
  kept_words private.search_word[];
begin
  ids := '{}';
  for number in reverse most..fewest loop
    kept_words := known[:number];
    if exists (select from unnest(kept_words) where share <= 0.5) then
      ids := private.ranked_sounds(query, kept_words, null);
    end if;
    exit when cardinality(ids) > 0;
  end loop;
  kept := array(select typed from unnest(kept_words));
end
$$;
comment on function private.sounds_with_most_words is
  'Returns sounds with as many of the rarest words as any sound has, and these words. Leaves out corrected ones first.';

create function private.search_sounds(query private.sound_query, out ids uuid[], out corrected_q text)
language plpgsql stable security definer set search_path = '' as $$
declare
  typed constant text := btrim(private.fold_for_search(query.q));
  words private.search_word[] := private.find_words(typed);
  corrected_typed text;
  corrected_words text[];
  kept text[];
begin
  ids := private.sounds_as_typed(query, words, typed);
  if cardinality(ids) > 0 then
    return;
  end if;

  corrected_q := nullif(private.corrected_text(query.q, words), query.q);
  if corrected_q is not null then
    corrected_typed := btrim(private.fold_for_search(corrected_q));
    words := private.find_words(corrected_typed);
    ids := private.sounds_as_typed(query, words, corrected_typed);
  end if;
  if cardinality(ids) > 0 then
    return;
  end if;

  corrected_words := array(
    select word from unnest(private.search_words(corrected_q)) as word
    where word <> all (private.search_words(typed))
  );
  select most.ids, most.kept into ids, kept
    from private.sounds_with_most_words(query, words, corrected_words) as most;
  if cardinality(ids) = 0 or not (kept && corrected_words) then -- found nothing, or only by words as typed
    corrected_q := null;
  end if;
end
$$;
comment on function private.search_sounds is
  'Returns the best sounds for q, and the corrected text if they are those for words that were corrected.';

-- Folds texts for searches, in this order: compatible forms ("ﬁ", "①"), Hebrew points, Arabic vowel marks and tatweel,
-- alef with hamza, accents and case. Adds a space between digits and letters. Names the dictionary of unaccent, because
-- the form without it is not immutable.
create function private.fold_for_search(value text) returns text language sql immutable parallel safe set search_path = '' as $$
  select regexp_replace(
    lower(extensions.unaccent('extensions.unaccent', translate(
      regexp_replace(
        normalize(value, nfkc), '[\u0591-\u05BD\u05BF\u05C1\u05C2\u05C4\u05C5\u05C7\u0640\u064B-\u065F\u0670]', '', 'g'
      ),
      U&'\0622\0623\0625\0671\266F\266D', U&'\0627\0627\0627\0627#b'
    ))),
    '(?<=[0-9])(?=[a-z\u00C0-\u1FFF\u2C00-\u2FEF\u3040-\uFFDC])|(?<=[a-z\u00C0-\u1FFF\u2C00-\u2FEF\u3040-\uFFDC])(?=[0-9])', ' ', 'g'
  )
$$;
comment on function private.fold_for_search is
  'Normalizes a text for searches: "Schöne Straße" to "schone strasse", "432Hz" to "432 hz", "F♯4" to "f#4".';

create function private.like_pattern(value text) returns text
language sql immutable parallel safe set search_path = '' as $$
  select '%' || regexp_replace(private.fold_for_search(value), '([\\%_])', '\\\1', 'g') || '%'
$$;
comment on function private.like_pattern is 'Returns the LIKE pattern for titles that contain a text.';

-- Splits at the separators of ASCII, Latin-1 and general punctuation, by code point, because character classes depend
-- on the locale. Uses PL/pgSQL, which keeps plans: in SQL an import takes 1.5 times as long.
create function private.search_words(value text) returns text[] language plpgsql immutable parallel safe set search_path = '' as $$
begin
  return array(
    select left(word, 50)
    from unnest(regexp_split_to_array(
      private.fold_for_search(value), '[\u0001-\u002F\u003A-\u0040\u005B-\u0060\u007B-\u00BF\u2000-\u206F\u3000-\u303F]+'
    )) as word
    where word <> ''
  );
end
$$;
comment on function private.search_words is 'Splits a text into the words that searches compare, cut to 50 characters.';

create function private.search_vector(title text, category text, tags text[], description text) returns tsvector
language plpgsql immutable parallel safe set search_path = '' as $$
begin
  return concat_ws(
    ' ',
    (select string_agg(format('''%s'':1A', word), ' ') from unnest(private.search_words(title)) as word),
    (select string_agg(format('''%s''', word), ' ')
      from unnest(private.search_words(concat_ws(' ', array_to_string(tags, ' '), description))) as word),
    '''/' || category || ''''
  )::tsvector;
end
$$;
comment on function private.search_vector is
  'Builds the search index of a sound: title (weight A), tags, description, and the category after a slash.';

grant execute on function private.fold_for_search, private.search_words, private.search_vector to service_role;

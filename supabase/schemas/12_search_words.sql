-- Texts as searches compare them.

-- unaccent(text) is only stable, because its dictionary could change; this form names the dictionary that comes with Postgres.
create function private.fold_for_search(value text) returns text
language sql immutable parallel safe set search_path = '' as $$
  select lower(extensions.unaccent('extensions.unaccent', normalize(value, nfc)))
$$;
comment on function private.fold_for_search is
  'A text as the search compares it: without case and accents, however they were typed. "Schöne Straße" becomes "schone strasse".';
-- These are needed to write a sound or a category: columns of theirs are generated.
grant execute on function private.fold_for_search to service_role;

-- These are in PL/pgSQL, which keeps its plans: in SQL an import would take half as long again.
-- Split at what separates words in ASCII, Latin-1 and general punctuation, by code point: character classes depend on the locale.
create function private.search_words(value text) returns text[]
language plpgsql immutable parallel safe set search_path = '' as $$
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
comment on function private.search_words is 'The words of a text as q finds them; of longer ones the first 50 characters.';
grant execute on function private.search_words to service_role;

create function private.search_vector(title text, category text, tags text[], description text) returns tsvector
language plpgsql immutable parallel safe set search_path = '' as $$
declare
  of_title constant text[] := private.search_words(title);
  labels constant text[] := of_title || private.search_words(array_to_string(tags, ' '));
begin
  return array_to_tsvector(
    labels || array(select '=' || word from unnest(of_title) as word) || array(select '#' || word from unnest(labels) as word)
      || array_remove(array['/' || category], null) || private.search_words(description)
  );
end
$$;
comment on function private.search_vector is
  'What q searches in: all words; those of the title once more behind a =; those of title and tags once more behind a #; and the slug of '
  'the category behind a slash.';
grant execute on function private.search_vector to service_role;

-- Text queries for the words of a search, one for each step of the order in 53_ranking.sql.
--
-- They contain words as private.search_vector (12_search_words.sql) writes them in the index, with these marks:
--   none  a word of the title, the tags or the description;
--   =     a word of the title;
--   #     a word of the tags;
--   /     the slug of the category;
--   +     two neighbouring words in one, also after "=" or "#": "+lofi", "=+lofi".

create type private.search_part as enum ('title', 'labels', 'texts');
comment on type private.search_part is
  'Where words are searched: in the title; also in tags and the category; also in the description.';

create function private.marks_of(part private.search_part) returns text[]
language plpgsql immutable set search_path = '' as $$
begin
  return case part when 'title' then '{=}'::text[] when 'labels' then '{=,#}' else array[''] end;
end
$$;
comment on function private.marks_of is 'Returns the marks that private.search_vector gives the words of a part.';

-- Forms are words, which have no quotes, so they need no escaping.
create function private.any_of(forms text[], mark text) returns text
language plpgsql immutable set search_path = '' as $$
begin
  return format('''%s%s''', mark, array_to_string(forms, '''|''' || mark));
end
$$;
comment on function private.any_of is 'Returns the text query for any form of a word, with a mark.';

create function private.word_query(word private.search_word, part private.search_part, with_beginnings boolean)
returns text language plpgsql immutable set search_path = '' as $$
declare
  spellings constant text[] := array[word.spelled, '+' || word.spelled] || word.joined;
  is_beginning constant boolean := with_beginnings and word.is_beginning;
  mark text;
  alternatives text[] := '{}';
begin
  foreach mark in array private.marks_of(part) loop
    if word.is_whole then
      alternatives := alternatives || private.any_of(spellings, mark);
    end if;
    if is_beginning then
      alternatives := alternatives || (private.any_of(array[word.spelled], mark) || ':*');
    end if;
  end loop;
  if part <> 'title' and word.slugs <> '{}' then
    alternatives := alternatives || private.any_of(word.slugs, '/');
  end if;
  if part <> 'title' and is_beginning and word.slugs_beginning <> '{}' then
    alternatives := alternatives || private.any_of(word.slugs_beginning, '/');
  end if;
  return array_to_string(alternatives, '|');
end
$$;
comment on function private.word_query is
  'Returns the text query for any form of a word in a part of a sound. It is empty if there is none.';

create function private.words_query(
  found_words private.search_word[], part private.search_part, with_beginnings boolean
) returns tsquery language plpgsql immutable set search_path = '' as $$
declare
  word private.search_word;
  query text;
  queries text[] := '{}';
begin
  foreach word in array found_words loop
    query := private.word_query(word, part, with_beginnings);
    if query = '' then
      return null;
    end if;
    queries := queries || query;
  end loop;
  return '(' || array_to_string(queries, ')&(') || ')';
end
$$;
comment on function private.words_query is 'Returns the query for all words, or null if no sound can have one of them.';

create type private.search_tier as (matching tsquery, part private.search_part);
comment on type private.search_tier is 'A step of the order, with the query for its sounds.';

create function private.tiers_of(found_words private.search_word[], part private.search_part)
returns private.search_tier[] language plpgsql immutable set search_path = '' as $$
declare
  whole_words constant tsquery := private.words_query(found_words, part, false);
  beginnings constant tsquery := private.words_query(found_words, part, true);
  tiers private.search_tier[] := '{}';
begin
  if whole_words is not null then
    tiers := tiers || (whole_words, part)::private.search_tier;
  end if;
  if beginnings is distinct from whole_words then
    tiers := tiers || (beginnings, part)::private.search_tier;
  end if;
  return tiers;
end
$$;
comment on function private.tiers_of is 'Returns the queries for words in a part: whole words, then also beginnings.';

create function private.search_tiers(found_words private.search_word[]) returns private.search_tier[]
language plpgsql immutable set search_path = '' as $$
begin
  if cardinality(found_words) = 0 then
    return '{}';
  end if;
  return private.tiers_of(found_words, 'title') || private.tiers_of(found_words, 'labels')
    || private.tiers_of(found_words, 'texts');
end
$$;
comment on function private.search_tiers is
  'Returns the steps of the order, best first. The query of the last one finds all sounds.';

create function private.preferring(tiers private.search_tier[], short_words private.search_word[])
returns private.search_tier[] language plpgsql immutable set search_path = '' as $$
declare
  preferred tsquery;
begin
  if cardinality(short_words) = 0 then
    return tiers;
  end if;
  preferred := private.words_query(short_words, 'texts', true);
  return array(
    select (case when is_preferred then matching && preferred else matching end, part)::private.search_tier
    from unnest(tiers) with ordinality as tier (matching, part, step)
      cross join unnest(array[true, false]) as is_preferred
    order by step, is_preferred desc
  );
end
$$;
comment on function private.preferring is 'Puts sounds that also have the short words first within each step.';

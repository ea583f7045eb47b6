-- Searching by words: GET /sounds?q=.

create function private.near_spellings(word text) returns text[]
language sql immutable parallel safe set search_path = '' as $$
  select word || array(select overlay(word placing '' from place for 1) from generate_series(1, char_length(word)) as place)
$$;
comment on function private.near_spellings is
  'A word, and it without each of its letters: two words have one of these in common if a letter is missing, added or changed.';

create table private.known_words (
  word text collate "C" primary key
);
-- Of 60,000 words a handful is compared then, instead of all that are as long (20 ms for one word of a search).
create index known_words_by_spelling on private.known_words using gin (private.near_spellings(word));
comment on table private.known_words is 'The words of titles, tags and categories, by which a mistyped one is understood.';

alter table private.known_words enable row level security;
create policy "Nobody reaches known words" on private.known_words
  for all to anon, authenticated, service_role using (false) with check (false);

create function private.learn_words() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  if tg_table_name = 'sounds' then
    insert into private.known_words
      select substr(lexeme, 2) from unnest(tsvector_to_array(new.search_vector)) as lexeme where lexeme ~ '^#.*\D' -- no numbers
      on conflict do nothing;
  else
    insert into private.known_words select unnest(private.search_words(new.name || ' ' || new.slug)) on conflict do nothing;
  end if;
  return null;
end
$$;
create trigger sounds_learn_words
  after insert or update of title, tags on public.sounds for each row execute function private.learn_words();
create trigger categories_learn_words
  after insert or update of name, slug on public.categories for each row execute function private.learn_words();

-- Words that were corrected or hidden stay known: what is typed right is asked of the sounds. Common words are among the first of the list;
-- by index all sounds that have one would be gathered. Two letters swapped are one typo, though a distance of two.
create function private.spellings(typed text) returns text[]
language plpgsql stable set search_path = '' set random_page_cost = 1.1 set enable_seqscan = off as $$
declare
  term constant tsquery := quote_literal(typed) || ':*';
begin
  if char_length(typed) < 4
    or exists (select from public.categories where array_to_tsvector(private.search_words(name || ' ' || slug)) @@ term)
    or exists (
      select from (
        select search_vector from public.sounds where is_active order by list_rank desc, created_at desc limit 200
      ) as first where search_vector @@ term
    )
    or exists (select from public.sounds where is_active and search_vector @@ term)
  then
    return array[typed];
  end if;
  return typed || array(
    select word from private.known_words
    where private.near_spellings(word) && private.near_spellings(typed) and extensions.levenshtein_less_equal(word, typed, 1) <= 1
    union
    select word from private.known_words
    where word in (
      select overlay(typed placing reverse(substr(typed, place, 2)) from place for 2)
      from generate_series(1, char_length(typed) - 1) as place
    )
    limit 10
  );
end
$$;
comment on function private.spellings is
  'A word, and if none begins so, the known words that it is one typo away from; not where it has less than four letters.';

-- A word may be the beginning of one; short ones only at the end of the text, where somebody is still typing. A sound is also found by the
-- name of its category, and of the category above; a word that many of them have says nothing.
create function private.search_term(typed text, is_last boolean, out in_title text, out in_labels text, out anywhere text)
language plpgsql stable set search_path = '' set enable_seqscan = off as $$
declare
  spellings constant text[] := private.spellings(typed);
  ending constant text := case when is_last or char_length(typed) > 3 then ':*' else '' end;
  named uuid[];
  filed text;
begin
  select
    string_agg(quote_literal('=' || spelling) || ending, '|'),
    string_agg(quote_literal('#' || spelling) || ending, '|'),
    string_agg(quote_literal(spelling) || ending, '|')
    into in_title, in_labels, anywhere
    from unnest(spellings) as spelling;
  named := array(
    select id from public.categories where array_to_tsvector(private.search_words(name || ' ' || slug)) @@ anywhere::tsquery limit 20
  );
  select string_agg(quote_literal('/' || slug), '|') into filed from (
    select slug from public.categories where cardinality(named) < 20 and (id = any (named) or parent_id = any (named)) limit 100
  ) as family;
  in_title := '(' || in_title || ')';
  in_labels := '(' || concat_ws('|', in_labels, filed) || ')';
  anywhere := '(' || concat_ws('|', anywhere, filed) || ')';
end
$$;
comment on function private.search_term is 'One word of q as a part of a tsquery: for the title, for title, tags and category, and for all.';

-- The best come first: titles that begin with the text; titles with all words in any order; all words in title, tags and category; all words
-- there and in the description. Among equals it is list order. Six words are enough.
-- The planner cannot know how many sounds have a word. Many do: then enough are among the first of the list, which are looked through
-- once. Or few: then all of them are found by index, and put in order. Seldom neither: then each rank is found by index.
create function private.search_sounds(query private.sound_query) returns uuid[]
language plpgsql stable security definer set search_path = '' set random_page_cost = 1.1 set enable_seqscan = off as $$
declare
  typed constant text := private.fold_for_search(query.q);
  filters text := private.sound_conditions(query) || case when query.category is null then '' else format(
    ' and category = any (%L)', private.category_family(query.category, coalesce(query.include_children, false))
  ) end;
  list_order constant text := 'order by list_rank desc, created_at desc';
  wanted tsquery[];
  looked_at integer;
  seen_ids uuid[];
  seen_ranks integer[];
  found_ids uuid[];
  more_ids uuid[];
  missing integer;
begin
  select array[string_agg(in_title, '&'), string_agg(in_labels, '&'), string_agg(anywhere, '&')]::tsquery[] into wanted
    from unnest((private.search_words(query.q))[:6]) as word
      cross join lateral private.search_term(word, typed like '%' || word) as term;
  if wanted[1] is null then
    return '{}'; -- not a single word
  end if;
  execute format(
    'select array(select id from public.sounds where %s and search_title >= %L and search_title < %L order by search_title, created_at limit %s)',
    filters, typed, typed || chr(1114111), query.limit
  ) into found_ids;
  for attempt in 1..2
  loop
    execute format(
      'select count(*), coalesce(array_agg(id %1$s) filter (where rank > 0), ''{}''), array_agg(rank %1$s) filter (where rank > 0)
      from (
        select id, list_rank, created_at, case when (%5$s and search_vector @@ %4$L) is not true then 0
          when search_vector @@ %2$L then 1 when search_vector @@ %3$L then 2 else 3 end as rank
        from public.sounds where is_active %6$s limit 2000
      ) as seen',
      list_order, wanted[1], wanted[2], wanted[3], filters,
      case attempt when 1 then list_order else format('and %s and search_vector @@ %L', filters, wanted[3]) end
    ) into looked_at, seen_ids, seen_ranks;
    exit when looked_at < 2000 or attempt = 1 and cardinality(seen_ids) > 20;
    seen_ids := '{}';
  end loop;
  for rank in 1..3
  loop
    missing := query.limit - cardinality(found_ids);
    exit when missing = 0;
    more_ids := array(
      select id from unnest(seen_ids, seen_ranks) with ordinality as seen (id, seen_rank, position)
      where seen_rank <= rank and id <> all (found_ids) order by position limit missing
    );
    if cardinality(more_ids) < missing and looked_at = 2000 then
      execute format(
        'with found as materialized (
          select id, list_rank, created_at from public.sounds where %s and search_vector @@ %L and id <> all (%L)
        ) select array(select id from found %s limit %s)',
        filters, wanted[rank], found_ids, list_order, missing
      ) into more_ids;
    end if;
    found_ids := found_ids || more_ids;
  end loop;
  return found_ids;
end
$$;
comment on function private.search_sounds is 'The ids of the active sounds that q finds, the best first.';

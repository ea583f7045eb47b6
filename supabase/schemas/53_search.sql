-- Searching by words: GET /sounds?q=.

create table private.known_words (
  word text collate "C" primary key
);
create index known_words_by_length on private.known_words (char_length(word));
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

-- Two letters swapped are one typo, though a distance of two.
create function private.spellings(typed text) returns text[]
language sql stable set search_path = '' set enable_seqscan = off as $$
  select case
    when char_length(typed) < 4 or exists (select from private.known_words where starts_with(word, typed)) then array[typed]
    else typed || array(
      select word from private.known_words
      where char_length(word) between char_length(typed) - 1 and char_length(typed) + 1
        and extensions.levenshtein_less_equal(word, typed, 1) <= 1
      union
      select word from private.known_words
      where word in (
        select overlay(typed placing reverse(substr(typed, place, 2)) from place for 2)
        from generate_series(1, char_length(typed) - 1) as place
      )
      limit 10
    )
  end
$$;
comment on function private.spellings is
  'A word, and if no known one begins so, the known words that it is one typo away from.';

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
-- there and in the description. Among equals it is list order.
-- The planner cannot know how many sounds have a word. Many do: then enough are among the first of the list, which are looked through
-- once. Or few: then all of them are found by index, and sorted.
create function private.search_sounds(query private.sound_query) returns uuid[]
language plpgsql stable security definer set search_path = '' set random_page_cost = 1.1 set enable_seqscan = off as $$
declare
  typed constant text := private.fold_for_search(query.q);
  filters text := private.sound_conditions(query) || case when query.category is null then '' else format(
    ' and category = any (%L)', private.category_family(query.category, coalesce(query.include_children, false))
  ) end;
  list_order constant text := 'order by list_rank desc, created_at desc limit ';
  wanted tsquery[];
  ahead_ids uuid[];
  ahead_ranks integer[];
  found_ids uuid[];
  more_ids uuid[];
  missing integer;
begin
  select array[string_agg(in_title, '&'), string_agg(in_labels, '&'), string_agg(anywhere, '&')]::tsquery[] into wanted
    from unnest(private.search_words(query.q)) as word cross join lateral private.search_term(word, typed like '%' || word) as term;
  if wanted[1] is null then
    return '{}'; -- not a single word
  end if;
  execute format(
    'select array(select id from public.sounds where %s and search_title >= %L and search_title < %L order by search_title, created_at limit %s)',
    filters, typed, typed || chr(1114111), query.limit
  ) into found_ids;
  for rank in 1..3
  loop
    missing := query.limit - cardinality(found_ids);
    exit when missing = 0;
    if rank = 1 then
      execute format(
        'select array_agg(id), array_agg(case when search_vector @@ %L then 1 when search_vector @@ %L then 2 else 3 end)
        from (select id, search_vector from public.sounds where %s %s 2000) as ahead where search_vector @@ %L',
        wanted[1], wanted[2], filters, list_order, wanted[3]
      ) into ahead_ids, ahead_ranks;
    end if;
    more_ids := array(
      select id from unnest(ahead_ids, ahead_ranks) with ordinality as ahead (id, ahead_rank, position)
      where ahead_rank <= rank and id <> all (found_ids) order by position limit missing
    );
    if cardinality(more_ids) < missing then
      execute format(
        'with found as materialized (
          select id, list_rank, created_at from public.sounds where %s and search_vector @@ %L and id <> all (%L)
        ) select array(select id from found %s %s)',
        filters, wanted[rank], found_ids, list_order, missing
      ) into more_ids;
    end if;
    found_ids := found_ids || more_ids;
  end loop;
  return found_ids;
end
$$;
comment on function private.search_sounds is 'The ids of the active sounds that q finds, the best first.';

-- Adds 0, changes 1, drops 0. Made from supabase/schemas by npm run migration.

set local check_function_bodies = off;

create or replace function private.search_sounds(query private.sound_query) returns uuid[]
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
        select id, list_rank, created_at, case when not (%5$s and search_vector @@ %4$L) then 0
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

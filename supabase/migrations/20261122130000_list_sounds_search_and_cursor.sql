-- Two things of GET /sounds: the search ignores accents as well as case, and a cursor without its fraction of a second
-- still finds its sound.

create extension if not exists unaccent with schema extensions;

-- unaccent() is not immutable, as its dictionary might be another one tomorrow; with the dictionary named, as here, it is the
-- one that comes with Postgres.
create function private.fold_for_search(value text) returns text
language sql immutable parallel safe set search_path = '' as $$
  select lower(extensions.unaccent('extensions.unaccent', value))
$$;
comment on function private.fold_for_search is
  'A text as the search compares it: without case and accents. "Schöne Straße" becomes "schone strasse".';
-- Whoever may write sounds has their column search_title calculated.
grant execute on function private.fold_for_search to service_role;

-- PostgreSQL 15 cannot change the expression of a column; the indexes that include it go with it.
alter table public.sounds drop column search_title;
alter table public.sounds add column search_title text collate "C"
  not null generated always as (private.fold_for_search(title)) stored;
comment on column public.sounds.search_title is 'Calculated from title, for the search; there is nothing to enter.';

create index sounds_list on public.sounds (list_rank, created_at) include (id, search_title) where is_active;
create index sounds_featured on public.sounds (is_featured, list_rank, created_at) include (id, search_title)
  where is_active;
create index sounds_category on public.sounds (category, list_rank, created_at)
  include (id, search_title, is_active, is_featured);
create index sounds_category_featured on public.sounds (category, list_rank, created_at) include (id, search_title)
  where is_active and is_featured;
create index sounds_title on public.sounds using gin (search_title extensions.gin_trgm_ops) where is_active;

-- The sound that a cursor names stands at its very moment. Clients that cut the fraction send the second of a sound that
-- stands a little later; of several in that second the last in list order, so that no page is sent twice.
create or replace function private.sounds_in_list_order(
  slugs text[], featured boolean, title_search text, after timestamptz, max_rows integer
) returns uuid[]
language plpgsql stable security definer set search_path = '' set random_page_cost = 1.1 set enable_seqscan = off as $$
declare
  anchor_rank bigint;
  anchor_time timestamptz(3) := after;
  condition text := 'is_active';
  statement text;
  found_ids uuid[];
begin
  if featured is not null then
    condition := condition || case when featured then ' and is_featured' else ' and not is_featured' end;
  end if;
  if title_search <> '' then
    title_search :=
      '%' || regexp_replace(private.fold_for_search(title_search), '([\\%_])', '\\\1', 'g') || '%';
    condition := condition || ' and search_title like $2';
  end if;
  if after is not null then
    select list_rank into anchor_rank from (
      select list_rank from public.sounds where created_at = anchor_time
      union all
      select list_rank from private.former_positions where created_at = anchor_time
    ) as anchor limit 1;
    if not found and after = date_trunc('second', after) then
      select list_rank, created_at into anchor_rank, anchor_time from (
        select list_rank, created_at from public.sounds
          where created_at > after and created_at < after + interval '1 second'
        union all
        select list_rank, created_at from private.former_positions
          where created_at > after and created_at < after + interval '1 second'
      ) as anchor order by list_rank, created_at limit 1;
    end if;
    condition := condition
      || case when found then ' and (list_rank, created_at) < ($3, $4)' else ' and created_at < $4' end;
  end if;

  statement := 'select id, list_rank, created_at from public.sounds where ' || condition;
  if slugs is not null then
    statement := 'select sound.* from unnest($1) as slug cross join lateral ('
      || statement || ' and category = slug order by list_rank desc, created_at desc limit $5) as sound';
  end if;
  execute 'select array(select id from (' || statement
    || ' order by list_rank desc, created_at desc limit $5) as found)'
    into found_ids using slugs, title_search, anchor_rank, coalesce(anchor_time, after), max_rows;
  return found_ids;
end
$$;

-- Adds 4, changes 1, drops 0. Made from supabase/schemas by npm run migration.

set local check_function_bodies = off;

create or replace function private.position_in_order(query private.sound_query, out key text, out moment timestamptz, out popular_at timestamptz)
language plpgsql stable set search_path = '' as $$
declare
  given jsonb;
begin
  given := convert_from(decode(left(query.cursor #>> '{}', 4000), 'hex'), 'UTF8');
  key := given ->> 1;
  moment := given ->> 2;
  popular_at := given ->> 3;
  if (given ->> 0 = query.sort and key is not null and moment is not null and (query.sort <> 'popular' or key::bigint >= 0)) is not true then
    raise data_exception;
  end if;
exception
  when data_exception then
    raise exception 'This is no cursor of this order.' using errcode = 'check_violation', constraint = 'cursor_is_of_its_order';
end
$$;

create or replace function private.sounds_in_order(query private.sound_query, out ids uuid[], out next_cursor json)
language plpgsql stable security definer set search_path = '' set random_page_cost = 1.1 set enable_seqscan = off as $$
declare
  source text := 'public.sounds';
  slugs constant text[] := case when query.category is not null then
    private.category_family(query.category, coalesce(query.include_children, false)) end;
  key text := 'list_rank';
  direction text := 'desc';
  after_key text;
  after_time timestamptz;
  popular_at timestamptz;
  conditions text := private.sound_conditions(query);
  order_and_limit text;
  statement text;
  keys text[];
  times timestamptz[];
begin
  if query.cursor is not null and query.sort is null then
    select rank, moment into after_key, after_time from private.list_position((query.cursor #>> '{}')::timestamptz);
  elsif query.cursor is not null then
    select position.* into after_key, after_time, popular_at from private.position_in_order(query) as position;
  end if;
  if query.sort = 'newest' then
    key := 'created_at';
  elsif query.sort = 'title' then
    key := 'search_title';
    direction := 'asc';
  elsif query.sort = 'popular' then
    popular_at := private.popular_order(popular_at);
    source := 'public.sounds join private.popularity using (created_at)';
    conditions := conditions || format(' and ordered_at = %L', popular_at);
    key := 'plays';
  end if;
  if query.cursor is not null then
    conditions := conditions || format(
      case when after_key is null or key = 'created_at' then ' and created_at < %4$L'
        else ' and (%1$s, created_at) %2$s (%3$L, %4$L)' end,
      key, case direction when 'asc' then '>' else '<' end, after_key, after_time
    );
  end if;

  order_and_limit := format(' order by key %1$s, created_at %1$s limit %2$s', direction, query.limit + 1);
  statement := format('select id, %s as key, created_at from %s where %s', key, source, conditions);
  if slugs is not null and key = 'plays' then
    statement := statement || format(' and category = any (%L)', slugs);
  elsif slugs is not null then
    statement := format(
      'select found.* from unnest(%L::text[]) as slug cross join lateral (%s and category = slug%s) as found', slugs, statement,
      order_and_limit
    );
  end if;
  execute format('select array_agg(id), array_agg(key::text), array_agg(created_at) from (%s%s) as page', statement, order_and_limit)
    into ids, keys, times;
  if cardinality(ids) > query.limit then
    ids := ids[:query.limit];
    next_cursor := case
      when key = 'list_rank' then to_json(to_char(times[query.limit] at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
      else to_json(encode(convert_to(jsonb_build_array(query.sort, keys[query.limit], times[query.limit], popular_at)::text, 'UTF8'), 'hex'))
    end;
  end if;
end
$$;

comment on function "private"."position_in_order"(private.sound_query) is 'Reads a cursor that private.sounds_in_order has written.';

revoke all on function "private"."position_in_order"(private.sound_query) from public;

grant execute on function "private"."position_in_order"(private.sound_query) to "postgres";

-- Parameters of GET /sounds, and the conditions of its filters. 32_list_order.sql lists the parameters of statements.

create type private.sound_query as (
  category text, include_children boolean, featured boolean, search text, tag text[],
  min_duration numeric, max_duration numeric, q text, ids uuid[], sort text, "limit" integer, cursor jsonb
);

-- Reads parameters from an object, because PostgREST reads an argument of a GET such as "in.(a)" as a filter. #>> also
-- reads a JSON string, which some releases pass. Cuts values, because users may call it without the gateway.
create function private.sound_query(filters jsonb) returns private.sound_query
language plpgsql immutable set search_path = '' as $$
declare
  given constant jsonb := (filters #>> '{}')::jsonb;
  -- Cuts lists before it reads them, because a million ids would take seconds.
  ids constant jsonb := jsonb_path_query_array(given, '$.ids[0 to 99]');
  tags constant jsonb := jsonb_path_query_array(given, '$.tag[0 to 9]');
  asked private.sound_query := jsonb_populate_record(null::private.sound_query, given - '{ids,tag}'::text[]);
begin
  if jsonb_typeof(given -> 'ids') <> 'null' then
    asked.ids := array(select left(id, 100)::uuid from jsonb_array_elements_text(ids) as id);
  end if;
  -- Keeps one character more than tags and categories may have, so that a cut text equals no stored one.
  asked.tag := (
    select array_agg(normalize(left(tag, 101), nfc)) from jsonb_array_elements_text(tags) as tag
    where tag is not null
  );
  asked.category := left(asked.category, 101);
  asked.search := nullif(left(asked.search, 100), '');
  asked.q := nullif(left(asked.q, 100), '');
  asked.limit := least(greatest(coalesce(asked.limit, 50), 1), 100);
  return asked;
end
$$;

-- Contains only the filters that are present, because Postgres uses no index for "$1 is null or …".
create function private.filter_conditions(query private.sound_query, category_condition text) returns text
language plpgsql immutable set search_path = '' as $$
begin
  return concat_ws(' and ',
    'sound.is_active',
    case when query.category is not null then category_condition end,
    case when query.featured is not null then 'sound.is_featured = ($1).featured' end,
    case when query.search is not null then 'sound.search_title like private.like_pattern(($1).search)' end,
    case when query.tag is not null then 'sound.tags @> ($1).tag' end,
    case when query.min_duration is not null then 'sound.duration_sec >= ($1).min_duration' end,
    case when query.max_duration is not null then 'sound.duration_sec <= ($1).max_duration' end
  );
end
$$;
comment on function private.filter_conditions is
  'Returns the filters of a query as SQL about "sound", for statements whose first parameter is the query.';

create function private.slugs_of(query private.sound_query) returns text[]
language plpgsql stable set search_path = '' as $$
begin
  if query.category is null then
    return null;
  end if;
  return private.category_family(query.category, coalesce(query.include_children, false));
end
$$;
comment on function private.slugs_of is
  'Returns the slugs that the category of a query matches, also of hidden categories, whose sounds stay visible. An '
  'unknown one matches its own slug, which no sound has. Null without a category.';

-- The gateway reads the catalogue by GET, so that a read replica may answer. PostgREST takes an argument of a GET that looks
-- like a filter ("in", "is.x", "fts(x") for one, and users type such words. So what a client chose goes in one argument that
-- begins with "{". Older releases of PostgREST hand it over as a JSON string, newer ones as the object: #>> makes text of either.

create function public.list_filtered_sounds(filters jsonb default '{}') returns json
language sql stable set search_path = '' as $$
  select private.list_sounds(
    left(category, 101), coalesce(include_children, false), featured, left(search, 100), coalesce("limit", 50), cursor
  )
  from jsonb_to_record((filters #>> '{}')::jsonb) as given (
    category text, include_children boolean, featured boolean, search text, "limit" integer, cursor timestamptz
  )
$$;
comment on function public.list_filtered_sounds is
  'One page of active sounds: {data, next_cursor}. "filters" is an object with the query parameters of GET /sounds.';
grant execute on function public.list_filtered_sounds to authenticated, service_role;

comment on function public.list_sounds is
  'The same as list_filtered_sounds with an argument for each filter. Gateways of earlier releases call it.';

-- Adds 0, changes 1, drops 0. Made from supabase/schemas by npm run migration.

set local check_function_bodies = off;

create or replace function private.list_sounds(query private.sound_query) returns json
language plpgsql stable security definer set search_path = '' set enable_seqscan = off as $$
declare
  page_ids uuid[];
  next_cursor json;
begin
  if query.ids is not null then
    page_ids := array(
      select id from unnest(query.ids) with ordinality as wanted (id, position) join public.sounds using (id)
      where is_active order by position
    );
  elsif query.q <> '' then
    page_ids := private.search_sounds(query);
  else
    select ids, page.next_cursor into page_ids, next_cursor from private.sounds_in_order(query) as page;
  end if;
  return json_build_object(
    'data', array(
      select (select to_json(sound) from private.sound as sound where sound.id = page.id)
      from unnest(page_ids) with ordinality as page (id, position)
      order by position
    ),
    'next_cursor', next_cursor
  );
end
$$;

-- Lists of the catalogue. They are definer functions that filter is_active, because with row-level security the
-- planner does not use the trigram index. Each returns one json value, because PostgREST limits the number of rows.

create view private.sound with (security_invoker = true) as
  select sound.id, sound.title, sound.description, sound.bowl_note, sound.frequency_hz, sound.duration_sec,
    sound.category, sound.tags,
    'covers/' || sound.cover_image_path as cover_image_url,
    sound.is_featured,
    coalesce(counter.plays, 0) as play_count,
    private.iso_time(sound.created_at) as created_at,
    sound.cover_placeholder, sound.is_premium
  from public.sounds as sound left join public.play_counts as counter on counter.sound_id = sound.id
  where sound.is_active;
comment on view private.sound is 'Sound in API responses. cover_image_url is a path that begins with the bucket.';
grant select on private.sound to authenticated;

create view private.stored_sound with (security_invoker = true) as
  select sound.*, stored.loudness_lufs, stored.true_peak_dbtp, stored.waveform,
    case when not is_locked then stored.audio_path end as audio_path, stored.cover_image_path, is_locked
  from private.sound as sound join public.sounds as stored using (id)
    cross join lateral (select sound.is_premium and not private.is_premium((select auth.uid())) as is_locked) as rule;
comment on view private.stored_sound is
  'Sound with the names of its files, for the SoundDetail of a response. A locked sound has no audio_path.';
grant select on private.stored_sound to authenticated;

create view private.sound_preview with (security_invoker = true) as
  select id, title, category,
    'covers/' || cover_image_path as cover_image_url,
    duration_sec, cover_placeholder, is_premium
  from public.sounds
  where is_active;
comment on view private.sound_preview is 'Compact sound in favorites, history and home sections.';
grant select on private.sound_preview to authenticated;

create function private.active_sounds(wanted uuid[]) returns uuid[]
language plpgsql stable set search_path = '' as $$
begin
  return array(
    select id from unnest(wanted) with ordinality as given (id, place) join public.sounds using (id)
    where is_active order by place
  );
end
$$;

-- Uses a subquery for each row, because for a join the planner may read the whole table.
create function private.sounds_as_json(ids uuid[]) returns json[]
language plpgsql stable set search_path = '' as $$
begin
  return array(
    select (select to_json(sound) from private.sound as sound where sound.id = page.id)
    from unnest(ids) with ordinality as page (id, place)
    order by place
  );
end
$$;

create function private.list_sounds(query private.sound_query) returns json
language plpgsql stable security definer set search_path = '' as $$
declare
  ids uuid[];
  next_cursor json;
  corrected_q text;
  data json[];
begin
  if query.ids is not null then
    ids := private.active_sounds(query.ids);
  elsif query.q is not null then
    select found.ids, found.corrected_q into ids, corrected_q from private.search_sounds(query) as found;
  else
    select page.ids, page.next_cursor into ids, next_cursor from private.sounds_in_order(query) as page;
  end if;
  data := private.sounds_as_json(ids);
  if corrected_q is not null then -- the field is absent from all other pages
    return json_build_object('data', data, 'next_cursor', next_cursor, 'corrected_q', corrected_q);
  end if;
  return json_build_object('data', data, 'next_cursor', next_cursor);
end
$$;

create function public.list_sounds(filters jsonb default '{}') returns json
language sql stable set search_path = '' as $$ select private.list_sounds(private.sound_query(filters)) $$;
comment on function public.list_sounds is
  'Returns one page of active sounds: {data, next_cursor}. "filters" has the query parameters of GET /sounds.';

create function public.get_sound(sound uuid) returns json language sql stable set search_path = '' as $$
  select row_to_json(stored) from private.stored_sound as stored where id = get_sound.sound
$$;
comment on function public.get_sound is
  'Returns an active sound with its file names, from which only the service can create addresses, or null.';

-- Runs as definer, because users cannot read the tables of Storage.
create function private.stored_file(bucket text, path text) returns json
language sql stable security definer set search_path = '' as $$
  select json_build_object(
    'path', name, 'version', trim('"' from metadata ->> 'eTag'),
    'content_type', metadata ->> 'mimetype', 'bytes', (metadata ->> 'size')::bigint
  )
  from storage.objects where bucket_id = bucket and name = path
$$;
comment on function private.stored_file is
  'Returns path, version, type and size of a file, or null if it is missing. The version changes with the content.';

create function private.list_sound_files(wanted jsonb) returns json
language sql stable security definer set search_path = '' as $$
  with given as (
    select value::uuid as id, place
    from jsonb_array_elements_text(jsonb_path_query_array((wanted #>> '{}')::jsonb, '$.ids[0 to 49]'))
      with ordinality as item (value, place)
  ),
  found as (
    select sound.*, place, is_premium and not private.is_premium(auth.uid()) as is_locked
    from given join public.sounds as sound using (id)
    where is_active
  )
  select coalesce(json_agg(json_build_object(
    'id', id,
    'audio', case when not is_locked then private.stored_file('audio', audio_path) end,
    'cover', private.stored_file('covers', cover_image_path),
    'is_locked', is_locked
  ) order by place), '[]') from found
$$;

create function public.list_sound_files(wanted jsonb) returns json
language sql stable set search_path = '' as $$ select private.list_sound_files(wanted) $$;
comment on function public.list_sound_files is
  'Returns the files of at most 50 active sounds, without audio if it is locked for the caller. "wanted" is '
  '{"ids": […]}. Only the service can create addresses.';

grant execute on function private.sound_query, private.list_sounds, public.list_sounds to authenticated, service_role;
grant execute on function public.get_sound, private.list_sound_files, public.list_sound_files to authenticated;

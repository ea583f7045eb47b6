-- Adds 0, changes 1, drops 0. Made from supabase/schemas by npm run migration.

set local check_function_bodies = off;

create or replace function public.refused_sounds (
  sounds json
)
  returns json
  language plpgsql
  set search_path to ''
as $function$
declare
  candidate record;
  refused json[] := '{}';
begin
  for candidate in
    select ordinality - 1 as index, value from json_array_elements(sounds) with ordinality
  loop
    begin
      insert into public.sounds (
        title, description, bowl_note, frequency_hz, duration_sec, tags, cover_image_path, audio_path, sort_order,
        created_at
      )
      -- A folder may be named like a bucket: its files are there by the time the row is written.
      select
        title, description, bowl_note, frequency_hz, duration_sec, tags, regexp_replace(cover_image_path, '^(covers/)+', ''),
        regexp_replace(audio_path, '^(audio/)+', ''), coalesce(sort_order, 0), coalesce(created_at, now())
      from json_populate_record(null::public.sounds, candidate.value);
      raise sqlstate 'SSOK0';
    exception
      when sqlstate 'SSOK0' then
        null;
      when integrity_constraint_violation or data_exception then
        refused := refused || json_build_object('index', candidate.index, 'message', sqlerrm);
    end;
  end loop;
  return to_json(refused);
end
$function$;

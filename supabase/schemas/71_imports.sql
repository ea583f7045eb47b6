-- State of `npm run import`, so that its next run, on any machine, detects changes that were made in the dashboard. Is
-- in public, because the import uses the data API; only the service has grants.

create table public.imported_sounds (
  -- Has no foreign key, because the import remembers that a sound was deleted in the dashboard.
  sound_id uuid primary key,
  fields jsonb not null,
  places jsonb not null default '[]',
  checksum text,
  said jsonb not null default '{}'
);
comment on table public.imported_sounds is
  'Kept by npm run import: what it wrote last into each sound. Nothing here is meant to be edited by hand.';
comment on column public.imported_sounds.sound_id is 'id of the sound, which may have been deleted since.';
comment on column public.imported_sounds.fields is 'The columns of the sound as the import wrote them last.';
comment on column public.imported_sounds.places is
  'Where the sound lies, once for each folder that it was imported from: the name of the folder (source), the file in it, and the key in '
  'sounds.csv.';
comment on column public.imported_sounds.checksum is 'SHA-256 of the recording that was imported last, in hex.';
comment on column public.imported_sounds.said is 'The columns that sounds.csv decided on. They stay until it decides otherwise.';

alter table public.imported_sounds enable row level security;
create policy "Users reach nothing of imports" on public.imported_sounds for all to anon, authenticated using (false) with check (false);
grant select, insert, update on public.imported_sounds to service_role;

create table public.imports (
  source text primary key,
  started_at timestamptz,
  answers jsonb not null default '{}',
  sheet boolean not null default false
);
comment on table public.imports is 'Kept by npm run import: the folders that it was given. Nothing here is meant to be edited by hand.';
comment on column public.imports.source is 'Name of the folder, or what --source said instead.';
comment on column public.imports.started_at is
  'When the import began that has not been finished yet. The moments of its sounds are counted from there. NULL when it was finished.';
comment on column public.imports.answers is 'Slug of the category that was given, when asked, to the sounds of each folder in it.';
comment on column public.imports.sheet is 'Whether there was a sounds.csv at the last import.';

alter table public.imports enable row level security;
create policy "Users reach nothing of imports" on public.imports for all to anon, authenticated using (false) with check (false);
grant select, insert, update on public.imports to service_role;

-- Inserts each row and rolls it back, so that the constraints of the table decide.
create function public.validate_sounds(sounds json) returns json language plpgsql set search_path = '' as $$
declare
  candidate record;
  refused json[] := '{}';
begin
  for candidate in select ordinality - 1 as index, value from json_array_elements(sounds) with ordinality loop
    begin
      insert into public.sounds
        (title, description, bowl_note, frequency_hz, duration_sec, tags, cover_image_path, audio_path, sort_order, created_at)
      -- Accepts a folder named like the bucket, as the table does once its files are uploaded.
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
$$;
comment on function public.validate_sounds is
  'Of rows for the table sounds, those that it would refuse, by their index, and why. Categories and ids are not looked at.';

grant execute on function public.validate_sounds to service_role;

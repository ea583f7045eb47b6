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
comment on table public.imported_sounds is 'Values that npm run import wrote last. Do not edit them by hand.';
comment on column public.imported_sounds.sound_id is 'Id of the sound, which may have been deleted.';
comment on column public.imported_sounds.fields is 'Columns of the sound as the import last wrote them.';
comment on column public.imported_sounds.places is 'Origins of the sound: folder (source), file and key in sounds.csv.';
comment on column public.imported_sounds.checksum is 'SHA-256 hash of the last imported recording, in hex.';
comment on column public.imported_sounds.said is 'Columns that sounds.csv set. They stay until it sets other values.';

alter table public.imported_sounds enable row level security;
create policy "Users reach nothing of imports" on public.imported_sounds for all to anon, authenticated
  using (false) with check (false);

create table public.imported_files (
  -- Collation "C" compares bytes, so that the import can read the table in pages.
  checksum text collate "C" primary key,
  audio_checksum text not null,
  facts jsonb not null,
  version smallint not null default 1,
  outdated jsonb
);
comment on table public.imported_files is
  'Measurements of recordings that npm run import has decoded, so that each is decoded once. Do not edit them by hand.';
comment on column public.imported_files.checksum is 'SHA-256 hash of the recording, in hex.';
comment on column public.imported_files.audio_checksum is
  'SHA-256 hash of the audio without tags, in hex. Files of equal audio are one sound.';
comment on column public.imported_files.facts is 'Columns of public.sounds that were measured in the file.';
comment on column public.imported_files.version is
  'Version of the rules of the measurement. npm run import measures files of an older version again.';
comment on column public.imported_files.outdated is 'Facts of an older version, which sounds may still have.';

alter table public.imported_files enable row level security;
create policy "Users reach nothing of imports" on public.imported_files for all to anon, authenticated
  using (false) with check (false);

create table public.imports (
  source text primary key,
  started_at timestamptz,
  sheet boolean not null default false
);
comment on table public.imports is 'Folders that npm run import has read. Do not edit them by hand.';
comment on column public.imports.source is 'Name of the folder, or the value of --source.';
comment on column public.imports.started_at is 'Start of an unfinished import. Null after the import has finished.';
comment on column public.imports.sheet is 'True if the last import had a sounds.csv.';

alter table public.imports enable row level security;
create policy "Users reach nothing of imports" on public.imports for all to anon, authenticated
  using (false) with check (false);
grant select, insert, update on public.imported_sounds, public.imported_files, public.imports to service_role;

-- Lets searches correct the spelling of new words at once, and not only after the next upkeep.
create function private.refresh_vocabulary() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  refresh materialized view concurrently private.vocabulary;
  return null;
end
$$;
create trigger imports_refresh_vocabulary after update of started_at on public.imports for each row
  when (old.started_at is not null and new.started_at is null) execute function private.refresh_vocabulary();

-- Inserts each row and rolls it back, so that the constraints of the table decide.
create function public.validate_sounds(sounds json) returns json language plpgsql set search_path = '' as $$
declare
  candidate record;
  given jsonb;
  refused json[] := '{}';
begin
  for candidate in select ordinality - 1 as index, value from json_array_elements(sounds) with ordinality loop
    begin
      -- Accepts a folder named like the bucket, as the table does once its files are uploaded.
      given := candidate.value::jsonb - 'category' || jsonb_build_object(
        'audio_path', regexp_replace(candidate.value ->> 'audio_path', '^(audio/)+', ''),
        'cover_image_path', regexp_replace(candidate.value ->> 'cover_image_path', '^(covers/)+', ''));
      execute format(
        'insert into public.sounds (%1$s) select %1$s from jsonb_populate_record(null::public.sounds, $1)',
        (select string_agg(quote_ident(key), ', ') from jsonb_object_keys(given) as key)
      ) using given;
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
  'Returns index and message of rows that the table sounds rejects. Ignores categories, because an import may create '
  'them.';

grant execute on function public.validate_sounds to service_role;

-- What `npm run import` wrote into the catalogue, so that its next run, on whatever machine, can tell what has been changed in
-- the dashboard since. In public, because the import knows the data API alone; for the service alone.

create table public.imported_sounds (
  -- Not a foreign key: that a sound was deleted in the dashboard is a change like any other, and has to be remembered.
  sound_id uuid primary key,
  file text not null,
  fields jsonb not null
);

comment on table public.imported_sounds is
  'Kept by npm run import: what it wrote last into each sound. Nothing here is meant to be edited by hand.';
comment on column public.imported_sounds.sound_id is 'id of the sound, which may have been deleted since.';
comment on column public.imported_sounds.file is 'Name of the recording in the folder of the import, for example bowls/F3.wav.';
comment on column public.imported_sounds.fields is 'The columns of the sound as the import wrote them last.';

alter table public.imported_sounds enable row level security;
create policy "Users reach nothing of imports" on public.imported_sounds
  for all to anon, authenticated using (false) with check (false);
grant select, insert, update on public.imported_sounds to service_role;

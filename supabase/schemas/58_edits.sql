-- Edits of administrators in the catalogue in the last 30 days, which admin.undo takes back. One transaction is one
-- change. An edit has only the columns that changed, so that it can be undone without touching others.

-- Returns the role that a request or an administrator chose. In note_edits, current_user is the owner of the function.
create function private.acting_role() returns text language plpgsql stable set search_path = '' as $$
begin
  return coalesce(nullif(current_setting('role'), 'none'), session_user::text);
end
$$;

create function private.current_change() returns text language plpgsql volatile set search_path = '' as $$
begin
  return left(md5(concat_ws(' ', pg_current_xact_id(), extract(epoch from now()))), 10);
end
$$;
comment on function private.current_change is
  'Names the transaction. Includes its time, because numbers of transactions begin again in a restored project.';

create table private.edits (
  -- Increases in the order of the statements, so that an undo can begin with the last one.
  id bigint primary key generated always as identity,
  change text not null default private.current_change(),
  table_name text not null,
  key jsonb not null,
  name text,
  before jsonb,
  after jsonb,
  changed_at timestamptz not null default now(),
  changed_by text not null default private.acting_role()
);
create index edits_change on private.edits (change);
create index edits_changed_at on private.edits (changed_at);
comment on table private.edits is
  'Rows of the catalogue that administrators added, changed or deleted in the last 30 days. No personal data.';
comment on column private.edits.change is 'Name of the transaction, for admin.undo.';
comment on column private.edits.key is 'Primary key of the row.';
comment on column private.edits.name is 'Title of the sound or section, or slug of the category. Null for a place.';
comment on column private.edits.before is 'Changed columns before the change. Null if the row was added.';
comment on column private.edits.after is 'Changed columns after the change. Null if the row is gone.';
comment on column private.edits.changed_by is 'Role that made the change, for example postgres for the dashboard.';

-- Includes the length, which the import measures again for another recording.
create function private.facts_of(path_column text) returns text[]
language plpgsql immutable set search_path = '' as $$
begin
  return case path_column
    when 'audio_path' then '{duration_sec,loudness_lufs,true_peak_dbtp,waveform}'::text[]
    when 'cover_image_path' then '{cover_placeholder}'::text[]
  end;
end
$$;
comment on function private.facts_of is
  'Returns the columns of a sound that are measured in the file that a column names.';

create function private.without_facts(columns jsonb) returns jsonb
language plpgsql immutable set search_path = '' as $$
begin
  if columns ? 'audio_path' then
    columns := columns - private.facts_of('audio_path');
  end if;
  if columns ? 'cover_image_path' then
    columns := columns - private.facts_of('cover_image_path');
  end if;
  return columns;
end
$$;
comment on function private.without_facts is
  'Removes the measurements of files whose paths are among the columns, because they follow from the files.';

create function private.picked(columns text[], stored jsonb) returns jsonb
language sql immutable set search_path = '' as $$
  select jsonb_object_agg(name, stored -> name) from unnest(columns) as name
$$;
comment on function private.picked is 'Returns some columns of a row.';

-- Returns the columns whose values differ. With the path of a file also all its facts, even if they are equal, because
-- an import may measure the new file before an undo, which then restores the old facts.
create function private.changed_columns(before jsonb, after jsonb) returns text[]
language plpgsql immutable set search_path = '' as $$
declare
  changed text[] := array(select key from jsonb_each(before) where value is distinct from after -> key);
begin
  if changed && '{audio_path,cover_image_path}' then
    changed := array(select unnest(changed) union select unnest(private.facts_of(name)) from unnest(changed) as name);
  end if;
  return changed;
end
$$;

-- Leaves out changes of nothing but measurements by the service, because these are no edits.
create function private.difference(before jsonb, after jsonb, out old_values jsonb, out new_values jsonb)
language plpgsql stable set search_path = '' as $$
declare
  computed constant text[] := '{updated_at,list_rank,search_title,search_vector}';
  measured constant text[] := private.facts_of('audio_path') || private.facts_of('cover_image_path');
  changed text[];
begin
  before := before - computed;
  after := after - computed;
  if before is null or after is null then
    old_values := before;
    new_values := after;
    return;
  end if;
  changed := private.changed_columns(before, after);
  if changed <> '{}' and not (changed <@ measured and private.acting_role() = 'service_role') then
    old_values := private.picked(changed, before);
    new_values := private.picked(changed, after);
  end if;
end
$$;
comment on function private.difference is
  'Returns the columns in which two versions of a row differ; the whole row if it was added or deleted; else nulls.';

-- Uses a dynamic statement, so that Postgres plans each call: with the plan for a single row, joining 4,000 rows takes
-- minutes. Notes a changed primary key as a deletion and an addition. Its argument has the columns of the primary key.
create function private.note_edits() returns trigger
language plpgsql security definer set search_path = '' set timezone = 'UTC' as $$
declare
  versions constant text := case tg_op
    when 'INSERT' then 'select null::jsonb as before, to_jsonb(new_row) as after from new_row'
    when 'DELETE' then 'select to_jsonb(old_row) as before, null::jsonb as after from old_row'
    else format(
      'select to_jsonb(old_row) as before, to_jsonb(new_row) as after from old_row full join new_row using (%s)',
      tg_argv[0])
  end;
begin
  if current_setting('sounds_service.upkeep', true) = 'true' then
    return null;
  end if;
  execute format($statement$
    insert into private.edits (table_name, key, name, before, after)
      select $1, private.picked($2, present), coalesce(present ->> 'title', present ->> 'slug'), old_values, new_values
      from (%s) as version
        cross join lateral coalesce(after, before) as present
        cross join lateral private.difference(before, after)
      where old_values is not null or new_values is not null
    $statement$, versions)
    using tg_table_name, string_to_array(tg_argv[0], ', ');
  return null;
end
$$;

create trigger sounds_note_added after insert on public.sounds
  referencing new table as new_row for each statement execute function private.note_edits('id');
create trigger sounds_note_changed after update on public.sounds
  referencing old table as old_row new table as new_row for each statement execute function private.note_edits('id');
create trigger sounds_note_deleted after delete on public.sounds
  referencing old table as old_row for each statement execute function private.note_edits('id');

create trigger categories_note_added after insert on public.categories
  referencing new table as new_row for each statement execute function private.note_edits('id');
create trigger categories_note_changed after update on public.categories
  referencing old table as old_row new table as new_row for each statement execute function private.note_edits('id');
create trigger categories_note_deleted after delete on public.categories
  referencing old table as old_row for each statement execute function private.note_edits('id');

create trigger home_sections_note_added after insert on public.home_sections
  referencing new table as new_row for each statement execute function private.note_edits('id');
create trigger home_sections_note_changed after update on public.home_sections
  referencing old table as old_row new table as new_row for each statement execute function private.note_edits('id');
create trigger home_sections_note_deleted after delete on public.home_sections
  referencing old table as old_row for each statement execute function private.note_edits('id');

create trigger home_section_sounds_note_added after insert on public.home_section_sounds
  referencing new table as new_row for each statement execute function private.note_edits('section_id, sound_id');
create trigger home_section_sounds_note_changed after update on public.home_section_sounds
  referencing old table as old_row new table as new_row
  for each statement execute function private.note_edits('section_id, sound_id');
create trigger home_section_sounds_note_deleted after delete on public.home_section_sounds
  referencing old table as old_row for each statement execute function private.note_edits('section_id, sound_id');

create function private.forget_edits() returns void language plpgsql volatile set search_path = '' as $$
begin
  delete from private.edits where id = any (array(
    select id from private.edits where changed_at < now() - interval '30 days'
    order by changed_at limit 100000 for update skip locked
  ));
end
$$;

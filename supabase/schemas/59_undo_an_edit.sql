-- Takes the edit of one row back, only where the row still is as the change left it.

create function private.has_values(stored jsonb, expected jsonb) returns boolean
language plpgsql immutable set search_path = '' as $$
begin
  return not exists (select from jsonb_each(expected) where value is distinct from stored -> key);
end
$$;
comment on function private.has_values is 'Returns whether a row has these values in these columns.';

create function private.is_undone(edit private.edits, stored jsonb) returns boolean
language plpgsql immutable set search_path = '' as $$
begin
  if edit.before is null then
    return stored is null or stored ->> 'deleted_at' is not null;
  end if;
  return private.has_values(stored, edit.before);
end
$$;
comment on function private.is_undone is 'Returns whether a row is as before the edit already.';

create function private.is_as_left(edit private.edits, stored jsonb) returns boolean
language plpgsql immutable set search_path = '' as $$
begin
  if edit.after is null then
    return stored is null;
  end if;
  return private.has_values(stored, private.without_facts(edit.after));
end
$$;
comment on function private.is_as_left is 'Returns whether a row still has the values of an edit.';

-- Moves an added row to the trash. Deletes an added place in a section, because there is no trash for places.
create function private.write_back(edit private.edits) returns void language plpgsql volatile set search_path = '' as $$
declare
  columns constant text := (select string_agg(quote_ident(name), ', ') from jsonb_object_keys(edit.before) as name);
  values_before constant text := format(
    'select %s from jsonb_populate_record(null::public.%I, $2)', columns, edit.table_name);
  is_row constant text := private.key_condition(edit.key);
  statement constant text := case
    when edit.before is null then format('delete from public.%I where %s', edit.table_name, is_row)
    -- A place. Other deleted rows are in the trash, where they are updated.
    when edit.after is null then format('insert into public.%I (%s) %s', edit.table_name, columns, values_before)
    else format('update public.%I set (%s) = (%s) where %s', edit.table_name, columns, values_before, is_row)
  end;
begin
  -- Lets a sound have its earlier created_at again, which is otherwise never reused.
  if edit.before ? 'created_at' then
    delete from private.former_positions where created_at = (edit.before ->> 'created_at')::timestamptz;
  end if;
  execute statement using edit.key, edit.before;
end
$$;
comment on function private.write_back is 'Gives a row the values that it had before an edit.';

-- Returns null if the edit can be taken back. Also counts a row as restored that is as before already, so that a
-- repeated undo says the same. A row that is gone was deleted for good, unless it is a place of a section: that was
-- removed, and can be inserted again.
create function private.outcome_without_writing(edit private.edits) returns text
language plpgsql stable set search_path = '' as $$
declare
  stored constant jsonb := private.stored_row(edit.table_name, edit.key);
begin
  return case
    when private.is_undone(edit, stored) then 'restored'
    when stored is null and edit.table_name <> 'home_section_sounds' then 'deleted for good: left alone'
    when not private.is_as_left(edit, stored) then 'changed again: left alone'
  end;
end
$$;
comment on function private.outcome_without_writing is 'Returns the outcome of an undo that leaves the row as it is.';

create type private.undone_edit as (edit private.edits, outcome text, is_rejected boolean);
comment on type private.undone_edit is
  'An edit, what its undo did in words, and whether a constraint has rejected the values before it.';

create function private.undo_edit(edit private.edits) returns private.undone_edit
language plpgsql volatile set search_path = '' as $$
declare
  undone private.undone_edit;
begin
  undone.edit := edit;
  undone.is_rejected := false;
  undone.outcome := private.outcome_without_writing(edit);
  if undone.outcome is null then
    perform private.write_back(edit);
    undone.outcome := 'restored';
  end if;
  return undone;
exception
  when integrity_constraint_violation then
    undone.outcome := 'left alone: ' || sqlerrm;
    undone.is_rejected := true;
    return undone;
end
$$;
comment on function private.undo_edit is 'Takes back an edit of one row.';

-- Names edits in words, for admin.recent_edits and the results of an undo.

create function private.key_condition(key jsonb) returns text language sql immutable set search_path = '' as $$
  select string_agg(format('%1$I = ($1 ->> %1$L)::uuid', name), ' and ') from jsonb_object_keys(key) as name
$$;
comment on function private.key_condition is 'Returns the condition of a row with this primary key, which is $1.';

create function private.stored_row(table_name text, key jsonb) returns jsonb
language plpgsql stable set search_path = '' set timezone = 'UTC' as $$
declare
  stored jsonb;
begin
  execute format('select to_jsonb(stored) from public.%I as stored where %s', table_name, private.key_condition(key))
    into stored using key;
  return stored;
end
$$;

create function private.name_of(edit private.edits) returns text language plpgsql stable set search_path = '' as $$
declare
  stored jsonb;
begin
  if edit.table_name = 'home_section_sounds' then
    return format('"%s" in "%s"',
      coalesce((select title from public.sounds where id = (edit.key ->> 'sound_id')::uuid), 'a deleted sound'),
      coalesce((select title from public.home_sections where id = (edit.key ->> 'section_id')::uuid), 'a deleted one'));
  end if;
  stored := private.stored_row(edit.table_name, edit.key);
  return format('"%s"', coalesce(stored ->> 'title', stored ->> 'slug', edit.name));
end
$$;
comment on function private.name_of is 'Returns the present name of an edited row, or its last one if the row is gone.';

-- Joins the edits of one row, in their order: the values before the first of each column and after the last.
create function private.joined_edit(edits private.edits[]) returns private.edits
language plpgsql immutable set search_path = '' as $$
declare
  joined private.edits := edits[1];
  edit private.edits;
begin
  foreach edit in array edits[2:] loop
    joined.id := edit.id;
    joined.name := edit.name;
    if joined.before is not null then -- else the change added the row
      joined.before := coalesce(edit.before, '{}') || joined.before;
    end if;
    joined.after := case when edit.after is not null then coalesce(joined.after, '{}') || edit.after end;
  end loop;
  return joined;
end
$$;

create function private.action_of(edit private.edits) returns text
language sql stable set search_path = '' as $$
  select case
    when edit.after is null and edit.table_name = 'home_section_sounds' then 'removed'
    when edit.after is null then 'deleted for good'
    when edit.after ->> 'deleted_at' is not null and edit.before ->> 'deleted_at' is null then 'deleted'
    when edit.before is null then 'added'
    when edit.before ->> 'deleted_at' is not null and edit.after ->> 'deleted_at' is null then 'brought back'
    else (
      select coalesce('changed ' || string_agg(key, ', ' order by key) || ' of', 'changed back')
      from jsonb_each(edit.before) where value is distinct from edit.after -> key
    )
  end
$$;
comment on function private.action_of is 'Returns what an edit did, in words: "deleted", "changed title of".';

create function private.noun_of(table_name text, is_one boolean) returns text
language sql immutable set search_path = '' as $$
  select case table_name
    when 'sounds' then case when is_one then 'sound' else 'sounds' end
    when 'categories' then case when is_one then 'category' else 'categories' end
    when 'home_sections' then case when is_one then 'home section' else 'home sections' end
    else case when is_one then 'place of' else 'places of home sections' end
  end
$$;

create view admin.recent_edits with (security_invoker = true) as
  with edited_rows as (
    select private.joined_edit(array_agg(edit order by id)) as edit, min(id) as first_id
    from private.edits as edit group by change, table_name, key
  ),
  acts as (
    select (edit).change, (edit).table_name, private.action_of(edit) as action, count(*) as edits,
      min(first_id) as first_id, max((edit).id) as last_id, min((edit).changed_at) as changed_at,
      min((edit).changed_by) as changed_by
    from edited_rows group by 1, 2, 3
  ),
  sentences as (
    select acts.*, concat_ws(' ', action, case when edits > 1 then edits::text end,
      private.noun_of(table_name, edits = 1),
      case when edits = 1 then (
        select coalesce('"' || name || '"', private.name_of(edit)) from private.edits as edit where id = last_id
      ) end
    ) as sentence
    from acts
  )
  select change, min(changed_at) as changed_at, min(changed_by) as changed_by, sum(edits)::bigint as edits,
    string_agg(sentence, '; ' order by first_id) as what
  from sentences group by change order by max(first_id) desc;
comment on view admin.recent_edits is
  'Changes of the catalogue in the last 30 days, newest first, one line for each transaction. admin.undo undoes one.';
comment on column admin.recent_edits.change is 'Name of the change, for admin.undo.';
comment on column admin.recent_edits.changed_by is
  'Role that made the change: postgres for the dashboard, service_role for an import.';
comment on column admin.recent_edits.edits is 'Number of changed rows. A row that was changed twice counts twice.';

-- Takes changes back. A row that a change edited more than once is restored as a whole or not at all.

create function private.edits_of_change(undone_change text, is_of_places boolean) returns setof private.edits
language plpgsql stable set search_path = '' as $$
begin
  return query
    select joined.* from (
      select array_agg(edits order by id) as of_row from private.edits
      where change = undone_change and (table_name = 'home_section_sounds') = is_of_places
      group by table_name, key
    ) as rows cross join lateral private.joined_edit(of_row) as joined
    order by joined.id desc;
end
$$;
comment on function private.edits_of_change is
  'Returns one edit for each row of a change, the one that was edited last first.';

create function private.with_taken_position(tried private.undone_edit) returns private.undone_edit
language plpgsql stable set search_path = '' as $$
declare
  edit constant private.edits := tried.edit;
begin
  if tried.outcome = 'restored' and not private.is_undone(edit, private.stored_row(edit.table_name, edit.key)) then
    tried.outcome := 'another sound has a position of its section: left alone';
  end if;
  tried.is_rejected := false;
  return tried;
end
$$;
comment on function private.with_taken_position is
  'Corrects the outcome "restored" of a place, after the undo of its section was rolled back because another sound has '
  'a position in it.';

-- Restores all places of a section together, because rows that swap their positions are never valid one by one.
create function private.undo_places(edits private.edits[]) returns private.undone_edit[]
language plpgsql volatile set search_path = '' as $$
declare
  undone private.undone_edit[] := '{}';
  edit private.edits;
begin
  set constraints public.position_is_taken_once_in_its_section deferred;
  foreach edit in array edits loop
    undone := undone || private.undo_edit(edit);
  end loop;
  set constraints public.position_is_taken_once_in_its_section immediate;
  return undone;
exception
  when unique_violation then
    return array(select private.with_taken_position(tried) from unnest(undone) as tried);
end
$$;

-- Repeats attempts that a constraint has rejected once, because they may succeed after other rows of the change
-- are undone: sounds can get the old slug of a renamed category only after the category.
create function private.undo_row_by_row(edits private.edits[]) returns private.undone_edit[]
language plpgsql volatile set search_path = '' as $$
declare
  edit private.edits;
  first_tries private.undone_edit[] := '{}';
  tried private.undone_edit;
  undone private.undone_edit[] := '{}';
begin
  foreach edit in array edits loop
    first_tries := first_tries || private.undo_edit(edit);
  end loop;
  foreach tried in array first_tries loop
    if tried.is_rejected then
      tried := private.undo_edit(tried.edit);
    end if;
    undone := undone || tried;
  end loop;
  return undone;
end
$$;

-- Takes each step back, because a row may not get its values at once: two categories that swapped their slugs by a
-- third one. Checks categories at the end, because a sound may get its old slug before the category. If a constraint
-- rejects a step, restores rows one by one, so that each is restored as a whole or not at all.
create function private.undo_rows(undone_change text) returns private.undone_edit[]
language plpgsql volatile set search_path = '' as $$
declare
  edits constant private.edits[] := array(select edits from private.edits_of_change(undone_change, false) as edits);
  undone private.undone_edit[];
begin
  undone := array(
    select (edit, private.outcome_without_writing(edit), false)::private.undone_edit from unnest(edits) as edit
  );
  set constraints public.category_is_the_slug_of_an_existing_category,
    public.rule_value_is_the_slug_of_an_existing_category deferred;
  perform private.write_back(step)
    from (
      select step from private.edits as step
        join unnest(undone) as tried
          on (step.table_name, step.key) = ((tried.edit).table_name, (tried.edit).key) and tried.outcome is null
      where step.change = undone_change
      order by step.id desc
    ) as steps;
  set constraints public.category_is_the_slug_of_an_existing_category,
    public.rule_value_is_the_slug_of_an_existing_category immediate;
  return array(
    select (tried.edit, coalesce(tried.outcome, 'restored'), false)::private.undone_edit from unnest(undone) as tried
  );
exception
  when integrity_constraint_violation then
    return private.undo_row_by_row(edits);
end
$$;
comment on function private.undo_rows is
  'Takes a change of sounds, categories and sections back, beginning with its last statement.';

create function private.undo_change(undone_change text) returns private.undone_edit[]
language plpgsql volatile set search_path = '' as $$
declare
  undone private.undone_edit[] := private.undo_rows(undone_change);
  places private.edits[];
begin
  for places in
    select array_agg(place order by id desc) from private.edits_of_change(undone_change, true) as place
    group by key -> 'section_id'
  loop
    undone := undone || private.undo_places(places);
  end loop;
  return undone;
end
$$;
comment on function private.undo_change is 'Takes a change back: rows first, then the places of home sections.';

create function private.undo_changes(changes text[]) returns table (outcome text, "rows" bigint, named text)
language plpgsql volatile set search_path = '' as $$
declare
  undone private.undone_edit[] := '{}';
  undone_change text;
begin
  foreach undone_change in array changes loop
    undone := undone || private.undo_change(undone_change);
  end loop;
  return query
    with tries as (
      select tried.edit, (tried.edit).table_name, (tried.edit).key, tried.outcome as result from unnest(undone) as tried
    )
    select result, count(distinct (table_name, key)),
      case when result <> 'restored' then
        string_agg(distinct private.noun_of(table_name, true) || ' ' || private.name_of(edit), ', ')
      end
    from tries group by result order by result = 'restored' desc, result;
end
$$;
comment on function private.undo_changes is
  'Takes changes back in this order. Returns the number of rows by outcome, and the names of those left alone.';

create function admin.undo(change text) returns table (outcome text, "rows" bigint, named text)
language plpgsql volatile set search_path = '' as $$
begin
  perform private.wait_for_catalogue();
  if not exists (select from private.edits where edits.change = undo.change) then
    raise exception 'There is no change "%" of the last 30 days. Take one from the column "change" of '
      'admin.recent_edits.', change;
  end if;
  return query select * from private.undo_changes(array[change]);
end
$$;
comment on function admin.undo is
  'Takes back a change of admin.recent_edits, where nothing changed it again. Undoing the undo repeats the change.';

create function admin.undo_since(moment text) returns table (outcome text, "rows" bigint, named text)
language plpgsql volatile set search_path = '' as $$
declare
  since constant timestamptz := admin.moment(moment);
  changes text[];
begin
  if since < now() - interval '30 days' then
    raise exception '"%" is more than 30 days ago, and changes are kept for 30 days. Check the year, or give a later '
      'moment: admin.recent_edits lists all changes with their times.', moment;
  end if;
  perform private.wait_for_catalogue();
  changes := array(
    select change from private.edits where changed_at >= since group by change order by max(id) desc
  );
  if changes = '{}' then
    raise exception 'Nothing was changed since %. admin.recent_edits has the changes of the last 30 days with their '
      'times.', since;
  end if;
  return query select * from private.undo_changes(changes);
end
$$;
comment on function admin.undo_since is
  'Takes back all changes of admin.recent_edits whose transactions began at or after a time such as '
  '2030-01-04 09:30 Europe/Berlin, newest first, for example those of an import.';

-- The trash. A deleted sound, category or section is hidden for 30 days and keeps all rows that name it. A later insert
-- could not restore a sound, because created_at is never reused.

create function private.move_to_trash() returns trigger language plpgsql set search_path = '' as $$
begin
  if current_setting('sounds_service.for_good', true) = 'true' then
    return old;
  end if;
  if old.deleted_at is null then
    execute format('update %s set is_active = false, deleted_at = now() where id = $1', tg_relid::regclass)
      using old.id;
  end if;
  return null;
end
$$;
comment on function private.move_to_trash is
  'Hides a row instead of deleting it. Deleting a row of the trash again changes nothing.';

create function private.leave_trash() returns trigger language plpgsql set search_path = '' as $$
begin
  new.deleted_at := null;
  return new;
end
$$;
comment on function private.leave_trash is
  'Takes a row out of the trash when it is activated. To take it out hidden, set only deleted_at to null.';

create trigger sounds_move_to_trash before delete on public.sounds for each row
  execute function private.move_to_trash();
create trigger sounds_leave_trash before update on public.sounds for each row
  when (new.is_active and old.deleted_at is not null) execute function private.leave_trash();
create trigger categories_move_to_trash before delete on public.categories for each row
  execute function private.move_to_trash();
create trigger categories_leave_trash before update on public.categories for each row
  when (new.is_active and old.deleted_at is not null) execute function private.leave_trash();
create trigger home_sections_move_to_trash before delete on public.home_sections for each row
  execute function private.move_to_trash();
create trigger home_sections_leave_trash before update on public.home_sections for each row
  when (new.is_active and old.deleted_at is not null) execute function private.leave_trash();

-- Names the trash, because the message of the unique constraint would send people to a row that they do not see.
create function private.refuse_slug_of_trash() returns trigger language plpgsql set search_path = '' as $$
declare
  deleted_at timestamptz;
begin
  execute format('select deleted_at from %s where slug = $1 and id <> $2', tg_relid::regclass)
    into deleted_at using new.slug, new.id;
  if deleted_at is not null then
    raise exception 'The slug "%" belongs to a row in the trash, deleted on %. Set is_active of that row to true to '
      'bring it back, or choose another slug.', new.slug, deleted_at::date
      using errcode = 'unique_violation', constraint = 'slug_is_not_taken_by_a_row_in_the_trash';
  end if;
  return new;
end
$$;
create trigger categories_refuse_slug_of_trash before insert or update of slug on public.categories for each row
  execute function private.refuse_slug_of_trash();
create trigger home_sections_refuse_slug_of_trash before insert or update of slug on public.home_sections for each row
  execute function private.refuse_slug_of_trash();

create function private.users_of_category(category public.categories) returns text
language plpgsql stable set search_path = '' as $$
declare
  sounds constant bigint := (
    select count(*) from public.sounds where sounds.category = users_of_category.category.slug);
  children constant bigint := (select count(*) from public.categories where parent_id = category.id);
  sections constant bigint := (select count(*) from public.home_sections where rule_value = category.slug);
begin
  return nullif(concat_ws(', ',
    private.counted(sounds, 'sound', 'sounds'),
    private.counted(children, 'sub-intention', 'sub-intentions'),
    private.counted(sections, 'home section', 'home sections')
  ), '');
end
$$;
comment on function private.users_of_category is
  'Returns how many sounds, sub-intentions and home sections name a category, in words. Null if none does.';

create view admin.trash with (security_invoker = true) as
  select 'sounds' as table_name, title as name, id, deleted_at, deleted_at + interval '30 days' as kept_until,
    null as named_by
  from public.sounds where deleted_at is not null

  union all select 'categories', slug, id, deleted_at, deleted_at + interval '30 days',
    private.users_of_category(category)
  from public.categories as category where deleted_at is not null

  union all select 'home_sections', slug, id, deleted_at, deleted_at + interval '30 days', null
  from public.home_sections where deleted_at is not null

  order by deleted_at desc, table_name, name, id;
comment on view admin.trash is
  'Deleted sounds, categories and home sections. Set is_active of a row to true in its table to bring it back.';
comment on column admin.trash.name is 'Title of the sound; slug of the category or section.';
comment on column admin.trash.kept_until is 'Time after which private.upkeep deletes the row for good.';
comment on column admin.trash.named_by is
  'What still names the category, in words. While something does, the category stays in the trash.';

create function private.trash_in_words() returns text language sql stable set search_path = '' as $$
  select nullif(concat_ws(', ',
    private.counted(count(*) filter (where table_name = 'sounds'), 'sound', 'sounds'),
    private.counted(count(*) filter (where table_name = 'categories'), 'category', 'categories'),
    private.counted(count(*) filter (where table_name = 'home_sections'), 'home section', 'home sections')
  ), '')
  from admin.trash
$$;
comment on function private.trash_in_words is
  'Returns what is in the trash, for example "3 sounds, 1 category". Null if it is empty.';

-- The column is named as in admin.catalogue_problems.
create view private.trash_problems with (security_invoker = true) as
  select 'trash_is_not_empty' as problem, format('the trash: %s', trash) as concerns, null::uuid as id,
    'Nothing, if that is right: after 30 days it is deleted for good. The view trash lists the rows; set is_active of '
    'one to true to bring it back.' as how_to_mend
  from private.trash_in_words() as trash where trash is not null;

create function private.delete_from_trash(table_name text, ids uuid[]) returns void
language plpgsql volatile set search_path = '' as $$
begin
  perform set_config('sounds_service.for_good', 'true', true);
  execute format('delete from public.%I where id = any ($1) and deleted_at is not null', table_name) using ids;
  perform set_config('sounds_service.for_good', '', true);
end
$$;
comment on function private.delete_from_trash is 'Deletes these rows of the trash for good, with all that names them.';

create function admin.delete_for_good(table_name text, id uuid) returns text
language plpgsql volatile set search_path = '' as $$
declare
  trashed admin.trash;
begin
  if (table_name in ('sounds', 'categories', 'home_sections')) is not true then
    raise exception 'There is no trash for "%". table_name is one of: sounds, categories, home_sections.', table_name;
  end if;
  perform private.wait_for_catalogue();
  select trash.* into trashed from admin.trash as trash
    where trash.table_name = delete_for_good.table_name and trash.id = delete_for_good.id;
  if trashed.id is null then
    raise exception 'The trash has no row of "%" with the id %. The view admin.trash lists what it has; delete a row '
      'in its table first.', table_name, id;
  elsif trashed.named_by is not null then
    raise exception 'The category "%" is still named by: %. Change these, or delete them for good, first.',
      trashed.name, trashed.named_by;
  end if;
  perform private.delete_from_trash(table_name, array[id]);
  return format('Deleted for good: "%s" of %s.', trashed.name, table_name);
end
$$;
comment on function admin.delete_for_good is
  'Deletes a row of the trash for good. table_name is sounds, categories or home_sections.';

-- Runs before the other deletions of private.upkeep, because these lock rows of listeners: all writers lock the
-- catalogue first, and would deadlock with one that does so last. Leaves the trash to the next hour if the catalogue is
-- locked, so that upkeep never waits for an import.
create function private.empty_trash() returns void language plpgsql volatile set search_path = '' as $$
declare
  due constant timestamptz := now() - interval '30 days';
  batch constant integer := 1000;
begin
  if not exists (select from admin.trash where deleted_at < due) or not private.try_catalogue() then
    return;
  end if;
  perform set_config('sounds_service.upkeep', 'true', true); -- so that its deletions are no edits
  perform private.delete_from_trash('home_sections', array(
    select id from public.home_sections where deleted_at < due limit batch for update skip locked
  ));
  perform private.delete_from_trash('sounds', array(
    select id from public.sounds where deleted_at < due order by deleted_at limit batch for update skip locked
  ));
  perform private.delete_from_trash('categories', array(
    select id from public.categories as category
    where deleted_at < due and private.users_of_category(category) is null limit batch for update skip locked
  ));
  perform set_config('sounds_service.upkeep', '', true);
end
$$;
comment on function private.empty_trash is
  'Deletes rows for good that have been in the trash for 30 days, except categories that something still names.';

-- Lists that users make of sounds: mixes, which play all sounds at once, and playlists, which play them in order. Each
-- is saved as a whole. Its version says which state an edit began from, so that no device overwrites another.

create function private.is_list_item(item jsonb) returns boolean language sql immutable set search_path = '' as $$
  select jsonb_typeof(item) = 'object'
    and array(select jsonb_object_keys(item) order by 1) = '{sound_id,volume}'
    and item ->> 'sound_id' ~* '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$'
    and case jsonb_typeof(item -> 'volume')
      when 'null' then true
      when 'number' then (item -> 'volume')::numeric between 0 and 1
      else false
    end
$$;
comment on function private.is_list_item is 'Accepts {"sound_id": uuid, "volume": number from 0 to 1, or null}.';

create function private.are_list_items(items jsonb, is_mix boolean) returns boolean
language plpgsql immutable set search_path = '' as $$
declare
  most constant integer := case when is_mix then 20 when not is_mix then 200 end;
begin
  if jsonb_typeof(items) <> 'array' then
    return false;
  elsif (jsonb_array_length(items) <= most) is not true then
    return false;
  elsif exists (select from jsonb_array_elements(items) as item where private.is_list_item(item) is not true) then
    return false;
  end if;
  return count(*) = count(distinct lower(item ->> 'sound_id')) from jsonb_array_elements(items) as item;
end
$$;
comment on function private.are_list_items is
  'Accepts a JSON array of items with different sounds: at most 20 in a mix, at most 200 in a playlist.';

create table public.lists (
  user_id uuid not null references auth.users (id) on delete cascade,
  id uuid not null,
  name text not null
    constraint list_name_is_trimmed_visible_and_has_1_to_100_characters check (private.is_proper_name(name, 100))
    constraint list_name_has_no_control_characters check (name !~ '[\u0001-\u001F\u007F-\u009F\u2028\u2029]'),
  is_mix boolean not null,
  items jsonb not null,
  version integer not null default 1 constraint version_is_positive check (version > 0),
  updated_at timestamptz(3) not null default now() constraint updated_at_is_finite check (isfinite(updated_at)),
  primary key (user_id, id),
  constraint items_are_different_sounds_at_most_20_in_a_mix_and_200_in_a_list
    check (private.are_list_items(items, is_mix))
);
create index lists_newest_first on public.lists (user_id, updated_at desc, id);
comment on table public.lists is 'Mixes and playlists of each customer, at most 200 with 5,000 items in all.';
comment on column public.lists.id is 'Id that the app gave to the list. Other customers may have the same.';
comment on column public.lists.is_mix is 'True for a mix, which plays all sounds at once; false for a playlist.';
comment on column public.lists.items is
  'Items [{"sound_id": …, "volume": …}] in their order. Volumes are 0 to 1, or null. May name deleted sounds, which '
  'responses leave out.';
comment on column public.lists.version is 'Number of times that apps have saved the list with a change.';
comment on column public.lists.updated_at is 'Time of the last change by an app.';

alter table public.lists enable row level security;
create policy "Users read their own lists" on public.lists for select to authenticated
  using (user_id = (select auth.uid()));
create policy "Tokens of other apps reach nothing" on public.lists as restrictive to authenticated
  using ((select (select auth.jwt()) ->> 'client_id' is null));
grant select on public.lists to authenticated;

create table private.removed_lists (
  user_id uuid not null references auth.users (id) on delete cascade,
  id uuid not null,
  removed_at timestamptz not null default now(),
  primary key (user_id, id)
);
create index removed_lists_oldest_first on private.removed_lists (removed_at);
create index removed_lists_newest_first on private.removed_lists (user_id, removed_at desc, id);
comment on table private.removed_lists is
  'Ids of lists that a customer removed in the last 30 days, so that a late edit does not bring one back.';

-- Reads ---------------------------------------------------------------------------------------------------------

-- Keeps the items of hidden sounds, without a preview, and leaves out those of deleted ones. It is called by functions
-- that run as the owner of public.sounds, which sees hidden ones. Reads each sound once, because lists share sounds.
create function private.own_lists(list_id uuid) returns json[] language plpgsql stable set search_path = '' as $$
begin
  return array(
    with own as (
      select * from public.lists where user_id = auth.uid() and (list_id is null or id = list_id)
    ),
    item as (
      select own.id as in_list, place, sound_id, volume
      from own cross join lateral rows from (
        jsonb_to_recordset(own.items) as (sound_id uuid, volume double precision)
      ) with ordinality as sent (sound_id, volume, place)
    ),
    known as materialized (
      select stored.id, to_json(preview) as preview
      from public.sounds as stored left join private.sound_preview as preview using (id)
      where stored.id in (select sound_id from item)
    ),
    listed as (
      select in_list, json_agg(entry order by place) as items
      from item join known on known.id = sound_id
        cross join lateral (select sound_id, volume, preview as sounds) as entry
      group by in_list
    )
    select json_build_object(
      'id', id, 'name', name, 'is_mix', is_mix, 'items', coalesce(listed.items, '[]'),
      'version', version, 'updated_at', private.iso_time(updated_at)
    )
    from own left join listed on in_list = id
    order by updated_at desc, id
  );
end
$$;
comment on function private.own_lists is
  'Returns a list of the caller as in API responses, or all of them, newest change first, if the id is null.';

create function private.list_lists() returns json
language plpgsql stable security definer set search_path = '' as $$
begin
  perform private.require_account();
  return to_json(private.own_lists(null));
end
$$;

create function public.list_lists() returns json
language sql stable set search_path = '' as $$ select private.list_lists() $$;
comment on function public.list_lists is 'Returns the mixes and playlists of the caller, newest change first.';

-- Saving --------------------------------------------------------------------------------------------------------

create type private.sent_list as (id uuid, name text, is_mix boolean, items jsonb, version integer);
comment on type private.sent_list is
  'A list of PUT /lists. Its items are null to remove it; its version is the one that the edit began from, or 0.';

-- Removes the items of deleted sounds, so that an edit of an old state does not bring them back.
create function private.existing_items(items jsonb) returns jsonb language plpgsql stable set search_path = '' as $$
begin
  return coalesce(jsonb_agg(jsonb_build_object('sound_id', item.sound_id, 'volume', volume) order by place), '[]')
    from rows from (jsonb_to_recordset(items) as (sound_id uuid, volume double precision)) with ordinality
      as item (sound_id, volume, place)
    where exists (select from public.sounds as sound where sound.id = item.sound_id);
end
$$;

create function private.sent_lists(lists jsonb) returns private.sent_list[]
language plpgsql stable set search_path = '' as $$
begin
  if jsonb_array_length(lists) > 20 then
    raise exception 'A call saves at most 20 lists.' using errcode = 'invalid_parameter_value';
  end if;
  return array(
    select (sent.id, private.trimmed(name), is_mix, items, version)::private.sent_list
    from jsonb_array_elements(lists) with ordinality as given (list, place)
      cross join jsonb_populate_record(null::private.sent_list, list) as sent
    order by place
  );
end
$$;
comment on function private.sent_lists is 'Reads the lists of a request, with trimmed names.';

-- Locks the account first, so that it is not deleted meanwhile. Serializes the calls of one user, so that each counts
-- the lists of the others. Users share 1,000 locks, as for favorites.
create function private.lock_lists() returns void language plpgsql volatile set search_path = '' as $$
begin
  perform private.require_account();
  perform private.require_player(auth.uid());
  perform pg_advisory_xact_lock('public.lists'::regclass::oid::integer, hashtext(auth.uid()::text) % 1000);
end
$$;

create function private.has_room_for(list private.sent_list) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return count(*) < 200 and coalesce(sum(jsonb_array_length(other.items)), 0) + jsonb_array_length(list.items) <= 5000
    from public.lists as other where user_id = auth.uid() and other.id <> list.id;
end
$$;
comment on function private.has_room_for is
  'Tells whether the caller has at most 200 lists with 5,000 items, with this one.';

-- Rejects items as they were sent, because the conversion accepts volumes in words and drops other keys.
create function private.converted_items(items jsonb, is_mix boolean) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  if private.are_list_items(items, is_mix) is not true then
    raise exception 'Send different sounds, each with a volume from 0 to 1 or null: at most 20 in a mix, 200 in a list.'
      using errcode = 'check_violation';
  end if;
  return private.existing_items(items);
end
$$;
comment on function private.converted_items is 'Returns sent items as they are stored.';

create function private.store_list(list private.sent_list) returns void
language plpgsql volatile set search_path = '' as $$
begin
  insert into public.lists as own (user_id, id, name, is_mix, items)
    values (auth.uid(), list.id, list.name, list.is_mix, list.items)
    on conflict (user_id, id) do update
      set name = excluded.name, is_mix = excluded.is_mix, items = excluded.items,
        version = own.version + 1, updated_at = greatest(now(), own.updated_at);
end
$$;
comment on function private.store_list is 'Stores a list as a new one, or as the next version.';

-- Compares the content before the version, so that a request can be repeated after a lost response.
create function private.save_list(sent private.sent_list, present public.lists) returns text
language plpgsql volatile set search_path = '' as $$
declare
  list private.sent_list := sent;
begin
  list.items := private.converted_items(sent.items, sent.is_mix);
  if present.id is null
    and (sent.version is distinct from 0
      or exists (select from private.removed_lists where user_id = auth.uid() and id = sent.id))
  then
    return 'deleted'; -- an edit of a list that another device removed
  elsif (list.name, list.is_mix, list.items)
    = (present.name, present.is_mix, private.existing_items(present.items))
  then
    return 'saved';
  elsif sent.version is distinct from coalesce(present.version, 0) then
    return 'changed';
  elsif not private.has_room_for(list) then
    return 'too_many';
  end if;
  perform private.store_list(list);
  return 'saved';
end
$$;
comment on function private.save_list is 'Saves a list unless another edit was faster. Returns its status.';

-- Remembers also an id that was never saved, because the request that saves it may still arrive. Forgets all but the
-- newest 10,000, so that no user fills the table.
create function private.remember_removal(list_id uuid) returns void
language plpgsql volatile set search_path = '' as $$
begin
  insert into private.removed_lists (user_id, id) values (auth.uid(), list_id) on conflict do nothing;
  delete from private.removed_lists where user_id = auth.uid() and id = any (array(
    select id from private.removed_lists where user_id = auth.uid() order by removed_at desc, id offset 10000
  ));
end
$$;

create function private.remove_list(sent private.sent_list, present public.lists) returns text
language plpgsql volatile set search_path = '' as $$
begin
  if present.id is not null and sent.version is distinct from present.version then
    return 'changed';
  end if;
  delete from public.lists where user_id = auth.uid() and id = sent.id;
  perform private.remember_removal(sent.id);
  -- To remove a list that is gone already is no change, but is remembered.
  return case when present.id is null then 'deleted' else 'saved' end;
end
$$;
comment on function private.remove_list is 'Removes a list unless another edit was faster. Returns its status.';

create function private.list_result(list_id uuid, status text) returns json
language plpgsql stable set search_path = '' as $$
begin
  return json_build_object('id', list_id, 'status', status, 'list', (private.own_lists(list_id))[1]);
end
$$;

create function private.save_lists(lists jsonb) returns json
language plpgsql volatile security definer set search_path = '' as $$
declare
  sent private.sent_list;
  present public.lists;
  status text;
  results json[] := '{}';
begin
  perform private.lock_lists();
  foreach sent in array private.sent_lists(lists) loop
    select own.* into present from public.lists as own where user_id = auth.uid() and own.id = sent.id;
    if sent.items is null then
      status := private.remove_list(sent, present);
    else
      status := private.save_list(sent, present);
    end if;
    results := array_append(results, private.list_result(sent.id, status));
  end loop;
  return to_json(results);
end
$$;

create function public.save_lists(lists jsonb) returns json
language sql volatile set search_path = '' as $$ select private.save_lists(lists) $$;
comment on function public.save_lists is
  'Saves mixes and playlists [{id, name, is_mix, items, version}] of the caller; items null removes one. Returns '
  '[{id, status, list}].';

grant execute on function private.list_lists, public.list_lists, private.save_lists, public.save_lists
  to authenticated;

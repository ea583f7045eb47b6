-- Saving of mixes and playlists: PUT /lists.

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
comment on function private.sent_lists is
  'Reads the lists of a request, with trimmed names. A JSON null becomes null, as for the items of a removal.';

-- Locks the account first, so that it is not deleted meanwhile. Serializes the calls of one user, so that each counts
-- the lists of the others.
create function private.lock_lists() returns void language plpgsql volatile set search_path = '' as $$
begin
  perform private.require_account();
  perform private.lock_user(auth.uid());
  perform pg_advisory_xact_lock('public.lists'::regclass::oid::integer, private.lock_number_of(auth.uid()));
end
$$;

-- Leaves out the items of deleted sounds only if there are too many with them, because that takes 20 ms instead of 1.
create function private.has_room_for(list private.sent_list) returns boolean
language plpgsql stable set search_path = '' as $$
declare
  room constant bigint := 5000 - jsonb_array_length(list.items);
  other_lists bigint;
  other_items bigint;
begin
  select count(*), coalesce(sum(jsonb_array_length(items)), 0) into other_lists, other_items
    from public.lists where user_id = auth.uid() and id <> list.id;
  if other_items > room then
    select count(*) into other_items
      from public.lists as other cross join jsonb_to_recordset(items) as item (sound_id uuid)
      where user_id = auth.uid() and other.id <> list.id
        and exists (select from public.sounds as sound where sound.id = item.sound_id);
  end if;
  return other_lists < 200 and other_items <= room;
end
$$;
comment on function private.has_room_for is
  'Tells whether the caller has at most 200 lists with 5,000 items of existing sounds, with this one.';

-- Checks what the gateway has checked already, because users can call the data API directly. Checks the items as sent:
-- the conversion would accept the volume "0.5" in quotes, and drop other keys.
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
  is_there constant boolean := present.id is not null;
  was_there constant boolean := sent.version is distinct from 0
    or exists (select from private.removed_lists where user_id = auth.uid() and id = sent.id);
begin
  list.items := private.converted_items(sent.items, sent.is_mix);
  if was_there and not is_there then
    return 'deleted'; -- another device has removed the list
  elsif (list.name, list.is_mix, list.items)
    = (present.name, present.is_mix, private.existing_items(present.items))
  then
    return 'saved';
  elsif list.version is distinct from coalesce(present.version, 0) then
    return 'changed';
  elsif not private.has_room_for(list) then
    return 'too_many';
  end if;
  perform private.store_list(list);
  return 'saved';
end
$$;
comment on function private.save_list is 'Saves a list unless another edit was faster. Returns its status.';

-- Remembers a first removal for 30 days (private.upkeep), also of an id that was never saved, because the request that
-- saves it may still arrive. Forgets all but the newest 10,000, so that no user fills the table.
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
  -- Returns deleted for a list that was gone before, because the call has changed nothing.
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
  -- Reads the list for each entry anew, because earlier entries may have changed it or made room.
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

grant execute on function private.save_lists, public.save_lists to authenticated;

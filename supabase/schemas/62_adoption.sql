-- Adoption moves what a guest did to the account that the person has signed in to, and deletes the guest, in one
-- transaction. Every write of a user locks the account first (private.lock_user), and an adoption locks both
-- accounts. So a write of the guest at the same moment is moved, or is rejected because the account is gone.

-- Locks accounts, customers and sounds in the same order as all other writers. Sounds that are locked here cannot be
-- deleted until the transaction ends.
create function private.lock_adoption(guest uuid, owner uuid) returns void
language plpgsql volatile set search_path = '' as $$
begin
  perform from auth.users where id in (guest, owner) order by id for update;
  perform from public.customers where id in (guest, owner) order by id for update;
  perform from public.sounds
    where id in (
      select sound_id from public.favorites where user_id = guest
      union select sound_id from public.history where user_id = guest
      union select sound_id from public.progress where user_id = guest
      union select sound_id from private.history_clearings where user_id = guest
    )
    order by id for key share;
end
$$;
comment on function private.lock_adoption is 'Locks all rows that other transactions could change during an adoption.';

create function private.move_favorites(guest uuid, owner uuid) returns void
language plpgsql volatile set search_path = '' as $$
declare
  room constant bigint := 5000 - (select count(*) from public.favorites where user_id = owner);
begin
  insert into public.favorites (user_id, sound_id, created_at)
    select owner, moved.sound_id, moved.created_at
    from public.favorites as moved
    where user_id = guest
      and not exists (select from public.favorites where user_id = owner and sound_id = moved.sound_id)
    order by created_at desc, sound_id limit greatest(room, 0);
end
$$;
comment on function private.move_favorites is
  'Adds the favorites of a guest, the newest first, until the owner has 5,000. Others are deleted with the guest.';

-- Treats the entries like plays that arrive late: they do not come back if the owner has cleared the history since.
-- Leaves out deleted sounds, which a history may still name, because it has no foreign key.
create function private.move_history(guest uuid, owner uuid) returns void
language plpgsql volatile set search_path = '' as $$
begin
  perform private.add_to_history(owner, sound_id, plays, last_played_at)
    from public.history as moved
    where user_id = guest and last_played_at > private.cleared_at(owner, sound_id)
      and exists (select from public.sounds where id = moved.sound_id);
end
$$;
comment on function private.move_history is 'Adds the plays of a guest to the history of the owner.';

-- Locks the days in order, as plays do. Days that private.upkeep has deleted, after 31 days, count both.
create function private.count_as_one_listener(guest uuid, owner uuid) returns void
language plpgsql volatile set search_path = '' as $$
declare
  common_days constant date[] := array(
    select day from private.listening_days where user_id in (guest, owner) and listened
    group by day having count(*) = 2 -- guest and owner
  );
begin
  perform from private.listeners_by_day where day = any (common_days) order by day for update;
  update private.listeners_by_day set listeners = listeners - 1 where day = any (common_days);
end
$$;
comment on function private.count_as_one_listener is
  'Counts guest and owner as one listener on days on which both listened.';

create function private.move_listening_days(guest uuid, owner uuid) returns void
language plpgsql volatile set search_path = '' as $$
begin
  perform private.count_as_one_listener(guest, owner);
  insert into private.listening_days as own (user_id, day, listened, receipts)
    select owner, day, listened, receipts from private.listening_days where user_id = guest
    on conflict (user_id, day) do update
      set listened = own.listened or excluded.listened, receipts = own.receipts + excluded.receipts;
end
$$;

create function private.move_play_receipts(guest uuid, owner uuid) returns void
language plpgsql volatile set search_path = '' as $$
begin
  insert into private.play_receipts (user_id, key, sound_id, received_at)
    select owner, key, sound_id, received_at from private.play_receipts where user_id = guest
    on conflict (user_id, key) do nothing;
end
$$;
comment on function private.move_play_receipts is
  'Moves the receipts of a guest, so that plays that the app sends again as the owner do not count twice.';

create function private.move_positions(guest uuid, owner uuid) returns void
language plpgsql volatile set search_path = '' as $$
begin
  perform private.store_positions(owner, array(
    -- The place in a request, here 0, has no effect on what is stored.
    select (0, sound_id, position_sec, updated_at)::private.sent_position
    from public.progress
    where user_id = guest and updated_at > private.cleared_at(owner, sound_id)
  ));
  perform private.limit_positions(owner);
end
$$;
comment on function private.move_positions is
  'Saves the positions and removals of a guest as if the owner had sent them: the newest of each sound wins.';

-- Runs after the history and the positions have moved, because these ask for the owner's clearings.
create function private.move_clearings(guest uuid, owner uuid) returns void
language plpgsql volatile set search_path = '' as $$
begin
  insert into private.history_clearings as own (user_id, sound_id, cleared_at)
    select owner, sound_id, cleared_at from private.history_clearings where user_id = guest
    on conflict (user_id, sound_id) do update set cleared_at = greatest(own.cleared_at, excluded.cleared_at);
end
$$;
comment on function private.move_clearings is
  'Moves the clearings of a guest, so that what the guest has removed does not come back with a late play, also of '
  'another device of the owner.';

-- Keeps the version, because edits that the device has not sent yet refer to it.
create function private.move_lists(guest uuid, owner uuid) returns void
language plpgsql volatile set search_path = '' as $$
declare
  lists_of_owner constant bigint := (select count(*) from public.lists where user_id = owner);
  items_of_owner constant bigint := (
    select coalesce(sum(jsonb_array_length(private.existing_items(items))), 0) from public.lists where user_id = owner
  );
begin
  insert into public.lists (user_id, id, name, is_mix, items, version, updated_at)
    select owner, id, name, is_mix, items, version, updated_at
    from (
      select moved.*, count(*) over newest as lists_so_far,
        sum(jsonb_array_length(private.existing_items(items))) over newest as items_so_far
      from public.lists as moved where user_id = guest
      window newest as (order by updated_at desc, id)
    ) as counted
    where lists_of_owner + lists_so_far <= 200 and items_of_owner + items_so_far <= 5000
    on conflict (user_id, id) do nothing;
  insert into private.removed_lists (user_id, id, removed_at)
    select owner, id, removed_at from private.removed_lists where user_id = guest
    on conflict (user_id, id) do nothing;
end
$$;
comment on function private.move_lists is
  'Adds the mixes and playlists of a guest, the newest first, and stops before the first one with which the owner '
  'would have more than 200 lists or 5,000 items of existing sounds. Others are deleted with the guest.';

-- greatest ignores nulls, so an end that only one of both has is kept.
create function private.move_premium(guest uuid, owner uuid) returns void
language plpgsql volatile set search_path = '' as $$
begin
  update public.customers as own
    set premium_until = greatest(own.premium_until, moved.premium_until),
      premium_as_of = greatest(own.premium_as_of, moved.premium_as_of),
      premium_given_until = greatest(own.premium_given_until, moved.premium_given_until)
    from public.customers as moved
    where own.id = owner and moved.id = guest;
end
$$;
comment on function private.move_premium is 'Gives the owner the later end of premium of both.';

create function private.adopt_guest(guest uuid, owner uuid) returns boolean
language plpgsql volatile security definer set search_path = '' as $$
begin
  perform private.lock_adoption(guest, owner);
  perform private.lock_user(owner);
  if not exists (select from auth.users where id = guest) then
    return false;
  elsif private.is_guest(owner) or not private.is_guest(guest) then
    raise exception 'Only a user can adopt, and only a guest can be adopted.' using errcode = 'check_violation';
  end if;
  perform private.move_favorites(guest, owner);
  perform private.move_history(guest, owner);
  perform private.move_listening_days(guest, owner);
  perform private.move_play_receipts(guest, owner);
  perform private.move_positions(guest, owner);
  perform private.move_clearings(guest, owner);
  perform private.move_lists(guest, owner);
  perform private.move_premium(guest, owner);
  delete from auth.users where id = guest;
  return true;
end
$$;

create function public.adopt_guest(guest uuid, owner uuid) returns boolean
language sql volatile set search_path = '' as $$ select private.adopt_guest(guest, owner) $$;
comment on function public.adopt_guest is
  'Moves favorites, lists, history, positions, receipts of plays and premium of a guest to a user, and deletes the '
  'guest. Returns false if the guest does not exist, because it was adopted or deleted before. For the service only.';

grant execute on function private.adopt_guest, public.adopt_guest to service_role;

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
comment on table public.lists is
  'Mixes and playlists of each customer, at most 200 with 5,000 items in all. Items of deleted sounds do not count.';
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

-- Keeps the items of hidden sounds, without a preview, and leaves out those of deleted ones. It is called by functions
-- that run as the owner of public.sounds, which sees hidden ones. Reads each sound once, because lists share sounds.
-- Numbers the lists, because sorting thousands of items by the ids of their lists takes longer.
create function private.own_lists(list_id uuid) returns json[] language plpgsql stable set search_path = '' as $$
begin
  return array(
    with own as (
      select *, row_number() over (order by updated_at desc, id) as number
      from public.lists where user_id = auth.uid() and (list_id is null or id = list_id)
    ),
    item as (
      select number, place, sound_id, volume
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
      select number, json_agg(entry order by place) as items
      from item join known on known.id = sound_id
        cross join lateral (select sound_id, volume, preview as sounds) as entry
      group by number
    )
    select json_build_object(
      'id', id, 'name', name, 'is_mix', is_mix, 'items', coalesce(listed.items, '[]'),
      'version', version, 'updated_at', private.iso_time(updated_at)
    )
    from own left join listed using (number)
    order by number
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

grant execute on function private.list_lists, public.list_lists to authenticated;

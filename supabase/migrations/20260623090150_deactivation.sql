-- What customers.is_active does: it locks an account out at Auth, and lets it in again as it was.

-- Auth cannot read 'infinity', and this exact moment tells our ban from one that was set in the dashboard.
create function private.deactivation_ban() returns timestamptz
language sql immutable set search_path = '' as $$ select timestamptz '9999-12-31 00:00:00+00' $$;

-- Auth knows one ban for each account. While ours is in force, the dashboard's is kept here.
create table private.set_aside_bans (
  customer_id uuid primary key references public.customers (id) on delete cascade,
  banned_until timestamptz not null
);
comment on table private.set_aside_bans is
  'Bans of deactivated customers that were set in Authentication; they count again when is_active becomes true.';
alter table private.set_aside_bans enable row level security;
create policy "Nobody reaches set-aside bans" on private.set_aside_bans
  for all to anon, authenticated, service_role using (false) with check (false);

create function private.apply_activation() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  if new.is_active then
    update auth.users
      set banned_until = (select banned_until from private.set_aside_bans where customer_id = new.id)
      where id = new.id;
    delete from private.set_aside_bans where customer_id = new.id;
  else
    insert into private.set_aside_bans
      select id, banned_until from auth.users where id = new.id and banned_until is not null;
    update auth.users set banned_until = private.deactivation_ban() where id = new.id;
    delete from auth.sessions where user_id = new.id;
  end if;
  return null;
end
$$;

create trigger customers_apply_activation
  after update of is_active on public.customers for each row
  when (old.is_active is distinct from new.is_active)
  execute function private.apply_activation();

-- Banning in the dashboard meanwhile changes the ban that was set aside; lifting it there must not open the door.
create function private.set_ban_aside() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  if exists (select from public.customers where id = new.id and not is_active) then
    delete from private.set_aside_bans where customer_id = new.id;
    if new.banned_until is not null then
      insert into private.set_aside_bans values (new.id, new.banned_until);
    end if;
    new.banned_until := private.deactivation_ban();
  end if;
  return new;
end
$$;

create trigger sounds_service_set_ban_aside
  before update of banned_until on auth.users for each row
  when (old.banned_until is distinct from new.banned_until
    and new.banned_until is distinct from timestamptz '9999-12-31 00:00:00+00') -- private.deactivation_ban()
  execute function private.set_ban_aside();

-- customers.is_active = false bans the account at Auth until the end of 9999, because Auth cannot read 'infinity'. Auth
-- has one ban for each account, so this table keeps a ban that was set in the dashboard.
create table private.suspended_bans (
  customer_id uuid primary key references public.customers (id) on delete cascade,
  banned_until timestamptz not null
);
comment on table private.suspended_bans is
  'Bans of deactivated customers that were set in Authentication. Setting is_active to true restores them.';

create function private.apply_activation() returns trigger language plpgsql security definer set search_path = '' as $$
begin
  if new.is_active then
    update auth.users
      set banned_until = (select banned_until from private.suspended_bans where customer_id = new.id)
      where id = new.id;
    delete from private.suspended_bans where customer_id = new.id;
  else
    insert into private.suspended_bans
      select id, banned_until from auth.users where id = new.id and banned_until is not null;
    update auth.users set banned_until = '9999-12-31 00:00:00+00' where id = new.id;
    delete from auth.sessions where user_id = new.id;
  end if;
  return null;
end
$$;
create trigger customers_apply_activation after update of is_active on public.customers for each row
  when (old.is_active is distinct from new.is_active) execute function private.apply_activation();

-- Moves a ban that is set in the dashboard to suspended_bans. Lifting a ban there does not activate the customer.
create function private.suspend_ban() returns trigger language plpgsql security definer set search_path = '' as $$
begin
  if exists (select from public.customers where id = new.id and not is_active) then
    delete from private.suspended_bans where customer_id = new.id;
    insert into private.suspended_bans select new.id, new.banned_until where new.banned_until is not null;
    new.banned_until := '9999-12-31 00:00:00+00';
  end if;
  return new;
end
$$;
create trigger sounds_service_suspend_ban before update of banned_until on auth.users for each row
  when (old.banned_until is distinct from new.banned_until
    and new.banned_until is distinct from timestamptz '9999-12-31 00:00:00+00')
  execute function private.suspend_ban();

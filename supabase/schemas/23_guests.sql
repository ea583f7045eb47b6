-- Guests are anonymous users of Auth: they listen without an account, and have the rights of a user. New ones need two
-- switches, "Anonymous sign-ins" of Auth and the row below, so that the switch of Auth alone opens nothing.

create table private.guests_allowed (
  is_allowed boolean primary key default true constraint guests_allowed_has_one_row_or_none check (is_allowed),
  allowed_at timestamptz not null default now()
);
comment on table private.guests_allowed is
  'Has one row while new guests are allowed. The snippets allow_guests and refuse_guests write and delete it.';

create function private.allows_guests() returns boolean
language sql stable security definer set search_path = '' as $$ select exists (select from private.guests_allowed) $$;
comment on function private.allows_guests is 'Returns whether the database accepts new guests.';

create function private.refuse_new_guest() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  if not private.allows_guests() then
    raise exception 'Guests are not allowed. To allow them, run the snippet allow_guests.'
      using errcode = 'feature_not_supported';
  end if;
  return null;
end
$$;
-- Uses JSON, because older projects lack the column. Runs after the insert, when JSON includes generated columns.
create trigger sounds_service_refuse_anonymous after insert on auth.users for each row
  when (to_jsonb(new) ->> 'is_anonymous' = 'true')
  execute function private.refuse_new_guest();

-- Lets a guest become a user only by adoption. At Auth, a guest could otherwise set any address without proof, because
-- Auth accepts it at once if addresses need no confirmation.
create trigger sounds_service_keep_guest after update on auth.users for each row
  when (to_jsonb(old) ->> 'is_anonymous' = 'true' and (
    to_jsonb(new) ->> 'is_anonymous' <> 'true'
    or coalesce(new.email, '') <> ''
    or coalesce(new.phone, '') <> ''
    or coalesce(new.encrypted_password, '') <> ''
  ))
  execute function private.refuse_at_auth('A guest gets no address and no password. Sign up, then adopt the guest.');

create function private.is_guest(account uuid) returns boolean
language sql stable security definer set search_path = '' as $$
  select exists (
    select from auth.users as guest where id = account and to_jsonb(guest) ->> 'is_anonymous' = 'true'
  )
$$;

create function private.refuse_identity_of_guest() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  if private.is_guest(new.user_id) then
    raise exception 'A guest gets no identity. Sign in with it, then adopt the guest.'
      using errcode = 'feature_not_supported';
  end if;
  return new;
end
$$;
create trigger sounds_service_refuse_identity_of_guest before insert or update of user_id on auth.identities
  for each row execute function private.refuse_identity_of_guest();

-- Locks the account before other rows, as an adoption and a deletion do. Skips guests that are being adopted.
create function private.delete_idle_guests() returns void language plpgsql volatile set search_path = '' as $$
declare
  idle constant uuid[] := array(
    select account.id
    from public.customers as guest join auth.users as account on account.id = guest.id
    where guest.is_guest
      and guest.created_at < now() - interval '90 days'
      and coalesce(guest.last_seen_at, guest.created_at) < now() - interval '90 days'
      and coalesce(greatest(guest.premium_until, guest.premium_given_until), '-infinity') <= now()
    order by guest.created_at limit 1000
    for update of account skip locked
  );
begin
  delete from auth.users where id = any (idle);
end
$$;
comment on function private.delete_idle_guests is
  'Deletes up to 1,000 guests who were not seen for 90 days, with all of their rows. Keeps those with premium.';

grant execute on function private.allows_guests to service_role;

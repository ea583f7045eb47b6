-- An account belongs to whoever proves that its address is theirs. Anybody may sign up with any address, and Auth keeps the
-- first password of an account that is not confirmed: at the moment of the proof, what was chosen before is void. Here in the
-- database nothing can come in between.

-- Where addresses need no confirmation, and where an administrator vouches for one, Auth makes and confirms an account in one
-- transaction: nobody else can have chosen anything. Such accounts are noted for as long as the transaction lasts.
create function private.note_new_account() returns trigger
language plpgsql set search_path = '' as $$
begin
  perform set_config(
    'sounds_service.new_accounts', concat_ws(' ', current_setting('sounds_service.new_accounts', true), new.id), true);
  return null;
end
$$;

create function private.is_new_account(account uuid) returns boolean
language sql stable set search_path = '' as $$
  select coalesce(current_setting('sounds_service.new_accounts', true), '') like '%' || account || '%'
$$;
comment on function private.is_new_account is 'Whether an unconfirmed account was made in this very transaction.';

create function private.void_what_came_before() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  if not private.is_new_account(new.id) then
    new.encrypted_password := ''; -- opens nothing; some versions of Auth cannot read a null
    delete from auth.sessions where user_id = new.id;
    delete from auth.identities
      where user_id = new.id and provider <> 'email' and identity_data ->> 'email_verified' is distinct from 'true';
  end if;
  return new;
end
$$;

create trigger sounds_service_note_new_account
  after insert on auth.users for each row
  when (new.email_confirmed_at is null)
  execute function private.note_new_account();
create trigger sounds_service_void_what_came_before
  before update of email_confirmed_at on auth.users for each row
  when (old.email_confirmed_at is null and new.email_confirmed_at is not null)
  execute function private.void_what_came_before();

-- The name and picture go with the password. They stay in raw_user_meta_data, which Auth writes once more afterwards: that is
-- not looked at again. Only an identity provider that vouches for the address brings a name of its own.
create or replace function private.mirror_account() returns trigger
language plpgsql security definer set search_path = '' as $$
declare
  mirrored public.customers := private.customer_of(new);
begin
  if new.deleted_at is not null then
    update public.customers
      set email = null, full_name = null, avatar_url = null, phone = null, locale = null, country = null,
        provider = mirrored.provider, marketing_opt_in = false, is_active = false
      where id = new.id;
  elsif old.email_confirmed_at is null and new.email_confirmed_at is not null and not private.is_new_account(new.id) then
    if not exists (
      select from auth.identities
        where user_id = new.id and provider <> 'email' and identity_data ->> 'email_verified' = 'true'
    ) then
      mirrored.full_name := null;
      mirrored.avatar_url := null;
    end if;
    update public.customers
      set email = mirrored.email, full_name = mirrored.full_name, avatar_url = mirrored.avatar_url,
        provider = mirrored.provider, source = mirrored.source
      where id = new.id;
  else
    update public.customers
      set email = mirrored.email, provider = mirrored.provider, source = coalesce(source, mirrored.source)
      where id = new.id
        and (email, provider) is distinct from (mirrored.email, mirrored.provider);
  end if;
  return null;
end
$$;

-- Triggers on auth.users create, change and delete the customer with the account. Foreign keys delete its other rows.

-- Clips or omits values that the table would reject, because an error in a trigger on auth.users fails the sign-up.
create function private.customer_of(account auth.users) returns public.customers
language plpgsql stable set search_path = '' as $$
declare
  given_name constant text := private.trimmed(
    coalesce(account.raw_user_meta_data ->> 'full_name', account.raw_user_meta_data ->> 'name'));
  clipped_name constant text := private.trimmed(left(given_name, 200));
  picture constant text := account.raw_user_meta_data ->> 'avatar_url';
  customer public.customers;
begin
  customer.id := account.id;
  customer.provider := account.raw_app_meta_data ->> 'provider';
  customer.source := case when customer.provider in ('email', 'google', 'apple') then customer.provider end;
  customer.marketing_opt_in := false;
  customer.is_active := account.deleted_at is null;
  -- Uses JSON, because older projects lack the column.
  customer.is_guest := coalesce(to_jsonb(account) ->> 'is_anonymous', 'false')::boolean;
  customer.created_at := coalesce(account.created_at, now());
  customer.updated_at := customer.created_at;
  -- A soft delete keeps the account, with a hash for its e-mail address.
  if account.deleted_at is null then
    customer.email := account.email;
    customer.full_name := case when private.is_proper_name(clipped_name, 200) then clipped_name end;
    customer.avatar_url := case when private.is_https_address(picture) then picture end;
  end if;
  return customer;
end
$$;

create function private.create_customer() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  -- Calls it in the from clause, because (customer_of(new)).* would run it once for each column.
  insert into public.customers select customer.* from private.customer_of(new) as customer on conflict (id) do nothing;
  return null;
end
$$;
create trigger sounds_service_create_customer after insert on auth.users for each row
  execute function private.create_customer();

-- Rejects the deletion of a customer, because the account would never get another one.
create function private.keep_customer() returns trigger language plpgsql security definer set search_path = '' as $$
begin
  if tg_op = 'TRUNCATE' or exists (select from auth.users where id = old.id) then
    raise exception 'A customer can only be deleted with the account. Delete the account under Authentication > Users, '
      'or set is_active to false to lock the customer out.'
      using errcode = 'check_violation', constraint = 'customer_is_deleted_with_the_account';
  end if;
  return old;
end
$$;
create trigger customers_keep before delete on public.customers for each row
  execute function private.keep_customer();
create trigger customers_keep_all before truncate on public.customers for each statement
  execute function private.keep_customer();

-- Rejects values that differ from those of the account. An unchanged source may differ, because the provider may have
-- changed since.
create function private.keep_mirrored() returns trigger language plpgsql security definer set search_path = '' as $$
declare
  mirrored public.customers;
begin
  select customer.* into mirrored
    from auth.users as account cross join private.customer_of(account) as customer
    where account.id = new.id;
  if (new.email, new.provider) is distinct from (mirrored.email, mirrored.provider)
    or (new.source is distinct from old.source and new.source is distinct from mirrored.source)
    or new.is_guest <> mirrored.is_guest
  then
    raise exception 'email, provider, source and is_guest are copied from Authentication. Change the e-mail address '
      'under Authentication > Users; the others cannot be changed.'
      using errcode = 'check_violation', constraint = 'email_provider_and_source_are_copied_from_authentication';
  end if;
  return new;
end
$$;
create trigger customers_keep_mirrored before update of email, provider, source, is_guest on public.customers
  for each row
  when ((old.email, old.provider, old.source, old.is_guest)
    is distinct from (new.email, new.provider, new.source, new.is_guest))
  execute function private.keep_mirrored();

-- Rejects calls that anyone with the publishable key can make at Auth, some only if a switch of Auth is on
-- (docs/operate.md). A thief of a session could lock out the owner with a second factor, or add a passkey or identity
-- that still works after the owner has recovered the account. An attacker could also give an account the address of
-- another person, who may recover it later, and keep a way to sign in. Administrators change addresses without
-- email_change.
create function private.refuse_at_auth() returns trigger language plpgsql set search_path = '' as $$
begin
  -- Auth replaces addresses by hashes when it soft-deletes an account.
  if to_jsonb(new) ->> 'deleted_at' is null then
    raise exception '%', tg_argv[0] using errcode = 'feature_not_supported';
  end if;
  return new;
end
$$;
comment on function private.refuse_at_auth is 'Rejects a call of Auth with the message in its argument.';

create trigger sounds_service_refuse_factor before insert on auth.mfa_factors for each row
  execute function private.refuse_at_auth('The service does not support second factors.');
-- The Auth of older projects has no passkeys.
do $$
begin
  if to_regclass('auth.webauthn_credentials') is not null then
    create trigger sounds_service_refuse_passkey before insert on auth.webauthn_credentials for each row
      execute function private.refuse_at_auth('The service does not support passkeys.');
  end if;
end
$$;
-- Uses JSON, because older projects lack these columns. Runs after the insert, when JSON includes generated columns.
create trigger sounds_service_refuse_third_party after insert on auth.sessions for each row
  when (to_jsonb(new) ->> 'oauth_client_id' is not null)
  execute function private.refuse_at_auth('The service does not open sessions for other apps.');
create trigger sounds_service_refuse_provider before insert on auth.identities for each row
  when (new.provider = 'web3' or new.provider like 'sso:%')
  execute function private.refuse_at_auth('The service does not support wallets and single sign-on.');
create trigger sounds_service_refuse_change before update of email_change, phone_change, phone on auth.users
  for each row
  when (coalesce(new.email_change, '') not in ('', coalesce(old.email_change, ''))
    or coalesce(new.phone_change, '') not in ('', coalesce(old.phone_change, ''))
    -- Auth writes a new number to phone at once if it does not confirm phones.
    or coalesce(new.phone, '') not in ('', coalesce(old.phone, '')))
  execute function private.refuse_at_auth(
    'Users cannot change their e-mail address or phone number. Ask an administrator.');
create trigger sounds_service_refuse_phone before insert on auth.users for each row
  when (coalesce(new.phone, '') <> '' and coalesce(new.email, '') = '')
  execute function private.refuse_at_auth('The service does not support accounts without an e-mail address.');

-- Removes the unverified address of another account from an identity. Auth creates an account without an address for
-- such an ID token; with the address in the identity, a sign-in of its owner with a provider would find two accounts
-- and fail. Keeps the identity, because Auth would otherwise create another account at each attempt.
create function private.withhold_address() returns trigger language plpgsql security definer set search_path = '' as $$
declare
  given_address constant text := lower(new.identity_data ->> 'email');
begin
  if not exists (select from auth.users where id = new.user_id and lower(email) = given_address) then
    new.identity_data := new.identity_data - 'email';
  end if;
  return new;
end
$$;
create trigger sounds_service_withhold_address before insert or update of identity_data on auth.identities for each row
  when (new.provider <> 'email' and new.identity_data ? 'email'
    and new.identity_data ->> 'email_verified' is distinct from 'true')
  execute function private.withhold_address();

-- Rejects an identity that a user adds to a confirmed account. Auth itself adds only those with a verified address of
-- the account, or of one of its identities.
create function private.refuse_link() returns trigger language plpgsql security definer set search_path = '' as $$
declare
  is_confirmed constant boolean := exists (
    select from auth.users where id = new.user_id and email_confirmed_at is not null);
  own_addresses constant text[] := array(
    select lower(email) from auth.users where id = new.user_id
    union all
    select lower(identity_data ->> 'email') from auth.identities where user_id = new.user_id);
  has_own_address constant boolean := new.identity_data ->> 'email_verified' = 'true'
    and lower(new.identity_data ->> 'email') = any (own_addresses);
begin
  if is_confirmed and has_own_address is not true then
    raise exception 'Users cannot link identities to their accounts.' using errcode = 'feature_not_supported';
  end if;
  return new;
end
$$;
create trigger sounds_service_refuse_link before insert on auth.identities for each row
  when (new.provider not in ('email', 'phone')) execute function private.refuse_link();

-- Confirming an address resets password, sessions, unverified identities, name and picture, because an attacker may
-- have signed up with the address. An account that is created and confirmed in one transaction (without confirmations,
-- or by an administrator) keeps them. A setting names such accounts until the transaction ends.
create function private.note_new_account() returns trigger language plpgsql set search_path = '' as $$
declare
  noted_before constant text := current_setting('sounds_service.new_accounts', true);
begin
  perform set_config('sounds_service.new_accounts', concat_ws(' ', noted_before, new.id), true);
  return null;
end
$$;
create trigger sounds_service_note_new_account after insert on auth.users for each row
  when (new.email_confirmed_at is null) execute function private.note_new_account();

create function private.is_new_account(account uuid) returns boolean
language sql stable set search_path = '' as $$
  select coalesce(current_setting('sounds_service.new_accounts', true), '') like '%' || account || '%'
$$;
comment on function private.is_new_account is 'Returns true for an unconfirmed account of the current transaction.';

create function private.clear_customer(mirrored public.customers) returns void
language plpgsql volatile set search_path = '' as $$
begin
  update public.customers
    set email = null, full_name = null, avatar_url = null, phone = null, locale = null, country = null,
      provider = mirrored.provider, marketing_opt_in = false, is_active = false, premium_until = null,
      premium_as_of = null, premium_given_until = null
    where id = mirrored.id;
end
$$;
comment on function private.clear_customer is 'Removes the personal data of a customer whose account was soft-deleted.';

-- Keeps name and picture of a verified identity only, because an attacker may have signed up with the address.
create function private.confirm_customer(mirrored public.customers) returns void
language plpgsql volatile set search_path = '' as $$
declare
  is_verified constant boolean := exists (
    select from auth.identities
    where user_id = mirrored.id and provider <> 'email' and identity_data ->> 'email_verified' = 'true');
begin
  update public.customers
    set email = mirrored.email, provider = mirrored.provider, source = mirrored.source,
      full_name = case when is_verified then mirrored.full_name end,
      avatar_url = case when is_verified then mirrored.avatar_url end
    where id = mirrored.id;
end
$$;
comment on function private.confirm_customer is 'Copies the values of an account whose address was just confirmed.';

-- Copies a missing source, which some versions of Auth set after the insert. Copies no name and picture, because the
-- customer may have changed them.
create function private.copy_account(mirrored public.customers) returns void
language plpgsql volatile set search_path = '' as $$
begin
  update public.customers
    set email = mirrored.email, provider = mirrored.provider, source = coalesce(source, mirrored.source)
    where id = mirrored.id and (email, provider) is distinct from (mirrored.email, mirrored.provider);
end
$$;
comment on function private.copy_account is 'Copies e-mail and provider of an account that has changed.';

create function private.mirror_account() returns trigger language plpgsql security definer set search_path = '' as $$
declare
  mirrored constant public.customers := private.customer_of(new);
  is_confirmed_now constant boolean := old.email_confirmed_at is null and new.email_confirmed_at is not null;
begin
  if new.deleted_at is not null then
    perform private.clear_customer(mirrored);
  elsif is_confirmed_now and not private.is_new_account(new.id) then
    perform private.confirm_customer(mirrored);
  else
    perform private.copy_account(mirrored);
  end if;
  return null;
end
$$;
create trigger sounds_service_mirror_account
  after update of email, email_confirmed_at, raw_app_meta_data, deleted_at on auth.users for each row
  execute function private.mirror_account();

create function private.reset_unverified_credentials() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  if not private.is_new_account(new.id) then
    new.encrypted_password := ''; -- matches no password; some versions of Auth cannot read a null
    delete from auth.sessions where user_id = new.id;
    delete from auth.identities
      where user_id = new.id and provider <> 'email' and identity_data ->> 'email_verified' is distinct from 'true';
  end if;
  return new;
end
$$;
create trigger sounds_service_reset_unverified_credentials before update of email_confirmed_at on auth.users
  for each row when (old.email_confirmed_at is null and new.email_confirmed_at is not null)
  execute function private.reset_unverified_credentials();

-- Reduces long metadata to a clipped name and the keys that Auth writes. Metadata is part of every access token and
-- anyone can send some with a sign-up to Auth, so tokens could become longer than the gateway accepts.
create function private.limit_metadata() returns trigger language plpgsql set search_path = '' as $$
declare
  given constant jsonb := case jsonb_typeof(new.raw_user_meta_data)
    when 'object' then new.raw_user_meta_data else '{}' end;
begin
  new.raw_user_meta_data := (
    select coalesce(jsonb_object_agg(key, kept), '{}')
    from jsonb_each(given)
      cross join lateral (values (case
        when key like '%name' then to_jsonb(left(value #>> '{}', 200)) else value end)) as clipped (kept)
    where key in ('sub', 'email', 'email_verified', 'phone_verified', 'full_name', 'name')
  );
  return new;
end
$$;
-- Counts six bytes for <, > and &, as Auth escapes them in a token. Google and Apple send less than 1,000 bytes.
create trigger sounds_service_limit_metadata before insert or update of raw_user_meta_data on auth.users for each row
  when (octet_length(regexp_replace(new.raw_user_meta_data::text, '[<>&]', '123456', 'g')) > 3000)
  execute function private.limit_metadata();

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

-- Deletes log entries of Auth about a deleted account, because they contain names, e-mail and IP addresses.
create function private.purge_audit_log() returns trigger language plpgsql security definer set search_path = '' as $$
begin
  delete from auth.audit_log_entries where payload::text like '%' || old.id || '%';
  return null;
  -- Lets the deletion succeed if the table is missing or read-only for the service.
exception when insufficient_privilege or undefined_table then
  raise warning 'The entries of account % in auth.audit_log_entries were not deleted: %', old.id, sqlerrm;
  return null;
end
$$;
create trigger sounds_service_purge_audit_log after delete on auth.users for each row
  execute function private.purge_audit_log();

-- Has one row for each deletion, because inserts do not wait for each other, unlike updates of a counter.
create table private.deleted_accounts (
  id bigint generated always as identity primary key,
  signed_up_on date not null,
  deleted_on date not null default (now() at time zone 'UTC'),
  is_guest boolean not null default false
);
comment on table private.deleted_accounts is 'Days of sign-up and deletion of each deleted account. No personal data.';

create function private.count_deleted_account() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  insert into private.deleted_accounts (signed_up_on, is_guest)
    values ((old.created_at at time zone 'UTC')::date, old.is_guest);
  return null;
end
$$;
create trigger customers_count_deleted after delete on public.customers for each row
  when (old.email is null or old.email not like '%@doctor.invalid') -- private.is_doctors_account
  execute function private.count_deleted_account();

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

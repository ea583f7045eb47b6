-- Triggers on tables of Auth reject what the service does not support, or must not trust.

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

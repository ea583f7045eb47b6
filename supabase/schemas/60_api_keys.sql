-- Server-to-server keys. Only a hash is stored, so that a reader of this table cannot use them.

create table private.api_keys (
  id uuid primary key default gen_random_uuid(),
  name text not null constraint key_name_has_1_to_100_characters check (char_length(name) between 1 and 100),
  owner_id uuid not null references public.customers (id) on delete cascade,
  key_hash text not null unique constraint key_hash_is_sha_256_in_hex check (key_hash ~ '^[0-9a-f]{64}$'),
  key_prefix text not null unique,
  scope text not null default 'all'
    constraint scope_is_all_read_or_catalogue check (scope in ('all', 'read', 'catalogue')),
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz
);
create index api_keys_owner_id on private.api_keys (owner_id);
comment on table private.api_keys is 'API keys of trusted back ends. Issue keys with admin.create_api_key.';
comment on column private.api_keys.owner_id is 'Customer on whose behalf the key acts.';
comment on column private.api_keys.key_hash is 'SHA-256 hash of the key. The key itself is not stored.';
comment on column private.api_keys.key_prefix is 'First 16 characters of the key, to identify it.';
comment on column private.api_keys.scope is
  'What the key may do: all, read (nothing is written) or catalogue (only reads of the catalogue, as its owner sees '
  'it: premium unlocks sounds).';
comment on column private.api_keys.expires_at is 'Time at which the key expires. Null if it does not expire.';
comment on column private.api_keys.revoked_at is 'Time of revocation. Set it to now() to revoke the key for good.';

create function private.keep_revoked() returns trigger language plpgsql set search_path = '' as $$
begin
  raise exception 'A revoked key stays revoked. Issue a new one with admin.create_api_key.'
    using errcode = 'check_violation', constraint = 'revoked_key_stays_revoked';
end
$$;
create trigger api_keys_keep_revoked before update of revoked_at on private.api_keys for each row
  when (old.revoked_at is not null and new.revoked_at is distinct from old.revoked_at)
  execute function private.keep_revoked();

create function private.base62_digit(value bigint) returns text language sql immutable set search_path = '' as $$
  select substr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', (value % 62)::integer + 1, 1)
$$;

-- Drops bytes of 248 (4 × 62) and more, so that all characters are equally likely.
create function private.random_base62(length integer) returns text language sql volatile set search_path = '' as $$
  with random as (select extensions.gen_random_bytes(2 * length) as bytes),
  digits as (
    select get_byte(bytes, place) as digit from random cross join generate_series(0, 2 * length - 1) as place
    where get_byte(bytes, place) < 248 limit length
  )
  select string_agg(private.base62_digit(digit), '') from digits
$$;

create function private.api_key_checksum(body text) returns text language sql immutable set search_path = '' as $$
  select string_agg(private.base62_digit(number / (62 ^ place)::bigint), '' order by place desc)
  from (select ('x' || left(encode(sha256(convert_to(body, 'UTF8')), 'hex'), 12))::bit(48)::bigint) as hash (number),
    generate_series(0, 5) as place
$$;
comment on function private.api_key_checksum is 'Returns six Base62 characters of SHA-256, which detect mistyped keys.';

-- Rejects a time in the past, which is most likely a mistyped year, and the placeholder of the snippet.
create function admin.create_api_key(
  name text, owner_email text, expires_at timestamptz default null, scope text default 'all'
)
returns table (api_key text, key_prefix text, owner_id uuid, note text)
language plpgsql volatile security definer set search_path = '' as $$
declare
  body text := 'sk_live_' || private.random_base62(43);
  owners integer;
begin
  if btrim(name) ~ '^<.*>$' then
    raise exception 'The name is "%". Replace it by the name of the key''s user.', btrim(name);
  elsif expires_at <= now() then
    raise exception 'The key would have expired already, at %. Give a moment in the future, or none.', expires_at;
  elsif (scope in ('all', 'read', 'catalogue')) is not true then
    raise exception 'There is no scope "%". It is one of: all, read, catalogue.', scope;
  end if;
  api_key := body || private.api_key_checksum(body);
  key_prefix := left(api_key, 16);
  select (array_agg(id))[1], count(*) into owner_id, owners
    from public.customers where lower(email) = lower(btrim(owner_email));
  if owners <> 1 then
    raise exception '% customers have the e-mail address %. The owner of a key must have an account first, and an '
      'address that no other customer has.', owners, owner_email;
  end if;
  insert into private.api_keys (name, owner_id, key_hash, key_prefix, scope, expires_at)
    values (btrim(name), owner_id, encode(sha256(convert_to(api_key, 'UTF8')), 'hex'), key_prefix, scope, expires_at);
  note := 'Copy the key now: it is not stored and cannot be shown again.';
  return next;
end
$$;
comment on function admin.create_api_key is
  'Issues an API key that acts as the customer with this e-mail address. Its scope is all, read or catalogue. The key '
  'is shown only once.';

create function admin.revoke_api_key(prefix text) returns table (key_prefix text, name text, revoked_at timestamptz)
language plpgsql volatile security definer set search_path = '' as $$
begin
  return query
    update private.api_keys as key set revoked_at = coalesce(key.revoked_at, now())
      where key.key_prefix = left(btrim(prefix), 16)
      returning key.key_prefix, key.name, key.revoked_at;
  if not found then
    raise exception 'No key begins with "%". Give the 16 characters of key_prefix.', left(btrim(prefix), 16);
  end if;
end
$$;
comment on function admin.revoke_api_key is 'Revokes the key with this prefix, effective from the next request.';

create function private.live_key(hash text, out owner_id uuid, out scope text)
language plpgsql volatile security definer set search_path = '' as $$
declare
  live private.api_keys;
begin
  select key.* into live
    from private.api_keys as key
      join public.customers as owner on owner.id = key.owner_id
      join auth.users as account on account.id = key.owner_id
    where key.key_hash = hash and key.revoked_at is null and (key.expires_at is null or key.expires_at > now())
      and owner.is_active and account.deleted_at is null
      and (account.banned_until is null or account.banned_until <= now());
  if coalesce(live.last_used_at, '-infinity') < now() - interval '1 minute'
    and current_setting('transaction_read_only') = 'off'
  then
    -- Does not wait for a locked row, because the concurrent request stores nearly the same time.
    update private.api_keys set last_used_at = now()
      where id = (select id from private.api_keys where id = live.id for update skip locked);
  end if;
  owner_id := live.owner_id;
  scope := live.scope;
end
$$;
comment on function private.live_key is
  'Returns owner and scope of an active key, or nulls, and stores that it is used. A rejected call rolls that back.';

-- A stable function that is added later needs "read", so that it is not opened to keys for the catalogue. The test of
-- scopes lists all functions.
create function private.needed_scope(operation text) returns text language sql stable set search_path = '' as $$
  select case
    when provolatile = 'v' then 'all'
    when proname in (
      'get_sound', 'list_catalogue_changes', 'list_categories', 'list_home_sections', 'list_sound_files', 'list_sounds'
    ) then 'catalogue'
    else 'read'
  end
  from pg_proc where pronamespace = 'public'::regnamespace and proname = operation
$$;
comment on function private.needed_scope is
  'Returns the smallest scope of a key that may call this API function: all if it can write, else read or '
  'catalogue.';

-- Uses a SQLSTATE that no other error has; the gateway answers 401 key_scope. Detail is the scope of the key, hint the
-- scope that the operation needs.
create function private.require_scope(scope text, operation text) returns void
language plpgsql stable set search_path = '' as $$
declare
  scopes constant text[] := '{catalogue,read,all}';
  needed constant text := private.needed_scope(operation);
begin
  if array_position(scopes, scope) < array_position(scopes, needed) then
    raise exception 'The scope of this key is %. This takes the scope %.', scope, needed
      using errcode = 'SSKEY', detail = scope, hint = needed;
  end if;
end
$$;
comment on function private.require_scope is 'Raises SSKEY if an operation is beyond the scope of a key.';

-- Puts only names from the catalogs into the statement. Values are parameters: $1 the arguments, $2 the owner, who is
-- always the "player".
create function private.rpc_statement(operation text, arguments jsonb) returns text
language sql stable set search_path = '' as $$
  select format(
    'select to_json(result) from public.%I(%s) as result', proname, (
      select string_agg(
        case name when 'player' then 'player => $2' when 'with_api_key' then 'with_api_key => true'
          else format('%I => ($1 ->> %L)::%s', name, name, format_type(type, null)) end,
        ', '
      )
      from unnest(proargnames, proargtypes::oid[]) as argument (name, type)
      where arguments ? name or name in ('player', 'with_api_key')
    )
  )
  from pg_proc
  where pronamespace = 'public'::regnamespace and proname = operation
    and array(select jsonb_object_keys(arguments)) <@ coalesce(proargnames, '{}')
$$;
comment on function private.rpc_statement is
  'Returns the statement that calls this API function with these arguments, or null if it does not exist.';

-- Runs as invoker, because a definer function cannot change the role.
create function public.as_api_key(key_hash text, operation text, arguments jsonb default '{}') returns json
language plpgsql volatile set search_path = '' as $$
declare
  key constant record := private.live_key(key_hash);
  statement text := private.rpc_statement(operation, arguments);
  result json;
begin
  if key.owner_id is null then
    raise exception 'This API key is unknown, revoked or expired.' using errcode = 'PT401';
  end if;
  if statement is null then
    raise exception 'There is no operation "%" with these arguments.', operation
      using errcode = 'invalid_parameter_value';
  end if;
  perform private.require_scope(key.scope, operation);
  -- Protects also against functions that write although they are declared stable. Lasts until the transaction ends.
  if key.scope <> 'all' then
    perform set_config('transaction_read_only', 'on', true);
  end if;
  -- The service counts plays. Everything else runs as the owner, so functions without a grant to users are denied.
  if operation not in ('count_play', 'count_plays') then
    perform set_config(
      'request.jwt.claims', jsonb_build_object('sub', key.owner_id, 'role', 'authenticated')::text, true);
    perform set_config('role', 'authenticated', true);
  end if;
  execute statement into result using arguments, key.owner_id;
  return result;
end
$$;
comment on function public.as_api_key is
  'Runs one operation as the owner of an active API key, under row-level security. For the service only.';

grant execute on function
  private.live_key, private.rpc_statement, private.needed_scope, private.require_scope, public.as_api_key
  to service_role;

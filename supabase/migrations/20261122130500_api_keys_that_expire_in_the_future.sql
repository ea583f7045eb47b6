-- A key that expires in the past would be refused from its first request on: most likely a mistyped year.
create or replace function admin.create_api_key(name text, owner_email text, expires_at timestamptz default null)
returns table (api_key text, key_prefix text, owner_id uuid, note text)
language plpgsql volatile security definer set search_path = '' as $$
#variable_conflict use_variable
declare
  body text := 'sk_live_' || private.random_base62(43);
begin
  if expires_at <= now() then
    raise exception 'The key would have expired already, at %. Give a moment in the future, or none.', expires_at;
  end if;
  api_key := body || private.api_key_checksum(body);
  key_prefix := left(api_key, 16);
  begin
    select customer.id into strict owner_id
      from public.customers as customer where lower(customer.email) = lower(btrim(owner_email));
  exception
    when no_data_found then
      raise exception 'No customer has the e-mail address %. The owner of a key must have an account first.', owner_email;
    when too_many_rows then
      raise exception 'Several customers have the e-mail address %. Give the owner an address of its own.', owner_email;
  end;
  insert into private.api_keys (name, owner_id, key_hash, key_prefix, expires_at)
    values (
      btrim(name), owner_id, encode(sha256(convert_to(api_key, 'UTF8')), 'hex'), key_prefix, expires_at
    );
  note := 'Copy the key now: it is not stored and cannot be shown again.';
  return next;
end
$$;

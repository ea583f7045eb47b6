-- What somebody sends along with a sign-up, straight at Auth, stays in the account when its address is confirmed, and is part of
-- every access token: a stranger could make the tokens of an address longer than the gateway takes, for good. Of metadata that
-- is too long, only what Auth itself writes and the beginning of a name are kept. Auth writes it several times, so this looks at
-- each of them.

create function private.limit_metadata() returns trigger
language plpgsql set search_path = '' as $$
begin
  select coalesce(
      jsonb_object_agg(key, case when key like '%name' then to_jsonb(left(value #>> '{}', 200)) else value end), '{}')
    into new.raw_user_meta_data
    from jsonb_each(case jsonb_typeof(new.raw_user_meta_data) when 'object' then new.raw_user_meta_data else '{}' end)
    where key in ('sub', 'email', 'email_verified', 'phone_verified', 'full_name', 'name');
  return new;
end
$$;

-- Measured as it stands in a token, where Auth writes six characters for each of these three. What Google and Apple send is
-- less than a thousand bytes.
create trigger sounds_service_limit_metadata
  before insert or update of raw_user_meta_data on auth.users for each row
  when (octet_length(regexp_replace(new.raw_user_meta_data::text, '[<>&]', '123456', 'g')) > 3000)
  execute function private.limit_metadata();

-- Adds 0, changes 1, drops 0. Made from supabase/schemas by npm run migration.

set local check_function_bodies = off;

create or replace function private.refuse_at_auth() returns trigger
language plpgsql set search_path = '' as $$
begin
  -- Auth puts hashes in place of addresses when it deletes an account and keeps its row.
  if to_jsonb(new) ->> 'deleted_at' is null then
    raise exception '%', tg_argv[0] using errcode = 'feature_not_supported';
  end if;
  return new;
end
$$;

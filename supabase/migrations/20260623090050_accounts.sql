-- What the end of an account means. Rows that belong to one go with it: their foreign keys say "on delete cascade".

-- An access token outlives its account by up to an hour. What touches the caller's own data asks here first, in the same
-- statement list: without it, a deleted account would look like a living one that has nothing.
create function private.require_account() returns void
language plpgsql stable security definer set search_path = '' as $$
begin
  if not exists (select from auth.users where id = auth.uid() and deleted_at is null) then
    raise exception 'The account of this token no longer exists.' using errcode = 'PT401';
  end if;
end
$$;
comment on function private.require_account is
  'Raises PT401, which the API answers with 401, when the caller''s account was deleted.';
grant execute on function private.require_account to authenticated;

-- Auth keeps a log with names, e-mail addresses and IP addresses, and notes there even whom it deletes, before it does.
create function private.forget_account() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  delete from auth.audit_log_entries where payload::text like '%' || old.id || '%';
  return null;
-- The table is Auth's: a project in which it is not ours to change, or is gone, must still be able to delete accounts.
exception when insufficient_privilege or undefined_table then
  raise warning 'The entries of account % in auth.audit_log_entries were not deleted: %', old.id, sqlerrm;
  return null;
end
$$;

create trigger sounds_service_forget_account
  after delete on auth.users for each row execute function private.forget_account();

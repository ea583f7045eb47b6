-- Deletes log entries of Auth about deleted accounts, because they contain names, e-mail and IP addresses. Reads the
-- log once for all accounts of a statement, because upkeep deletes up to 1,000 guests at once.
create function private.purge_audit_log() returns trigger language plpgsql security definer set search_path = '' as $$
begin
  delete from auth.audit_log_entries
    where payload ->> 'actor_id' in (select id::text from deleted)
      or payload -> 'traits' ->> 'user_id' in (select id::text from deleted);
  return null;
  -- Lets the deletion succeed if the table is missing or read-only for the service.
exception when insufficient_privilege or undefined_table then
  raise warning 'The entries of deleted accounts in auth.audit_log_entries were not deleted: %', sqlerrm;
  return null;
end
$$;
create trigger sounds_service_purge_audit_log after delete on auth.users referencing old table as deleted
  for each statement execute function private.purge_audit_log();

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

-- A list of favorites is one answer: it must have an end.

-- After the statement, and one statement after the other for each user: each counts what the others have committed. The locks
-- are of 1,000 groups of users, since the memory for locks is small and a statement of an administrator may concern anybody.
create function private.limit_favorites() returns trigger
language plpgsql set search_path = '' set enable_seqscan = off as $$
begin
  perform pg_advisory_xact_lock('public.favorites'::regclass::oid::integer, locked.group)
    from (select distinct hashtext(user_id::text) % 1000 as group from added order by 1) as locked;
  if exists (
    select from (select distinct user_id from added) as adding
    where exists (select from public.favorites where user_id = adding.user_id offset 5000)
  ) then
    raise exception 'A user has at most 5,000 favorites.'
      using errcode = 'check_violation', constraint = 'user_has_at_most_5000_favorites', table = 'favorites';
  end if;
  return null;
end
$$;

create trigger favorites_limit
  after insert on public.favorites referencing new table as added
  for each statement execute function private.limit_favorites();

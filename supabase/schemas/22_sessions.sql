-- Sessions of the caller, one for each device. Auth has no API for them.

-- Rejects a session that has ended, because its access token lives on for up to an hour, in which a thief could end
-- all other sessions.
create function private.current_session() returns uuid
language plpgsql stable security definer set search_path = '' as $$
declare
  current_id constant uuid := (
    select id from auth.sessions
    where user_id = auth.uid() and id::text = auth.jwt() ->> 'session_id' and (not_after is null or not_after > now())
  );
begin
  perform private.require_account();
  if current_id is null then
    raise exception 'The session of this token has ended.' using errcode = 'PT401';
  end if;
  return current_id;
end
$$;

create function private.list_sessions() returns json language plpgsql stable security definer set search_path = '' as $$
declare
  current_id constant uuid := private.current_session();
begin
  return (
    with active as (
      -- refreshed_at is in UTC, without a zone.
      select id, created_at, user_agent, coalesce(refreshed_at at time zone 'UTC', created_at) as last_used_at
      from auth.sessions
      where user_id = auth.uid() and (not_after is null or not_after > now())
    ), listed as (
      select * from active order by id = current_id desc, last_used_at desc, id limit 50
    )
    select json_agg(
      json_build_object(
        'id', id, 'created_at', private.iso_time(created_at), 'last_used_at', private.iso_time(last_used_at),
        'user_agent', left(user_agent, 200), 'is_current', id = current_id
      ) order by last_used_at desc, id
    )
    from listed
  );
end
$$;

create function private.end_sessions(ended_session uuid) returns boolean
language plpgsql volatile security definer set search_path = '' as $$
declare
  current_id uuid;
begin
  -- Locks the account, otherwise two sessions could end each other at once.
  perform from auth.users where id = auth.uid() for no key update;
  current_id := private.current_session();
  delete from auth.sessions
    where user_id = auth.uid() and (id = ended_session or (ended_session is null and id <> current_id));
  return found;
end
$$;

create function public.list_sessions() returns json
language sql stable set search_path = '' as $$ select private.list_sessions() $$;
comment on function public.list_sessions is
  'Returns at most 50 sessions of the caller that have not expired: the present one and those last used, newest first.';

create function public.end_sessions(ended_session uuid default null) returns boolean
language sql volatile set search_path = '' as $$ select private.end_sessions(ended_session) $$;
comment on function public.end_sessions is
  'Ends a session of the caller, by default all others. Returns false if there is none.';

grant execute on function private.list_sessions, public.list_sessions to authenticated;
grant execute on function private.end_sessions, public.end_sessions to authenticated;

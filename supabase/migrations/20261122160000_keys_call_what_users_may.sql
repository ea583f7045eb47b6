-- What API keys may call is declared once, where a function is made: by its grant. Acting as its owner, a key calls whatever is
-- granted to users. Only what the service does for users, since they may not, is named below.

-- Dynamic, but made of the catalogue alone: what is sent is looked up in it, and its values are parameters: $1 holds them, $2 is
-- the owner, whom a function that asks for a "player" is told, whatever was sent.
create function private.call_of(operation text, arguments jsonb) returns text
language sql stable set search_path = '' as $$
  select format(
    'select %s from public.%I(%s) as result',
    case when prorettype = 'void'::regtype then 'null::json' else 'to_json(result)' end,
    proname,
    (
      select string_agg(
        case when name = 'player' then 'player => $2'
          else format('%I => ($1 ->> %L)::%s', name, name, format_type(type, null)) end,
        ', '
      )
      from unnest(proargnames, proargtypes::oid[]) as argument (name, type)
      where arguments ? name or name = 'player'
    )
  )
  from pg_proc
  where pronamespace = 'public'::regnamespace and proname = operation
    and array(select jsonb_object_keys(arguments)) <@ coalesce(proargnames, '{}')
$$;
comment on function private.call_of is
  'The statement that calls a function of the API with these arguments; null where there is none that takes them.';
grant execute on function private.call_of to service_role;

create or replace function public.as_api_key(key_hash text, operation text, arguments jsonb default '{}') returns json
language plpgsql volatile set search_path = '' as $$
declare
  owner uuid := private.owner_of_live_key(key_hash);
  statement text := private.call_of(operation, arguments);
  result json;
begin
  if owner is null then
    raise exception 'This API key is unknown, revoked or expired.' using errcode = 'PT401';
  end if;
  if statement is null then
    raise exception 'There is no operation "%" with these arguments.', operation using errcode = 'invalid_parameter_value';
  end if;
  -- Counting is the service's own act, for users as for keys. For anything else this becomes the owner, under row-level
  -- security: a function that is not granted to users is refused.
  if operation not in ('count_play', 'count_plays') then
    perform set_config('request.jwt.claims', jsonb_build_object('sub', owner, 'role', 'authenticated')::text, true);
    perform set_config('role', 'authenticated', true);
  end if;
  execute statement into result using arguments, owner;
  return result;
end
$$;
comment on function public.as_api_key is
  'Runs one operation as the owner of a live API key, under row-level security. For the service alone.';

-- Views and functions for administrators, in the dashboard. API roles have no usage on the schema admin.

create view admin.api_keys with (security_invoker = true) as
  select key.key_prefix, key.name, owner.email as owner_email, case
      when key.revoked_at is not null then 'revoked'
      when key.expires_at <= now() then 'expired'
      when account.deleted_at is not null then 'owner deleted'
      when not owner.is_active then 'owner deactivated'
      when account.banned_until > now() then 'owner banned'
      else 'live'
    end as state, key.last_used_at, key.created_at, key.expires_at, key.revoked_at, key.scope
  from private.api_keys as key
    join public.customers as owner on owner.id = key.owner_id
    join auth.users as account on account.id = key.owner_id
  order by key.created_at desc, key.key_prefix;
comment on view admin.api_keys is
  'API keys, newest first. Issue them with admin.create_api_key, revoke them with admin.revoke_api_key.';
comment on column admin.api_keys.key_prefix is 'First 16 characters of the key, to identify and revoke it.';
comment on column admin.api_keys.state is
  'State of the key: live (accepted), revoked, expired, owner deactivated, owner banned or owner deleted.';
comment on column admin.api_keys.scope is 'What the key may do: all, read or catalogue.';
comment on column admin.api_keys.last_used_at is 'Time of the last use, updated at most once a minute.';

create function private.reject_moment(written text) returns void language plpgsql immutable set search_path = '' as $$
begin
  raise exception '"%" is not a moment. Write the date as YYYY-MM-DD, the time, and a zone: a name with a slash, UTC '
    'or an offset. For example: 2030-01-04 09:30 Europe/Berlin, 2030-01-04 08:30 UTC, 2030-01-04 09:30 +01:00', written;
end
$$;

create function admin.time_zone(moment text) returns text language plpgsql immutable set search_path = '' as $$
declare
  words constant text[] := regexp_match(
    moment, '^\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)? ?'
      '([A-Za-z_]+(?:/[A-Za-z_-]+)+|Etc/GMT[+-]?\d\d?|UTC|Z|[+-]\d\d(?::?\d\d)?)$');
begin
  if words is null then
    perform private.reject_moment(moment);
  end if;
  return case
    when words[1] = 'Z' then 'UTC'
    when words[1] ~ '^[+-]\d\d$' then words[1] || ':00' -- as the dashboard shows times
    else words[1]
  end;
end
$$;
comment on function admin.time_zone is
  'Returns the zone of a moment that a person wrote: a name with a slash, UTC or an offset. Rejects others, because '
  'abbreviations have several meanings (IST is the time of India, of Ireland and of Israel).';

create function admin.moment(written text) returns timestamptz language plpgsql stable set search_path = '' as $$
begin
  perform admin.time_zone(written);
  return written::timestamptz;
exception
  when data_exception then -- a day, an hour or a zone that does not exist
    perform private.reject_moment(written);
end
$$;
comment on function admin.moment is
  'Returns the moment that a person wrote, for example 2030-01-04 09:30 Europe/Berlin.';

create function private.local_time(moment timestamptz, zone text) returns text
language plpgsql stable set search_path = '' as $$
declare
  -- Converts an offset to an interval, because Postgres reads a zone such as '+01:00' with the opposite sign.
  there constant timestamp := case
    when zone ~ '^[+-]' then moment at time zone zone::interval else moment at time zone zone end;
begin
  return to_char(there, 'YYYY-MM-DD HH24:MI ') || zone;
end
$$;

create function private.require_found(is_found boolean, what text, name text) returns void
language plpgsql immutable set search_path = '' as $$
begin
  if not is_found then
    raise exception 'There is no %: "%". Correct it, and run this again.', what, name;
  end if;
end
$$;
comment on function private.require_found is 'Rejects a name, in a snippet, of which there is no row.';

create function admin.sounds_named(title text) returns setof public.sounds
language plpgsql stable set search_path = '' as $$
begin
  return query select * from public.sounds where sounds.title = sounds_named.title and deleted_at is null;
  perform private.require_found(found, 'sound with this title', title);
end
$$;
comment on function admin.sounds_named is
  'Returns the sounds with this title, without the trash. An unknown title is an error.';

create function admin.section_named(slug text) returns setof public.home_sections
language plpgsql stable set search_path = '' as $$
begin
  return query
    select * from public.home_sections where home_sections.slug = section_named.slug and deleted_at is null;
  perform private.require_found(found, 'section of the home page with this slug', slug);
end
$$;
comment on function admin.section_named is
  'Returns the section with this slug, unless it is in the trash. An unknown slug is an error.';

create function admin.customer_named(email text) returns setof public.customers
language plpgsql stable set search_path = '' as $$
begin
  return query select * from public.customers where lower(customers.email) = lower(customer_named.email);
  perform private.require_found(found, 'customer with this e-mail address', email);
end
$$;
comment on function admin.customer_named is 'Returns the customer with this address. An unknown address is an error.';

create function admin.give_premium(email text, moment text)
returns table (customer text, until_in_utc text, until_there text) language plpgsql volatile set search_path = '' as $$
declare
  is_date constant boolean := coalesce(moment <> 'infinity', false);
  until constant timestamptz := case when is_date then admin.moment(moment) else moment::timestamptz end;
begin
  if until <= now() then
    raise exception '"%" is past. Give a moment in the future, or null to end what was given.', moment;
  end if;
  return query
    update public.customers as given set premium_given_until = until
      from admin.customer_named(give_premium.email) as found
      where given.id = found.id
      returning given.email,
        case when is_date then private.local_time(until, 'UTC') else coalesce(moment, 'no premium given') end,
        case when is_date then private.local_time(until, admin.time_zone(moment)) end;
end
$$;
comment on function admin.give_premium is
  'Sets premium_given_until of the customer with this address: a moment, infinity, or null for none.';

-- Settings of the operator for apps, in GET /config.

create table public.app_settings (
  key text primary key
    constraint setting_key_is_trimmed_visible_and_has_1_to_64_characters check (private.is_proper_name(key, 64)),
  value jsonb not null constraint setting_value_has_at_most_4096_bytes check (octet_length(value::text) <= 4096),
  -- Clients in typed languages would otherwise reject the whole response.
  constraint message_and_min_versions_are_texts
    check (key not in ('message', 'min_version_android', 'min_version_ios') or jsonb_typeof(value) = 'string')
);
comment on table public.app_settings is
  'Settings for apps, at most 100. Everybody can read them without signing in. Apps get a change within a minute.';
comment on column public.app_settings.key is
  'Name, for example min_version_ios, min_version_android or message, or any other that your app reads.';
comment on column public.app_settings.value is 'Any JSON. Put a text into double quotes, for example "2.1.0".';

alter table public.app_settings enable row level security;
create policy "Users read settings through the service" on public.app_settings for all to anon, authenticated
  using (false) with check (false);
grant select, insert, update, delete on public.app_settings to service_role;

-- Serializes inserts, so that each counts the rows of the others.
create function private.limit_app_settings() returns trigger language plpgsql set search_path = '' as $$
begin
  perform pg_advisory_xact_lock('public.app_settings'::regclass::oid::bigint);
  if exists (select from public.app_settings offset 100) then
    raise exception 'There are at most 100 settings. Delete one to add another.'
      using errcode = 'check_violation', constraint = 'there_are_at_most_100_settings', table = 'app_settings';
  end if;
  return null;
end
$$;
create trigger app_settings_limit after insert on public.app_settings for each statement
  execute function private.limit_app_settings();

create function public.get_app_settings() returns json language sql stable set search_path = '' as $$
  select json_build_object(
    'settings', coalesce(json_object_agg(key, value order by key), '{}'), 'guests', private.allows_guests())
  from public.app_settings
$$;
comment on function public.get_app_settings is 
  'Returns the settings for apps, as one object, and whether the database accepts guests. For the service only.';
grant execute on function public.get_app_settings to service_role;

-- How the service is used, for administrators: plays, listeners and accounts by day. Days are those of UTC, and name nobody.

create table private.visitors_by_day (
  day date primary key,
  visitors bigint not null
);
comment on table private.visitors_by_day is 'How many accounts were seen on each day (UTC). It names nobody.';
alter table private.visitors_by_day enable row level security;
create policy "Nobody reaches visitors by day" on private.visitors_by_day
  for all to anon, authenticated, service_role using (false) with check (false);

-- Definer, because last_seen_at is not the customer's to write.
create or replace function private.touch_last_seen() returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  today constant date := now() at time zone 'UTC';
  seen_before timestamptz;
begin
  select last_seen_at into seen_before from public.customers
    where id = auth.uid() and (last_seen_at is null or last_seen_at < now() - interval '15 minutes')
    for no key update;
  if found then
    update public.customers set last_seen_at = now() where id = auth.uid();
    if seen_before is null or seen_before < today::timestamp at time zone 'UTC' then
      insert into private.visitors_by_day as counter values (today, 1)
        on conflict (day) do update set visitors = counter.visitors + 1;
    end if;
  end if;
end
$$;

-- A row for each: what is inserted waits for nobody, where a counter would hold up other deletions.
create table private.deleted_accounts (
  id bigint generated always as identity primary key,
  signed_up_on date not null,
  deleted_on date not null default (now() at time zone 'UTC')
);
comment on table private.deleted_accounts is 'When accounts that are deleted were made, and when they were deleted. It names nobody.';
alter table private.deleted_accounts enable row level security;
create policy "Nobody reaches deleted accounts" on private.deleted_accounts
  for all to anon, authenticated, service_role using (false) with check (false);

create function private.count_deleted_account() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  insert into private.deleted_accounts (signed_up_on) values ((old.created_at at time zone 'UTC')::date);
  return null;
end
$$;
create trigger customers_count_deleted
  after delete on public.customers for each row
  when (old.email is null or old.email not like '%@doctor.invalid') -- private.is_doctors_account
  execute function private.count_deleted_account();

-- Views --------------------------------------------------------------------------------------------------------

create view admin.plays_by_day with (security_invoker = true) as
  select played.day, played.sound_id, sound.title, played.plays
  from private.plays_by_day as played join public.sounds as sound on sound.id = played.sound_id
  order by played.day desc, played.plays desc, sound.title;
comment on view admin.plays_by_day is 'How often each sound was played on each day (UTC), the last day first.';
comment on column admin.plays_by_day.day is 'Of a play without a network the day on which it was played, not that on which it was sent.';

create view admin.most_played with (security_invoker = true) as
  select sound.id as sound_id, sound.title, plays_7_days, plays_30_days, plays_365_days
  from public.sounds as sound join (
    select
      sound_id,
      coalesce(sum(plays) filter (where day > today - 7), 0)::bigint as plays_7_days,
      coalesce(sum(plays) filter (where day > today - 30), 0)::bigint as plays_30_days,
      sum(plays)::bigint as plays_365_days
    from private.plays_by_day, (select (now() at time zone 'UTC')::date as today) as now
    where day > today - 365
    group by sound_id
  ) as recent on recent.sound_id = sound.id
  order by plays_30_days desc, plays_365_days desc, sound.title;
comment on view admin.most_played is
  'How often each sound was played in the last 7, 30 and 365 days, today included; the most played of the last 30 days first.';

create view admin.listeners_by_day with (security_invoker = true) as
  select series.day::date as day, coalesce(listeners, 0) as listeners
  from generate_series(
      (select min(day)::timestamp from private.listeners_by_day), now() at time zone 'UTC', interval '1 day'
    ) as series (day)
    left join private.listeners_by_day as counted on counted.day = series.day
  order by series.day desc;
comment on view admin.listeners_by_day is
  'How many users played something on each day (UTC) since the first, the last day first. Who plays twice counts once.';

create view admin.accounts_by_day with (security_invoker = true) as
  with sign_ups as (
    select (created_at at time zone 'UTC')::date as day, 1 as sign_ups, 0 as active, 0 as deleted
    from public.customers where email is null or email not like '%@doctor.invalid'
    union all
    select signed_up_on, 1, 0, 0 from private.deleted_accounts
    union all
    select day, 0, visitors, 0 from private.visitors_by_day
    union all
    select deleted_on, 0, 0, 1 from private.deleted_accounts
    union all
    select (deleted_at at time zone 'UTC')::date, 0, 0, 1 from auth.users where deleted_at is not null
  )
  select
    series.day::date as day,
    coalesce(sum(sign_ups), 0)::bigint as sign_ups,
    coalesce(sum(active), 0)::bigint as active,
    coalesce(sum(deleted), 0)::bigint as deleted
  from generate_series(
      (select min(day)::timestamp from sign_ups), now() at time zone 'UTC', interval '1 day'
    ) as series (day)
    left join sign_ups on sign_ups.day = series.day
  group by series.day
  order by series.day desc;
comment on view admin.accounts_by_day is
  'How many accounts signed up, were seen, and were deleted on each day (UTC) since the first, the last day first.';
comment on column admin.accounts_by_day.sign_ups is 'Also of accounts that were deleted since.';
comment on column admin.accounts_by_day.active is 'Accounts that used the app; API keys do not count. Counted since this view exists.';

-- Sections -----------------------------------------------------------------------------------------------------

create function admin.fill_section(slug text, days integer default 7, sounds integer default 10)
returns table (place integer, sound_id uuid, title text, plays bigint)
language plpgsql volatile set search_path = '' as $$
#variable_conflict use_column
declare
  section public.home_sections;
begin
  if days is null or days not between 1 and 365 then
    raise exception 'days is %: give the number of days to look back on, 1 to 365.', days;
  end if;
  if sounds is null or sounds not between 1 and 100 then
    raise exception 'sounds is %: give the number of sounds, 1 to 100.', sounds;
  end if;
  -- Locked, so that two who fill it come one after the other.
  select home_sections.* into section from public.home_sections where home_sections.slug = fill_section.slug for update;
  if section.id is null then
    raise exception 'There is no home section "%".', slug;
  end if;
  if section.mode <> 'manual' then
    raise exception 'The section "%" fills itself by its rule. Set its mode to manual, and rule_type and rule_value to NULL.', slug;
  end if;
  return query
    with played as (
      select row_number() over (order by sum(day.plays) desc, sound.title, sound.id)::integer as place,
        sound.id as sound_id, sound.title, sum(day.plays)::bigint as plays
      from private.plays_by_day as day join public.sounds as sound on sound.id = day.sound_id
      where sound.is_active and day.day > (now() at time zone 'UTC')::date - fill_section.days
      group by sound.id
      order by place
      limit fill_section.sounds
    ), emptied as (
      delete from public.home_section_sounds where section_id = section.id and exists (select from played)
        and sound_id not in (select played.sound_id from played)
    ), filled as (
      insert into public.home_section_sounds (section_id, sound_id, position)
        select section.id, played.sound_id, 10 * played.place from played
        on conflict (section_id, sound_id) do update set position = excluded.position
    )
    select * from played order by place;
end
$$;
comment on function admin.fill_section is
  'Fills a section with mode manual with the active sounds that were played most in the last days, and returns them. Where '
  'nothing was played, the section stays as it is.';

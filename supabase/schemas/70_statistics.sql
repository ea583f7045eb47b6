-- Plays, listeners and accounts by day in UTC, without names.

create view admin.plays_by_day with (security_invoker = true) as
  select played.day, played.sound_id, sound.title, played.plays
  from private.plays_by_day as played join public.sounds as sound on sound.id = played.sound_id
  order by played.day desc, played.plays desc, sound.title;
comment on view admin.plays_by_day is 'Number of plays of each sound on each day (UTC), latest day first.';
comment on column admin.plays_by_day.day is 'Day on which the sound was played, even if an app sent the play later.';

create view admin.most_played with (security_invoker = true) as
  select sound_id, year.title,
    coalesce(week.listeners, 0) as listeners_7_days,
    coalesce(month.listeners, 0) as listeners_30_days,
    year.listeners as listeners_365_days,
    coalesce(week.plays, 0) as plays_7_days,
    coalesce(month.plays, 0) as plays_30_days,
    year.plays as plays_365_days
  from admin.top_sounds(365) as year
    left join admin.top_sounds(30) as month using (sound_id)
    left join admin.top_sounds(7) as week using (sound_id)
  order by listeners_30_days desc, month.days_played desc nulls last, listeners_365_days desc, year.title;
comment on view admin.most_played is
  'Listeners and plays of each sound in the last 7, 30 and 365 days, today included. Ordered by listeners_30_days.';
comment on column admin.most_played.listeners_30_days is 'Number of accounts that played the sound. Each counts once.';

create function private.days_since(first_day date) returns setof date language sql stable set search_path = '' as $$
  select day::date from generate_series(first_day::timestamp, now() at time zone 'UTC', interval '1 day') as day
$$;
comment on function private.days_since is 'Returns the days (UTC) from a first day, which may be null, until today.';

create view admin.listeners_by_day with (security_invoker = true) as
  select day, coalesce(listeners, 0) as listeners
  from private.days_since((select min(day) from private.listeners_by_day)) as day
    left join private.listeners_by_day using (day)
  order by day desc;
comment on view admin.listeners_by_day is 'Number of users who played a sound on each day (UTC), latest day first.';

create view admin.accounts_by_day with (security_invoker = true) as
  with events as (
    select (created_at at time zone 'UTC')::date as day, (not is_guest)::integer as sign_ups, 0 as active, 0 as deleted,
      is_guest::integer as guests, 0 as active_guests
    from public.customers where email is null or email not like '%@doctor.invalid'
    union all select signed_up_on, (not is_guest)::integer, 0, 0, is_guest::integer, 0 from private.deleted_accounts
    union all select day, 0, visitors, 0, 0, guests from private.visitors_by_day
    union all select deleted_on, 0, 0, 1, 0, 0 from private.deleted_accounts where not is_guest
    union all select (deleted_at at time zone 'UTC')::date, 0, 0, 1, 0, 0 from auth.users where deleted_at is not null
  )
  select day,
    coalesce(sum(sign_ups), 0)::bigint as sign_ups,
    coalesce(sum(active), 0)::bigint as active,
    coalesce(sum(deleted), 0)::bigint as deleted,
    coalesce(sum(guests), 0)::bigint as guests,
    coalesce(sum(active_guests), 0)::bigint as active_guests
  from private.days_since((select min(day) from events)) as day left join events using (day)
  group by day order by day desc;
comment on view admin.accounts_by_day is
  'Sign-ups, active and deleted accounts, and guests, on each day (UTC), latest day first.';
comment on column admin.accounts_by_day.guests is
  'Number of new guests. They count neither as sign-ups nor as deleted accounts.';
comment on column admin.accounts_by_day.sign_ups is 'Number of sign-ups, including accounts that were deleted later.';
comment on column admin.accounts_by_day.active is
  'Number of accounts that used the app, without API keys. Days before this view was installed have 0.';

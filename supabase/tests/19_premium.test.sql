-- The newest state decides what a customer has bought, in whatever order states arrive. What was given is kept apart.
begin;
select plan(26);

insert into auth.users (id, email) values ('a0000000-0000-4000-8000-000000000000', 'alice@tests.example.com');
set local timezone to 'UTC';
create function pg_temp.after(ends timestamptz, as_of timestamptz) returns text language sql volatile as $$
  select public.set_premium('a0000000-0000-4000-8000-000000000000', ends, as_of);
  select coalesce(premium_until::date::text, 'none') || ' by ' || coalesce(premium_as_of::date::text, 'none')
  from public.customers where id = 'a0000000-0000-4000-8000-000000000000'
$$;
grant execute on function pg_temp.after to service_role;

set local role service_role;
select is(pg_temp.after('2030-01-01', '2026-01-02'), '2030-01-01 by 2026-01-02', 'the first event sets the end');
select is(pg_temp.after('2031-01-01', '2026-01-01'), '2030-01-01 by 2026-01-02', 'an older event changes nothing');
select is(pg_temp.after('2029-01-01', '2026-01-02'), '2030-01-01 by 2026-01-02', 'of events of one moment the latest end stays');
select is(pg_temp.after('2030-06-01', '2026-01-02'), '2030-06-01 by 2026-01-02', 'of events of one moment the latest end wins');
select is(pg_temp.after('2026-01-03', '2026-01-03'), '2026-01-03 by 2026-01-03', 'a newer event may shorten premium');
select is(pg_temp.after(null, '2026-01-04'), 'none by 2026-01-04', 'a newer event may end premium');
select is(pg_temp.after('infinity', '2026-01-05'), 'infinity by 2026-01-05', 'premium may have no end');
select is(pg_temp.after('2032-01-01', null), '2032-01-01 by ' || current_date, 'an event without a time is of now');
select is(public.set_premium('a0000000-0000-4000-8000-000000000000', null, '2020-01-01'), true, 'an older event of a known customer is true');
select is(public.set_premium('b0000000-0000-4000-8000-000000000000', 'infinity'), false, 'an unknown customer is false');
select throws_like(
  $$ select public.set_premium('a0000000-0000-4000-8000-000000000000', 'infinity', 'infinity') $$, '%premium_as_of_is_finite%',
  'an event at infinity, after which none would count, is rejected'
);

reset role;
create function pg_temp.is_premium(bought timestamptz, given timestamptz) returns boolean language sql volatile as $$
  update public.customers set premium_until = bought, premium_given_until = given
    where id = 'a0000000-0000-4000-8000-000000000000';
  select private.is_premium('a0000000-0000-4000-8000-000000000000')
$$;
select is(pg_temp.is_premium(null, null), false, 'a customer without both dates has no premium');
select is(pg_temp.is_premium(now(), now()), false, 'premium ends exactly at the later date');
select is(pg_temp.is_premium(now() + interval '1 us', null), true, 'premium that was bought counts');
select is(pg_temp.is_premium(now() - interval '1 day', now() + interval '1 us'), true, 'premium that was given counts');
select is(pg_temp.is_premium('infinity', now() - interval '1 day'), true, 'the later date counts');
select public.set_premium('a0000000-0000-4000-8000-000000000000', null, now() + interval '1 hour');
select is(
  (select premium_given_until from public.customers where id = 'a0000000-0000-4000-8000-000000000000'),
  now() - interval '1 day', 'what a store says leaves what was given'
);
select throws_like(
  $$ update public.customers set premium_given_until = '-infinity' $$, '%premium_given_until_is_1970_or_later%',
  'an end before 1970 is rejected'
);
select throws_like(
  format('select admin.give_premium(%L, %L)', 'alice@tests.example.com', now()), '%is past. Give a moment in the future, or null%',
  'premium cannot be given until a moment that is past'
);

-- Moments that a person writes
select throws_like(
  format('select admin.moment(%L)', moment), format('"%s" is not a moment. Write %%', moment), 'not a moment: ' || moment
) from unnest(array[
  '2026-02-30 18:00 UTC', '2026-12-24 25:00 UTC', '2026-13-01 10:00 UTC', '0000-01-01 00:00 UTC',
  '2026-12-24 18:00 Europe/Berln', '2026-12-24 18:00 Europe/Berlin+1', '2026-12-24 18:00 +99:00'
]) as moment;

select finish();
rollback;

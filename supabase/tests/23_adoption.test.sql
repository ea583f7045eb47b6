-- Adoption: what a guest did moves to the user, by the rules of the calls that wrote it.
begin;
select plan(24);

insert into private.guests_allowed default values on conflict do nothing;
create function pg_temp.guest() returns uuid language sql as $$ select 'a0000000-0000-4000-8000-000000000000'::uuid $$;
create function pg_temp.owner() returns uuid language sql as $$ select 'b0000000-0000-4000-8000-000000000000'::uuid $$;
create function pg_temp.sound(number integer) returns uuid language sql as $$
  select ('7e575000-0000-4000-8000-' || lpad(number::text, 12, '0'))::uuid
$$;
insert into auth.users (id, is_anonymous) values
  (pg_temp.guest(), true), ('c0000000-0000-4000-8000-000000000000', true);
insert into auth.users (id, email) values (pg_temp.owner(), 'owner@tests.example.com');
insert into auth.sessions (id, user_id) values (gen_random_uuid(), pg_temp.guest());
insert into public.sounds (id, title, is_active)
  select pg_temp.sound(number), 'Sound ' || number, true from generate_series(1, 220) as number;

-- Favorites: guest and owner have one in common. favorites-limit.slow.test.ts tests the limit.
insert into public.favorites (user_id, sound_id, created_at) values
  (pg_temp.owner(), pg_temp.sound(1), '2026-01-01'),
  (pg_temp.guest(), pg_temp.sound(1), '2026-02-01'), (pg_temp.guest(), pg_temp.sound(2), '2026-02-02');

-- History: 3 and 5 plays of one sound, and entries older and newer than a clearing of the owner.
insert into public.history (user_id, sound_id, plays, last_played_at) values
  (pg_temp.owner(), pg_temp.sound(1), 3, now() - interval '3 hours'),
  (pg_temp.guest(), pg_temp.sound(1), 5, now() - interval '1 hour'),
  (pg_temp.guest(), pg_temp.sound(2), 2, now() - interval '5 hours'),
  (pg_temp.guest(), pg_temp.sound(3), 1, now() - interval '1 hour'),
  (pg_temp.guest(), gen_random_uuid(), 1, now() - interval '1 hour');
insert into private.history_clearings (user_id, sound_id, cleared_at) values
  (pg_temp.owner(), pg_temp.sound(2), now() - interval '4 hours'),
  (pg_temp.owner(), pg_temp.sound(3), now() - interval '4 hours'),
  (pg_temp.guest(), pg_temp.sound(3), now() - interval '2 hours'),
  (pg_temp.guest(), null, now() - interval '6 hours');
insert into private.listening_days values
  (pg_temp.owner(), '2026-11-01', false, 2), (pg_temp.guest(), '2026-11-01', true, 3),
  (pg_temp.guest(), '2026-11-02', false, 1),
  (pg_temp.owner(), '2026-11-03', true, 1), (pg_temp.guest(), '2026-11-03', true, 1);
delete from private.listeners_by_day;
insert into private.listeners_by_day values ('2026-11-01', 1), ('2026-11-03', 5);
insert into private.play_receipts (user_id, key, sound_id) values
  (pg_temp.guest(), 'sent', pg_temp.sound(1)), (pg_temp.guest(), 'both', pg_temp.sound(1)),
  (pg_temp.owner(), 'both', pg_temp.sound(1));

-- Positions: newer and older ones, removals, and one older than a clearing of the owner.
insert into public.progress (user_id, sound_id, position_sec, updated_at) values
  (pg_temp.owner(), pg_temp.sound(11), 1, now() - interval '2 hours'),
  (pg_temp.guest(), pg_temp.sound(11), 2, now() - interval '1 hour'),
  (pg_temp.owner(), pg_temp.sound(12), 1, now() - interval '1 hour'),
  (pg_temp.guest(), pg_temp.sound(12), 2, now() - interval '2 hours'),
  (pg_temp.owner(), pg_temp.sound(13), 1, now() - interval '2 hours'),
  (pg_temp.guest(), pg_temp.sound(13), null, now() - interval '1 hour'),
  (pg_temp.owner(), pg_temp.sound(14), null, now() - interval '1 hour'),
  (pg_temp.guest(), pg_temp.sound(14), 2, now() - interval '2 hours'),
  (pg_temp.guest(), pg_temp.sound(2), 2, now() - interval '5 hours');

-- Lists: the owner has 198 with 6,000 items, most of them of deleted sounds, which do not count. The guest has three,
-- of which the oldest has no room.
insert into public.lists (user_id, id, name, is_mix, items, version, updated_at)
  select pg_temp.owner(), pg_temp.sound(number), 'List ' || number, false, items, 1, now()
  from generate_series(1, 198) as number, lateral (
    select case when number <= 30 then jsonb_agg(jsonb_build_object('sound_id', pg_temp.sound(place), 'volume', null))
      else '[]' end as items from generate_series(201, 400) as place
  ) as filled;
insert into public.lists (user_id, id, name, is_mix, items, version, updated_at)
  select pg_temp.guest(), pg_temp.sound(number), 'Of the guest', true, '[]', 7, now() - number * interval '1 hour'
  from generate_series(1001, 1003) as number;
insert into private.removed_lists (user_id, id) values (pg_temp.guest(), pg_temp.sound(1004));

select public.set_premium(pg_temp.guest(), '2030-01-01', '2026-11-02');
select public.set_premium(pg_temp.owner(), '2029-01-01', '2026-11-03');
update public.customers set premium_given_until = '2031-01-01' where id = pg_temp.guest();
update public.customers set full_name = 'Guest', locale = 'de' where id = pg_temp.guest();
update public.customers set full_name = 'Owner' where id = pg_temp.owner();

-- Every table with a user, and what the adoption does with it.
create temporary table treatments (place text, treatment text) on commit drop;
insert into treatments values
  ('private.api_keys', 'deleted: a guest has none, because a key needs an address'),
  ('private.history_clearings', 'moved, the later time'),
  ('private.listening_days', 'moved, receipts added'),
  ('private.play_receipts', 'moved'),
  ('private.removed_lists', 'moved'),
  ('private.suspended_bans', 'deleted: the ban of a guest ends with the guest'),
  ('public.customers', 'premium moved, the later end; name and settings of the owner stay'),
  ('public.favorites', 'moved, at most 5,000'),
  ('public.history', 'moved, plays added'),
  ('public.lists', 'moved, at most 200 with 5,000 items'),
  ('public.progress', 'moved, the newest of each sound');
select set_eq(
  $$ select distinct conrelid::regclass::text from pg_constraint
     where contype = 'f' and confrelid in ('auth.users'::regclass, 'public.customers'::regclass)
       and connamespace in ('public'::regnamespace, 'private'::regnamespace) $$,
  $$ select replace(place, 'public.', '') from treatments $$,
  'the list above names every table with a user'
);

-- Pairs of guest and owner that are rejected.
select throws_ok(
  format('select public.adopt_guest(%L, %L)', guest, owner), '23514', null, 'rejects ' || title
) from (values
  ('a user as the guest', pg_temp.owner(), 'c0000000-0000-4000-8000-000000000000'::uuid),
  ('a guest as the user', 'c0000000-0000-4000-8000-000000000000', pg_temp.guest()),
  ('the same user twice', pg_temp.owner(), pg_temp.owner())
) as pair (title, guest, owner);
select throws_ok(
  format('select public.adopt_guest(%L, %L)', pg_temp.guest(), gen_random_uuid()), 'PT401', null,
  'rejects a user who was deleted'
);
set local role authenticated;
set local request.jwt.claims to '{"sub": "b0000000-0000-4000-8000-000000000000", "role": "authenticated"}';
select throws_ok(
  format('select public.adopt_guest(%L, %L)', 'a0000000-0000-4000-8000-000000000000', auth.uid()), '42501', null,
  'users cannot call it at the data API'
);
reset role;
set local request.jwt.claims to '';
select is((select count(*) from public.favorites where user_id = pg_temp.guest()), 2::bigint, 'nothing has moved by these');

select ok(public.adopt_guest(pg_temp.guest(), pg_temp.owner()), 'a user adopts a guest');
select ok(not public.adopt_guest(pg_temp.guest(), pg_temp.owner()), 'the same adoption again finds no guest');

select set_eq(
  $$ select sound_id, created_at from public.favorites where user_id = pg_temp.owner() $$,
  $$ values (pg_temp.sound(1), timestamptz '2026-01-01'), (pg_temp.sound(2), '2026-02-02') $$,
  'favorites of the guest move with their time, and those of the owner stay'
);
select results_eq(
  $$ select sound_id, plays, last_played_at from public.history where user_id = pg_temp.owner() order by sound_id $$,
  $$ values (pg_temp.sound(1), 8::bigint, (now() - interval '1 hour')::timestamptz(3)),
    (pg_temp.sound(3), 1, (now() - interval '1 hour')::timestamptz(3)) $$,
  'plays of both are added, except of deleted sounds and those before the owner cleared the history'
);
select results_eq(
  $$ select day, listened, receipts from private.listening_days where user_id = pg_temp.owner() order by day $$,
  $$ values (date '2026-11-01', true, 5), ('2026-11-02', false, 1), ('2026-11-03', true, 2) $$,
  'listening days are those of both'
);
select results_eq(
  'select day, listeners from private.listeners_by_day order by day',
  $$ values (date '2026-11-01', 1::bigint), ('2026-11-03', 4) $$,
  'guest and owner are one listener on a day on which both listened'
);
select set_eq(
  $$ select key from private.play_receipts where user_id = pg_temp.owner() $$, array['sent', 'both'],
  'receipts of plays move'
);
select is(
  public.count_plays(
    json_build_array(json_build_object('id', 'sent', 'sound_id', pg_temp.sound(1), 'played_at', now()))::jsonb,
    pg_temp.owner()) -> 0 ->> 'status',
  'duplicate', 'a play of the guest that the owner sends again counts once'
);
select results_eq(
  $$ select sound_id, position_sec from public.progress where user_id = pg_temp.owner() order by sound_id $$,
  $$ values (pg_temp.sound(11), 2::double precision), (pg_temp.sound(12), 1), (pg_temp.sound(13), null),
    (pg_temp.sound(14), null) $$,
  'the newest position or removal of each sound wins, and a clearing of the owner'
);
select set_eq(
  $$ select sound_id, cleared_at from private.history_clearings where user_id = pg_temp.owner() $$,
  $$ values (null, (now() - interval '6 hours')::timestamptz(3)),
    (pg_temp.sound(2), (now() - interval '4 hours')::timestamptz(3)),
    (pg_temp.sound(3), (now() - interval '2 hours')::timestamptz(3)) $$,
  'the later clearing of each sound stays'
);
select results_eq(
  $$ select id, version from public.lists where user_id = pg_temp.owner() and name = 'Of the guest' order by id $$,
  $$ values (pg_temp.sound(1001), 7), (pg_temp.sound(1002), 7) $$,
  'the newest lists of the guest move with their version, as far as there is room'
);
select set_eq(
  $$ select id from private.removed_lists where user_id = pg_temp.owner() $$, array[pg_temp.sound(1004)],
  'removed lists stay removed'
);
select results_eq(
  $$ select premium_until, premium_as_of, premium_given_until, full_name, locale, is_guest
     from public.customers where id = pg_temp.owner() $$,
  $$ values (timestamptz '2030-01-01', timestamptz '2026-11-03', timestamptz '2031-01-01', 'Owner', null::text, false) $$,
  'the owner has the later end of premium, and keeps name and settings'
);
select is_empty(
  $$ select from auth.users where id = pg_temp.guest()
     union all select from auth.sessions where user_id = pg_temp.guest()
     union all select from public.customers where id = pg_temp.guest()
     union all select from public.favorites where user_id = pg_temp.guest()
     union all select from public.history where user_id = pg_temp.guest()
     union all select from public.progress where user_id = pg_temp.guest()
     union all select from private.play_receipts where user_id = pg_temp.guest() $$,
  'nothing of the guest remains'
);
select ok(
  public.adopt_guest('c0000000-0000-4000-8000-000000000000', pg_temp.owner()), 'a guest who did nothing can be adopted'
);

-- Positions stay limited to 200.
insert into auth.users (id, is_anonymous) values ('d0000000-0000-4000-8000-000000000000', true);
insert into public.progress (user_id, sound_id, position_sec, updated_at)
  select 'd0000000-0000-4000-8000-000000000000', pg_temp.sound(number), 1, now() - number * interval '1 second'
  from generate_series(20, 219) as number;
delete from private.guests_allowed;
select ok(
  public.adopt_guest('d0000000-0000-4000-8000-000000000000', pg_temp.owner()),
  'a present guest can be adopted while new ones are refused'
);
select is(
  (select count(*) from public.progress where user_id = pg_temp.owner() and position_sec is not null), 200::bigint,
  'the owner has at most 200 positions'
);

select * from finish();
rollback;

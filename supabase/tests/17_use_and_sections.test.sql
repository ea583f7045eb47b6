-- Views of use for administrators, and functions that fill sections of the home page.
begin;
select plan(33);

delete from public.history;
delete from private.plays_by_day;
delete from private.listeners_by_day;
delete from private.deleted_accounts;
delete from private.visitors_by_day;
create function pg_temp.ago(days integer) returns date language sql as $$ select (now() at time zone 'UTC')::date - days $$;
create temporary table person on commit drop as select n, gen_random_uuid() as id from generate_series(1, 6) as n;
insert into auth.users (id, email) select id, id || '@tests.example.com' from person;
create temporary table song on commit drop as
  select title, gen_random_uuid() as id from unnest(array['Z first', 'A second', 'Third', 'Earlier', 'Hidden', 'Loud']) as title;
insert into public.sounds (id, title, is_active) select id, title, title <> 'Hidden' from song;

-- Adds plays by day, as {"days ago": plays}, and listeners who played last that many days ago.
create function pg_temp.add_plays(title text, plays jsonb, listeners integer, days integer) returns void language sql as $$
  insert into private.plays_by_day (sound_id, day, plays)
    select id, pg_temp.ago(key::integer), value::bigint from song, jsonb_each_text(plays) where song.title = add_plays.title;
  insert into public.history (user_id, sound_id, plays, last_played_at)
    select person.id, song.id, 1, now() - make_interval(days => days) from song, person
    where song.title = add_plays.title and n <= listeners;
$$;

-- Use by day
select public.count_play(song.id, person.id, key) from song, person, unnest(array['a', 'b']) as key where title = 'Loud' and n = 1;
select public.count_plays(jsonb_build_array(jsonb_build_object('id', 'c', 'sound_id', song.id, 'played_at', now() - interval '2 days')), person.id)
from song, person where title = 'Loud' and n = 1;
select results_eq(
  'select day, title, plays from admin.plays_by_day',
  $$ values (pg_temp.ago(0), 'Loud', 2::bigint), (pg_temp.ago(2), 'Loud', 1) $$,
  'plays_by_day shows plays by sound and day'
);
select results_eq(
  'select day, listeners from admin.listeners_by_day',
  $$ values (pg_temp.ago(0), 1::bigint), (pg_temp.ago(1), 0), (pg_temp.ago(2), 1) $$,
  'listeners_by_day shows every day since the first'
);
select results_eq(
  'select title, listeners, days_played, plays from admin.top_sounds(7)', $$ values ('Loud', 1::bigint, 2::bigint, 3::bigint) $$,
  'an account is one listener, however often it plays'
);
delete from public.history;
delete from private.plays_by_day;

select pg_temp.add_plays('Loud', '{"0": 1, "6": 2, "7": 4, "29": 8, "30": 16, "364": 32, "365": 64}', 6, 366);
update public.history set last_played_at = now() - make_interval(days => (array[6, 7, 29, 30, 364, 365])[n])
from person where user_id = person.id;
select pg_temp.add_plays('Third', '{"300": 5}', 0, 0), pg_temp.add_plays('Earlier', '{"400": 5}', 0, 0);
select results_eq(
  $$ select title, array[listeners_7_days, listeners_30_days, listeners_365_days, plays_7_days, plays_30_days, plays_365_days]
     from admin.most_played $$,
  $$ values ('Loud', array[1, 3, 5, 3, 15, 63]::bigint[]), ('Third', array[0, 0, 0, 0, 0, 5]) $$,
  'most_played counts the listeners and plays of 7, 30 and 365 days'
);
delete from public.history;
delete from private.plays_by_day;

create temporary table account on commit drop as select n, gen_random_uuid() as id from generate_series(1, 5) as n;
insert into auth.users (id, email, created_at)
select id, id || case when n < 4 then '@tests.example.com' else '@doctor.invalid' end, '2001-02-03T23:00:00Z' from account;
create temporary table deletions on commit drop as
  select coalesce(sum(deleted), 0)::bigint as before from admin.accounts_by_day where day = pg_temp.ago(0);
delete from auth.users where id in (select id from account where n in (1, 4));
update auth.users set deleted_at = '2001-02-03T23:59:00Z' where id = (select id from account where n = 2);
select results_eq(
  $$ select sign_ups, deleted from admin.accounts_by_day where day = '2001-02-03' $$, $$ values (3::bigint, 1::bigint) $$,
  'accounts_by_day counts soft deletions and all sign-ups except the doctor''s'
);
select is((select deleted - before from admin.accounts_by_day, deletions where day = pg_temp.ago(0)), 1::bigint, 'accounts_by_day counts deletions on their day');

create function pg_temp.visitors_after(seen timestamptz) returns bigint language plpgsql as $$
begin
  update public.customers set last_seen_at = seen where id = (select id from person where n = 1);
  perform set_config('request.jwt.claims', json_build_object('sub', (select id from person where n = 1))::text, true);
  perform public.touch_last_seen();
  return (select active from admin.accounts_by_day where day = pg_temp.ago(0));
end $$;
select is(pg_temp.visitors_after(null), 1::bigint, 'accounts_by_day counts an account as active when it is seen for the first time');
select is(pg_temp.visitors_after(now() - interval '25 hours'), 2::bigint, 'accounts_by_day counts an account as active again on another day');
select is(
  pg_temp.visitors_after(greatest(pg_temp.ago(0)::timestamp at time zone 'UTC', now() - interval '16 minutes')), 2::bigint,
  'accounts_by_day counts an account as active once a day'
);

-- Sections
insert into public.categories (slug, name) values ('tests-explained', 'x');
insert into public.home_sections (slug, title, mode, rule_type, rule_value, item_limit, is_active) values
  ('tests-manual', 'x', 'manual', null, null, 20, true),
  ('tests-rule', 'x', 'rule', 'category', 'tests-explained', 2, true),
  ('tests-inactive', 'x', 'rule', 'newest', null, 20, false);
create function pg_temp.pick(slug text, title text, place integer) returns void language sql as $$
  insert into public.home_section_sounds select section.id, song.id, place from public.home_sections as section, song
  where section.slug = pick.slug and song.title = pick.title
$$;
create function pg_temp.picks(slug text) returns text[] language sql as $$
  select array_agg(song.title order by position) from public.home_section_sounds join public.home_sections as section on section.id = section_id
    join song on song.id = sound_id where section.slug = picks.slug
$$;

select results_eq(
  $$ select sound, why from admin.home_explained where section = 'tests-manual' $$,
  $$ values (null::text, 'The section is empty: no sound fits it.') $$, 'home_explained says that a section is empty'
);
select set_eq(
  $$ select position, why from admin.home_explained where section = 'tests-inactive' $$,
  $$ values (null::bigint, 'Not shown: the section is inactive.') $$, 'home_explained says that a section is inactive'
);
update public.sounds set category = 'tests-explained', sort_order = case title when 'Z first' then 1 when 'A second' then 2 else 3 end
where title in ('Z first', 'A second', 'Third', 'Hidden') and id in (select id from song);
select pg_temp.pick('tests-rule', 'Hidden', 1);
select results_eq(
  $$ select position, sound, why from admin.home_explained where section = 'tests-rule' order by position, sound, why $$,
  $$ values (1::bigint, 'Z first', 'Shown.'), (2, 'A second', 'Shown.'),
     (null, 'Hidden', 'Not shown: picks count only in mode manual.'), (null, 'Hidden', 'Not shown: the sound is inactive.'),
     (null, 'Third', 'Not shown: beyond the item_limit of 2.') $$,
  'home_explained shows which sounds a section has, and why others are missing'
);
select results_eq(
  $$ select section.value ->> 'slug', sound.place, sound.value ->> 'title'
     from json_array_elements(public.list_home_sections()) with ordinality as section (value, place)
       left join lateral json_array_elements(section.value -> 'sounds') with ordinality as sound (value, place) on true
     order by section.place, sound.place $$,
  $$ select section, position, sound from (
       select distinct section_position, section, position, case when position is not null then sound end as sound from admin.home_explained
       where section_position is not null
         and (position is not null or section not in (select section from admin.home_explained where position is not null))
     ) as shown order by section_position, position $$,
  'home_explained shows the home page as apps get it'
);

select pg_temp.add_plays('Z first', '{"0": 1, "6": 1}', 4, 6), pg_temp.add_plays('A second', '{"1": 3}', 4, 1),
  pg_temp.add_plays('Third', '{"0": 1, "1": 1, "2": 1}', 3, 0), pg_temp.add_plays('Earlier', '{"7": 9}', 6, 7),
  pg_temp.add_plays('Hidden', '{"0": 9}', 6, 0), pg_temp.add_plays('Loud', '{"0": 1000000}', 1, 0);
select pg_temp.pick('tests-manual', 'Third', 10), pg_temp.pick('tests-manual', 'Hidden', 30);
select results_eq(
  $$ select place, title, listeners, days_played, plays from admin.fill_section('tests-manual', 7, 2) $$,
  $$ values (1, 'Z first', 4::bigint, 2::bigint, 2::bigint), (2, 'A second', 4, 1, 3) $$,
  'fill_section returns active sounds by listeners, then by days on which they were played'
);
select is(pg_temp.picks('tests-manual'), array['Z first', 'A second'], 'fill_section puts exactly these sounds into the section');
insert into public.history (user_id, sound_id, plays, last_played_at)
select person.id, song.id, 1, now() from person, song where n = 5 and title = 'A second';
select lives_ok($$ select admin.fill_section('tests-manual', 7, 3) $$, 'fill_section fills a section again');
select is(pg_temp.picks('tests-manual'), array['A second', 'Z first', 'Third'], 'a section that is filled again has the new order');
select throws_like(
  format('select admin.fill_section(%L, %s, %s)', slug, days, sounds), message, 'fill_section rejects ' || concat_ws(', ', slug, days, sounds)
) from (values
  ('tests-none', 7, 10, 'No home section "tests-none" has mode manual.%'), ('tests-rule', 7, 10, 'No home section%'),
  ('tests-manual', 0, 10, '%1 to 365 days%'), ('tests-manual', 366, 10, '%1 to 365 days%'),
  ('tests-manual', 7, 0, '%1 to 100 sounds.'), ('tests-manual', 7, 101, '%1 to 100 sounds.'),
  ('tests-manual', 7, 5, 'Only 4 active sounds were played in the last 7 days, so the section stays as it is.%')
) as attempt (slug, days, sounds, message);

update song set title = title || ' of tests';
update public.sounds set title = song.title from song where song.id = sounds.id;
insert into public.sounds (title) values ('Twice of tests'), ('Twice of tests');
select throws_like(
  $$ select admin.arrange_section('tests-manual', array['Loud of tests', 'Twice of tests', 'None of tests']) $$,
  '"None of tests" is the title of 0 sounds, "Twice of tests" is the title of 2 sounds. Correct%',
  'arrange_section names unknown and ambiguous titles'
);
select throws_like(
  format('select admin.arrange_section(%L, %L)', 'tests-manual', titles), message, 'arrange_section rejects ' || coalesce(titles::text, 'null')
) from (values
  (array['Loud of tests', 'Z first of tests', 'Loud of tests'], '"Loud of tests" is named 2 times. Correct%'),
  (array['Loud of tests', null], '"NULL" is the title of 0 sounds. Correct%'),
  (null, 'There are no titles. To empty a section%'), ('{}', 'There are no titles. To empty a section%')
) as attempt (titles, message);
select throws_like($$ select admin.arrange_section('tests-rule', array['Loud of tests']) $$, 'No home section%', 'arrange_section rejects a section with a rule');
select is(
  pg_temp.picks('tests-manual'), array['A second of tests', 'Z first of tests', 'Third of tests'],
  'functions that fail do not change a section'
);
select results_eq(
  $$ select place, title from admin.arrange_section('tests-manual', array['Loud of tests', 'Z first of tests']) $$,
  $$ values (1, 'Loud of tests'), (2, 'Z first of tests') $$, 'arrange_section returns the named sounds in their order'
);
select is(pg_temp.picks('tests-manual'), array['Loud of tests', 'Z first of tests'], 'arrange_section puts exactly the named sounds into the section');

select finish();
rollback;

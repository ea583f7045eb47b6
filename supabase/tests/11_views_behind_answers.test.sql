-- Attacks on the views behind the responses. The API does not expose their schema; they show only rows that the tables
-- show to the user.
begin;
select plan(37);

insert into auth.users (id, email) values
  ('a0000000-0000-4000-8000-000000000000', 'alice@tests.example.com'),
  ('b0000000-0000-4000-8000-000000000000', 'mallory@tests.example.com');
insert into public.sounds (id, title, is_active, audio_path) values
  ('7e575000-0000-4000-8000-000000000001', 'Tests shown', true, 'tests/shown.mp3'),
  ('7e575000-0000-4000-8000-000000000002', 'Tests hidden', false, 'tests/hidden.mp3');
insert into public.favorites (user_id, sound_id) values
  ('a0000000-0000-4000-8000-000000000000', '7e575000-0000-4000-8000-000000000001'),
  ('a0000000-0000-4000-8000-000000000000', '7e575000-0000-4000-8000-000000000002');

insert into public.history (user_id, sound_id, plays, last_played_at) values
  ('a0000000-0000-4000-8000-000000000000', '7e575000-0000-4000-8000-000000000001', 1, now());
insert into public.progress (user_id, sound_id, position_sec, updated_at) values
  ('a0000000-0000-4000-8000-000000000000', '7e575000-0000-4000-8000-000000000001', 5, now());

create view pg_temp.views as
  select relname as name from pg_class where relnamespace = 'private'::regnamespace and relkind = 'v';
grant select on pg_temp.views to authenticated, service_role;
select bag_eq(
  'select name from views',
  $$ values
    ('category'), ('category_problems'), ('copied_category'), ('copied_home_section'), ('copied_sound'), ('customer'),
    ('favorite'), ('file_problems'), ('history_entry'), ('home_section'), ('named_file'), ('progress_entry'),
    ('section_problems'), ('sound'), ('sound_preview'), ('sound_problems'), ('stored_sound'), ('sub_category'),
    ('trash_problems'), ('visible_category') $$,
  'the views are exactly the listed ones'
);

set local role service_role;
select throws_ok(
  'select * from private.' || name, '42501', 'permission denied for view ' || name, 'the service cannot read ' || name
) from views;

set local role authenticated;
set local request.jwt.claims to '{"sub": "b0000000-0000-4000-8000-000000000000", "role": "authenticated"}';
select throws_ok(
  'select * from private.' || name, '42501', 'permission denied for view ' || name, 'a user cannot read ' || name
) from unnest(array['category', 'home_section', 'sub_category']) as name;
select throws_ok(attack, '42501', null, 'a user cannot: ' || attack)
from unnest(array[
  'update private.customer set is_active = true',
  'update private.sound_preview set title = ''Mine''',
  'delete from private.favorite',
  'insert into private.sound_preview (title) values (''Mine'')'
]) as attack;
select results_eq(
  'select email from private.customer', array['mallory@tests.example.com'], 'a user finds only herself in customer'
);
select is_empty('select * from private.favorite', 'a user finds no favorite of another');
select is_empty('select * from private.history_entry', 'a user finds no history of another');
select is_empty('select * from private.progress_entry', 'a user finds no position of another');
select results_eq(
  format('select title from private.%I where title like %L', name, 'Tests %'), array['Tests shown'],
  'a user finds only what is active in ' || name
) from unnest(array['sound', 'sound_preview', 'stored_sound']) as name;

set local request.jwt.claims to '{"sub": "a0000000-0000-4000-8000-000000000000", "role": "authenticated"}';
select results_eq(
  'select sound_id, (sounds).title from private.favorite order by sound_id',
  $$ values
    ('7e575000-0000-4000-8000-000000000001'::uuid, 'Tests shown'),
    ('7e575000-0000-4000-8000-000000000002'::uuid, null) $$,
  'a user finds her own favorites, with no preview of a hidden sound'
);
select is_empty(
  $$ select from private.stored_sound where audio_path = 'tests/hidden.mp3' $$, 'a user finds no file names of a hidden sound'
);

select * from finish();
rollback;

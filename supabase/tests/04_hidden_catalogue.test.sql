-- Attacks on hidden rows: inactive sounds, categories and home sections, and data that would reveal them.
begin;
select plan(31);

insert into auth.users (id, email) values ('b0000000-0000-4000-8000-000000000000', 'mallory@tests.example.com');
insert into public.categories (id, slug, name, parent_id, is_active) values
  ('c0000000-0000-4000-8000-000000000001', 'tests-hidden', 'Hidden', null, false),
  ('c0000000-0000-4000-8000-000000000002', 'tests-hidden-child', 'Child', 'c0000000-0000-4000-8000-000000000001', true),
  ('c0000000-0000-4000-8000-000000000003', 'tests-shown', 'Shown', null, true);
insert into public.sounds (id, title, category, is_featured, is_active, created_at) values
  ('7e575000-0000-4000-8000-000000000001', 'Tests hidden', 'tests-shown', true, false, '2999-01-02'),
  ('7e575000-0000-4000-8000-000000000002', 'Tests shown', 'tests-shown', true, true, '2999-01-01'),
  ('7e575000-0000-4000-8000-000000000003', 'Tests gone', 'tests-shown', true, true, '2999-01-03');
insert into public.play_counts (sound_id, plays) values
  ('7e575000-0000-4000-8000-000000000001', 7), ('7e575000-0000-4000-8000-000000000002', 7);
insert into public.home_sections (id, slug, title, is_active) values
  ('d0000000-0000-4000-8000-000000000001', 'tests-hidden', 'Hidden', false),
  ('d0000000-0000-4000-8000-000000000002', 'tests-shown', 'Shown', true);
insert into public.home_section_sounds (section_id, sound_id, position) values
  ('d0000000-0000-4000-8000-000000000001', '7e575000-0000-4000-8000-000000000002', 1),
  ('d0000000-0000-4000-8000-000000000002', '7e575000-0000-4000-8000-000000000001', 1),
  ('d0000000-0000-4000-8000-000000000002', '7e575000-0000-4000-8000-000000000002', 2);
delete from public.sounds where title = 'Tests gone';
select private.delete_from_trash('sounds', array(select id from public.sounds where title = 'Tests gone'));

set local role anon;
select unalike(public.list_categories()::text, '%tests-hidden%', 'without a token the tree has no hidden category');
select alike(public.list_categories()::text, '%tests-shown%', 'without a token the tree has the active categories');

set local role authenticated;
set local request.jwt.claims to '{"sub": "b0000000-0000-4000-8000-000000000000", "role": "authenticated"}';
select results_eq(
  format('select %I::text from public.%I where %I::text like %L order by 1', key, name, key, pattern),
  array[expected],
  'a user finds only what is active in ' || name
)
from (values
  ('categories', 'slug', 'tests-%', 'tests-shown'),
  ('sounds', 'title', 'Tests %', 'Tests shown'),
  ('play_counts', 'sound_id', '7e575000-%', '7e575000-0000-4000-8000-000000000002'),
  ('home_sections', 'slug', 'tests-%', 'tests-shown'),
  ('home_section_sounds', 'sound_id', '7e575000-%', '7e575000-0000-4000-8000-000000000002')
) as seen (name, key, pattern, expected);
select unalike((answer)::text, '%hidden%', 'a user finds nothing hidden in ' || call)
from (values
  ('list_categories()', public.list_categories()),
  ('list_sounds()', public.list_sounds()),
  ('list_sounds of a category', public.list_sounds('{"category": "tests-shown"}')),
  ('list_sounds of featured', public.list_sounds('{"featured": true}')),
  ('list_sounds with a search', public.list_sounds('{"search": "tests"}')),
  ('list_sounds after a hidden sound', public.list_sounds('{"cursor": "2999-01-02"}')),
  ('list_sounds by name', public.list_sounds('{"sort": "title", "category": "tests-shown"}')),
  ('list_sounds of a tag', public.list_sounds('{"tag": ["tests"]}')),
  ('list_sounds of words', public.list_sounds('{"q": "tests"}')),
  ('list_sounds of ids', public.list_sounds('{"ids": ["7e575000-0000-4000-8000-000000000001"]}')),
  ('list_sound_files', public.list_sound_files('{"ids": ["7e575000-0000-4000-8000-000000000001"]}')),
  ('list_catalogue_changes', public.list_catalogue_changes()),
  ('list_home_sections()', public.list_home_sections())
) as asked (call, answer);
select is(
  json_array_length(public.list_sounds('{"category": "tests-shown"}') -> 'data'), 1,
  'list_sounds returns the active sound'
);
select is(public.get_sound('7e575000-0000-4000-8000-000000000001')::jsonb, null, 'get_sound returns null for a hidden sound');
select isnt(public.get_sound('7e575000-0000-4000-8000-000000000002')::jsonb, null, 'get_sound returns an active sound');
select throws_ok('select ' || call, '42501', null, 'a user cannot call ' || call)
from unnest(array[
  $$private.sounds_in_order(null)$$,
  $$private.search_sounds(null)$$,
  $$private.stored_file('audio', 'a.mp3')$$,
  $$private.sounds_of_section(null)$$,
  $$private.category_family('tests-hidden', true)$$
]) as call;
select throws_ok(
  'select * from private.former_positions', '42501', 'permission denied for table former_positions',
  'a user cannot read the positions of deleted sounds'
);
select is(
  private.is_category_active('c0000000-0000-4000-8000-000000000001'), false,
  'a user who knows the id of a hidden category learns only that it is inactive'
);

reset role;
select results_eq(
  $$ select (select count(*) from public.categories where slug like 'tests-hidden%'),
       (select count(*) from public.sounds where title = 'Tests hidden'),
       (select count(*) from public.play_counts where sound_id = '7e575000-0000-4000-8000-000000000001'),
       (select count(*) from public.home_sections where slug = 'tests-hidden'),
       (select count(*) from public.home_section_sounds where section_id::text like 'd0000000-%'),
       (select count(*) from private.former_positions where created_at = '2999-01-03') $$,
  'values (2::bigint, 1::bigint, 1::bigint, 1::bigint, 3::bigint, 1::bigint)', 'the hidden and deleted rows exist'
);

select * from finish();
rollback;

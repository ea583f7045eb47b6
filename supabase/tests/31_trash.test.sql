-- Deleted sounds, categories and sections can be brought back for 30 days, with all rows that name them.
begin;
select plan(40);

insert into auth.users (id, email)
select format('a0000000-0000-4000-8000-00000000000%s', n)::uuid, format('listener%s@tests.example.com', n)
from generate_series(1, 3) as n;
insert into public.categories (id, slug, name) values ('7e57ca00-0000-4000-8000-000000000001', 'tests-top', 'Top');
insert into public.categories (id, slug, name, parent_id) values
  ('7e57ca00-0000-4000-8000-000000000002', 'tests-below', 'Below', '7e57ca00-0000-4000-8000-000000000001');
insert into public.sounds (id, title, category, tags, audio_path, created_at) values
  ('7e575000-0000-4000-8000-000000000001', 'Tests rain', 'tests-top', '{wet}', 'tests/rain.mp3', '2001-01-01');
insert into public.home_sections (id, slug, title, sort_order) values
  ('7e575ec0-0000-4000-8000-000000000001', 'tests-first', 'First', -2),
  ('7e575ec0-0000-4000-8000-000000000002', 'tests-second', 'Second', -1);
insert into public.home_sections (id, slug, title, mode, rule_type, rule_value) values
  ('7e575ec0-0000-4000-8000-000000000003', 'tests-rule', 'Rule', 'rule', 'category', 'tests-below');
insert into public.home_section_sounds (section_id, sound_id, position) values
  ('7e575ec0-0000-4000-8000-000000000001', '7e575000-0000-4000-8000-000000000001', 30),
  ('7e575ec0-0000-4000-8000-000000000002', '7e575000-0000-4000-8000-000000000001', 10);
insert into public.favorites (user_id, sound_id)
select id, '7e575000-0000-4000-8000-000000000001' from auth.users where email like '%@tests.example.com';
select public.count_play('7e575000-0000-4000-8000-000000000001', 'a0000000-0000-4000-8000-000000000001', 'play ' || n)
from generate_series(1, 7) as n;
insert into public.progress (user_id, sound_id, position_sec, updated_at) values
  ('a0000000-0000-4000-8000-000000000001', '7e575000-0000-4000-8000-000000000001', 12, now());
insert into storage.objects (bucket_id, name, metadata) values ('audio', 'tests/rain.mp3', '{"mimetype": "audio/mpeg"}');

-- Contains all that is stored about the sound, without the time of its last change.
create view pg_temp.state as
  select (select jsonb_agg(to_jsonb(sound) - 'updated_at') from public.sounds as sound where title = 'Tests rain') as sound,
    (select jsonb_agg(favorite order by user_id) from public.favorites as favorite
      where sound_id = '7e575000-0000-4000-8000-000000000001') as favorites,
    (select jsonb_agg(counter) from public.play_counts as counter
      where sound_id = '7e575000-0000-4000-8000-000000000001') as plays,
    (select jsonb_agg(entry) from public.history as entry
      where sound_id = '7e575000-0000-4000-8000-000000000001') as history,
    (select jsonb_agg(entry) from public.progress as entry
      where sound_id = '7e575000-0000-4000-8000-000000000001') as positions,
    (select jsonb_agg(pick order by section_id) from public.home_section_sounds as pick
      where sound_id = '7e575000-0000-4000-8000-000000000001') as picks,
    (select jsonb_agg(section -> 'id') from json_array_elements(private.list_home_sections()) as section
      where section ->> 'slug' like 'tests-%') as home;
create temporary table before on commit drop as select * from state;
create function pg_temp.last_change(changed uuid) returns bigint language sql as $$
  select number from private.catalogue_changes where id = changed
$$;
create temporary table numbers (name text, number bigint) on commit drop;
insert into numbers values ('before', pg_temp.last_change('7e575000-0000-4000-8000-000000000001'));

-- Delete a sound and bring it back.
select lives_ok('delete from public.sounds where title = ''Tests rain''', 'a sound can be deleted');
insert into numbers values ('deleted', pg_temp.last_change('7e575000-0000-4000-8000-000000000001'));
select is(public.get_sound('7e575000-0000-4000-8000-000000000001')::jsonb, null, 'a deleted sound is not served');
select is_empty(
  $$ select from json_array_elements(private.list_home_sections()) as section, json_array_elements(section -> 'sounds') as sound
     where sound ->> 'title' = 'Tests rain' $$, 'a deleted sound is not on the home page'
);
select results_eq(
  $$ select is_active, deleted_at from public.sounds where title = 'Tests rain' $$, $$ values (false, now()) $$,
  'a deleted sound is hidden, with the time of the deletion'
);
update public.sounds set deleted_at = now() - interval '1 day' where title = 'Tests rain';
select is_empty('delete from public.sounds where title = ''Tests rain'' returning *', 'deleting a row of the trash deletes no row');
select is(
  (select deleted_at from public.sounds where title = 'Tests rain'), now() - interval '1 day',
  'deleting a row of the trash keeps the time of the first deletion'
);
select is_empty(
  $$ select from admin.unused_files where name = 'tests/rain.mp3' $$, 'the file of a sound in the trash is used'
);
select is(
  (select concerns from admin.catalogue_problems where problem = 'trash_is_not_empty'),
  'the trash: ' || private.trash_in_words(), 'admin.catalogue_problems counts the trash'
);
select is(public.doctor_report() ->> 'trash', private.trash_in_words(), 'the doctor counts the trash');
select is(
  (select array_agg(distinct why) from admin.home_explained where sound = 'Tests rain' and section like 'tests-%'),
  '{"Not shown: the sound is in the trash."}', 'admin.home_explained names the trash'
);
select throws_ok(
  'insert into public.sounds (title, deleted_at) values (''Tests other'', now())', '23514', null,
  'no sound is active and in the trash'
);
update public.sounds set is_active = true where title = 'Tests rain';
select results_eq('table state', 'table before', 'activating a sound brings it back with everything that names it');
select cmp_ok(
  (select number from numbers where name = 'deleted'), '>', (select number from numbers where name = 'before'),
  'the deletion is a new entry of the change feed'
);
select cmp_ok(
  pg_temp.last_change('7e575000-0000-4000-8000-000000000001'), '>', (select number from numbers where name = 'deleted'),
  'the return is a new entry of the change feed'
);

-- Categories and sections
select lives_ok('delete from public.categories where slug = ''tests-top''', 'a category with sub-intentions can be deleted');
select lives_ok('delete from public.categories where slug = ''tests-below''', 'a category that a rule names can be deleted');
select is(
  (select category from public.sounds where title = 'Tests rain'), 'tests-top', 'sounds keep a category in the trash'
);
select lives_ok('delete from public.home_sections where slug = ''tests-first''', 'a home section can be deleted');
select is_empty(
  $$ select from json_array_elements(private.list_categories()) as category where category ->> 'slug' = 'tests-top' $$,
  'a category in the trash is not served, nor its sub-intentions'
);
select is_empty(
  $$ select from json_array_elements(private.list_home_sections()) as section where section ->> 'slug' = 'tests-first' $$,
  'a section in the trash is not served'
);
select throws_like(statement, '%belongs to a row in the trash, deleted on %', statement)
from unnest(array[
  $$ insert into public.categories (slug, name) values ('tests-top', 'Top') $$,
  $$ insert into public.categories (slug, name) values ('tests-top', 'Top') on conflict (slug) do nothing $$,
  $$ update public.home_sections set slug = 'tests-first' where slug = 'tests-second' $$
]) as statement;
select throws_like(
  $$ select * from admin.section_named('tests-first') $$, 'There is no section%', 'snippets do not find a section in the trash'
);
update public.categories set is_active = true where slug like 'tests-%';
update public.home_sections set is_active = true where slug like 'tests-%';
select results_eq('table state', 'table before', 'activating categories and sections brings them back, picks in order');

-- Delete for good
select throws_like(
  $$ select admin.delete_for_good('sounds', '7e575000-0000-4000-8000-000000000001') $$, 'The trash has no row of "sounds"%',
  'a row that is not in the trash is not deleted for good'
);
select throws_like(
  $$ select admin.delete_for_good('customers', 'a0000000-0000-4000-8000-000000000001') $$, 
  'There is no trash for "customers". table_name is one of: sounds, categories, home_sections.',
  'rows of other tables are not deleted for good'
);
delete from public.categories where slug like 'tests-%';
select throws_ok(
  $$ select admin.delete_for_good('categories', '7e57ca00-0000-4000-8000-000000000001') $$, 'P0001',
  'The category "tests-top" is still named by: 1 sound, 1 sub-intention. Change these, or delete them for good, first.',
  'a category that a sound and a sub-intention name is not deleted for good'
);
select throws_like(
  $$ select admin.delete_for_good('categories', '7e57ca00-0000-4000-8000-000000000002') $$, '%named by: 1 home section.%',
  'a category that a rule names is not deleted for good'
);
delete from public.home_sections where slug = 'tests-second';
select is(
  admin.delete_for_good('home_sections', '7e575ec0-0000-4000-8000-000000000002'),
  'Deleted for good: "tests-second" of home_sections.', 'a section of the trash is deleted for good'
);
select is_empty(
  $$ select from public.home_section_sounds where section_id = '7e575ec0-0000-4000-8000-000000000002' $$,
  'its picks are deleted with it'
);
select lives_ok(
  $$ delete from public.home_sections where slug = 'tests-first' $$, 'a deletion after one for good goes to the trash again'
);
select isnt_empty($$ select from public.home_sections where slug = 'tests-first' $$, 'a section in the trash still exists');

-- Upkeep
create function pg_temp.upkeep_on_day(day integer) returns void language plpgsql as $$
begin
  update public.sounds set deleted_at = now() - make_interval(days => day) where title = 'Tests rain';
  update public.categories set deleted_at = now() - make_interval(days => day) where slug like 'tests-%';
  update public.home_sections set deleted_at = now() - make_interval(days => day) where slug = 'tests-first';
  perform private.empty_trash();
end
$$;
delete from public.sounds where title = 'Tests rain';
select pg_temp.upkeep_on_day(29);
select is(
  (select array_agg(table_name order by table_name) from admin.trash
    where id::text like '7e57%'),
  '{categories,categories,home_sections,sounds}', 'upkeep keeps the trash for 29 days'
);
select pg_temp.upkeep_on_day(31);
select results_eq(
  $$ select name, named_by from admin.trash where id::text like '7e57%' order by name $$,
  $$ values ('tests-below', '1 home section'), ('tests-top', '1 sub-intention') $$,
  'upkeep deletes the trash after 31 days, except categories that something names'
);
select isnt_empty(
  $$ select from private.former_positions where created_at = '2001-01-01' $$, 'the position of the sound is never reused'
);
select isnt_empty(
  $$ select from admin.unused_files where name = 'tests/rain.mp3' $$, 'the file of a sound that was deleted for good is unused'
);
select is_empty('select from public.favorites where sound_id = ''7e575000-0000-4000-8000-000000000001''', 'its favorites are gone');
update public.home_sections set mode = 'manual', rule_type = null, rule_value = null where slug = 'tests-rule';
select pg_temp.upkeep_on_day(31);
select is_empty($$ select from admin.trash where name = 'tests-below' $$, 'upkeep deletes a category when nothing names it');

-- Rights
select is_empty(
  $$ select role, routine from unnest(array['anon', 'authenticated', 'service_role']) as role,
       unnest(array['admin.delete_for_good(text, uuid)', 'private.delete_from_trash(text, uuid[])']) as routine
     where has_function_privilege(role, routine, 'execute') $$,
  'no role of the API deletes for good'
);

select * from finish();
rollback;

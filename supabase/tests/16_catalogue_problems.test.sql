-- admin.catalogue_problems lists each problem until it is fixed, and no others.
begin;
select plan(35);

create function pg_temp.problems_of(wanted text) returns text[] language sql as $$
  select coalesce(array_agg(problem order by problem), '{}') from admin.catalogue_problems where id = wanted::uuid
$$;

-- Sounds
insert into storage.objects (bucket_id, name, metadata) values
  ('audio', 'tests/a.mp3', '{"mimetype": "audio/mpeg", "size": 4}'),
  ('audio', 'tests/a.txt', '{"mimetype": "audio/mpeg", "size": 4}'),
  ('audio', 'tests/page.mp3', '{"mimetype": "text/html", "size": 4}'),
  ('covers', 'tests/a.jpg', '{"mimetype": "image/jpeg", "size": 4}'),
  ('covers', 'tests/a.bmp', '{"mimetype": "image/png", "size": 4}');
create temporary table example (problem text, wrong text, fix text, id text) on commit drop;
insert into example (problem, wrong, fix) values
  ('sound_without_audio', 'audio_path = null', 'audio_path = ''tests/a.mp3'''),
  ('sound_without_audio', 'audio_path = null', 'is_active = false'),
  ('audio_file_missing', 'audio_path = ''tests/none.mp3''', 'audio_path = ''tests/a.mp3'''),
  ('cover_file_missing', 'cover_image_path = ''tests/none.jpg''', 'cover_image_path = ''tests/a.jpg'''),
  ('audio_file_has_wrong_type', 'audio_path = ''tests/a.txt''', 'audio_path = ''tests/a.mp3'''),
  ('audio_file_has_wrong_type', 'audio_path = ''tests/page.mp3''', 'audio_path = ''tests/a.mp3'''),
  ('cover_file_has_wrong_type', 'cover_image_path = ''tests/a.bmp''', 'cover_image_path = ''tests/a.jpg'''),
  ('sound_without_duration', 'duration_sec = null', 'duration_sec = 12.5');
update example set id = gen_random_uuid();
insert into public.sounds (id, title, audio_path, cover_image_path, duration_sec)
select id::uuid, 'Sound', 'tests/a.mp3', 'tests/a.jpg', 60 from example;
select lives_ok(
  (select string_agg(format('update public.sounds set %s where id = %L', wrong, id), ';') from example), 'wrong values can be entered'
);
select is(pg_temp.problems_of(id), array[problem], problem || ' is listed for ' || wrong) from example;
select is_empty(
  $$ select how_to_mend from admin.catalogue_problems where how_to_mend !~ '^[A-Z].{20,}\.$' $$, 'each problem has its fix in a sentence'
);
select lives_ok(
  (select string_agg(format('update public.sounds set %s where id = %L', fix, id), ';') from example), 'correct values can be entered'
);
select is(pg_temp.problems_of(id), '{}'::text[], problem || ' is fixed by ' || fix) from example;

-- Files
insert into storage.objects (bucket_id, name, metadata) values
  ('audio', 'tests-files/My Song.mp3', '{"mimetype": "audio/mpeg", "size": 4}'),
  ('audio', 'tests-files/song', '{"mimetype": "audio/mpeg", "size": 4}'),
  ('audio', 'tests-files/.emptyFolderPlaceholder', '{"mimetype": "audio/mpeg", "size": 0}'),
  ('covers', 'tests-files/used-later.jpg', '{"mimetype": "image/jpeg", "size": 4}');
select results_eq(
  $$ select concerns from admin.catalogue_problems
     where problem = 'file_name_cannot_be_entered' and concerns like '%tests-files%' order by 1 $$,
  array['file "tests-files/My Song.mp3" in the bucket audio', 'file "tests-files/song" in the bucket audio'],
  'files whose names cannot be entered are listed, except placeholders of folders'
);
update storage.objects set name = 'tests-files/renamed-' || length(name) || '.mp3'
where name in ('tests-files/My Song.mp3', 'tests-files/song');
select is_empty(
  $$ select from admin.catalogue_problems where problem = 'file_name_cannot_be_entered' and concerns like '%tests-files%' $$,
  'a renamed file is not listed'
);
create temporary view unused as
  select bucket || '/' || name as file from admin.unused_files where name like 'tests-files/%';
select set_eq(
  'select file from unused',
  array['audio/tests-files/renamed-23.mp3', 'audio/tests-files/renamed-16.mp3', 'covers/tests-files/used-later.jpg'],
  'admin.unused_files lists files that no sound names'
);
select set_eq(
  $$ select concerns from admin.catalogue_problems where problem = 'file_is_unused' and concerns like '%tests-files%' $$,
  $$ select format('file "%s" in the bucket %s', name, bucket) from admin.unused_files where name like 'tests-files/%' $$,
  'admin.catalogue_problems lists the same unused files'
);
insert into public.sounds (title, is_active, cover_image_path) values ('Draft', false, 'tests-files/used-later.jpg');
select is_empty($$ select from unused where file like 'covers/%' $$, 'a file of an inactive sound is not listed as unused');

-- Categories
insert into public.categories (id, slug, name, is_active) values ('7e575000-0000-4000-8000-000000000001', 'tests-top', 'x', false);
insert into public.categories (id, slug, name, parent_id)
values ('7e575000-0000-4000-8000-000000000002', 'tests-below', 'x', '7e575000-0000-4000-8000-000000000001');
select is(
  pg_temp.problems_of('7e575000-0000-4000-8000-000000000002'),
  array['active_category_under_inactive_parent', 'category_without_sounds'], 'an active category without sounds under an inactive parent has two problems'
);
insert into public.sounds (title, category) values ('x', 'tests-below');
update public.categories set is_active = true where slug = 'tests-top';
select is(pg_temp.problems_of('7e575000-0000-4000-8000-000000000002'), '{}'::text[], 'a category with a sound under an active parent is not listed');
select is(pg_temp.problems_of('7e575000-0000-4000-8000-000000000001'), '{}'::text[], 'a category whose sub-intention has a sound is not listed');

-- Sections
insert into public.sounds (id, title, is_active) values ('7e575000-0000-4000-8000-000000000003', 'Hidden', false);
insert into public.home_sections (id, slug, title, mode, rule_type, rule_value) values
  ('7e575000-0000-4000-8000-000000000004', 'tests-manual', 'x', 'manual', null, null),
  ('7e575000-0000-4000-8000-000000000005', 'tests-rule', 'x', 'rule', 'category', 'tests-top');
insert into public.home_section_sounds
select id, '7e575000-0000-4000-8000-000000000003', 1 from public.home_sections where slug like 'tests-%';
select is(
  pg_temp.problems_of('7e575000-0000-4000-8000-000000000004'), array['section_without_picks'], 'an empty section is listed'
);
select is(
  pg_temp.problems_of('7e575000-0000-4000-8000-000000000005'), array['picks_are_ignored', 'rule_finds_nothing'],
  'a rule section that has picks and finds nothing has two problems'
);
update public.sounds set is_active = true, category = 'tests-top' where id = '7e575000-0000-4000-8000-000000000003';
delete from public.home_section_sounds where section_id = '7e575000-0000-4000-8000-000000000005';
select is(pg_temp.problems_of('7e575000-0000-4000-8000-000000000004'), '{}'::text[], 'a section with a visible pick is not listed');
select is(pg_temp.problems_of('7e575000-0000-4000-8000-000000000005'), '{}'::text[], 'a section whose rule finds a sound is not listed');

-- Premium
update public.sounds set is_premium = true;
select results_eq(
  $$ select concerns, id from admin.catalogue_problems where problem = 'home_page_is_premium' $$, $$ values ('home page', null::uuid) $$,
  'a home page that shows premium sounds alone is listed'
);
insert into public.sounds (id, title, audio_path, duration_sec, is_premium) values
  ('7e575000-0000-4000-8000-000000000006', 'Premium', 'tests/premium.mp3', 60, true),
  ('7e575000-0000-4000-8000-000000000007', 'Free', 'tests/premium.mp3', 60, false);
insert into storage.objects (bucket_id, name, metadata) values
  ('audio', 'tests/premium.mp3', '{"mimetype": "audio/mpeg", "size": 4}'),
  ('covers', 'tests/premium.mp3', '{"mimetype": "audio/mpeg", "size": 4}');
select is(
  pg_temp.problems_of('7e575000-0000-4000-8000-000000000006'), array['premium_file_is_free', 'premium_file_is_public'],
  'a premium sound whose file is public, or belongs to a free sound, is listed'
);
insert into public.home_section_sounds values
  ('7e575000-0000-4000-8000-000000000004', '7e575000-0000-4000-8000-000000000007', 2);
select is_empty(
  $$ select from admin.catalogue_problems where problem = 'home_page_is_premium' $$, 'a home page with a free sound is not listed'
);
update public.sounds set audio_path = 'tests/a.mp3' where id = '7e575000-0000-4000-8000-000000000007';
update storage.objects set bucket_id = 'covers', name = 'tests/another.mp3' where bucket_id = 'covers' and name = 'tests/premium.mp3';
select is(
  pg_temp.problems_of('7e575000-0000-4000-8000-000000000006'), '{}'::text[], 'a premium sound with a separate private file is not listed'
);

select finish();
rollback;

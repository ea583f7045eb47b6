-- An administrator takes changes of the catalogue back, and nothing else changes with them.
begin;
select plan(61);

insert into public.categories (id, slug, name) values
  ('7e57ca00-0000-4000-8000-000000000001', 'tests-calm', 'Calm'), ('7e57ca00-0000-4000-8000-000000000002', 'tests-deep', 'Deep');
insert into public.sounds (id, title, category, audio_path, loudness_lufs, duration_sec, created_at)
select format('7e575000-0000-4000-8000-%s', lpad(n::text, 12, '0'))::uuid, 'Tests ' || n, 'tests-calm', 'tests/a.mp3', -20, 60,
  '2001-01-01'::timestamptz + n * interval '1 day'
from generate_series(1, 20) as n;
insert into public.home_sections (id, slug, title) values ('7e575ec0-0000-4000-8000-000000000001', 'tests-picks', 'Picks');
insert into public.home_section_sounds (section_id, sound_id, position)
select '7e575ec0-0000-4000-8000-000000000001', id, 10 * row_number() over (order by created_at)
from public.sounds where title in ('Tests 1', 'Tests 2', 'Tests 3', 'Tests 4', 'Tests 5');
delete from private.edits;

-- Gives the changes since the last call a name, as if they had been a transaction.
create function pg_temp.name_change(new_name text) returns void language sql as $$
  update private.edits set change = new_name where change = private.current_change()
$$;
create function pg_temp.undo(name text) returns text language sql as $$
  select string_agg(concat_ws(' ', rows, outcome, named), '; ') from admin.undo(name)
$$;
create function pg_temp.title_of(n integer) returns text language sql as $$
  select title from public.sounds where id::text = format('7e575000-0000-4000-8000-%s', lpad(n::text, 12, '0'))
$$;
create function pg_temp.picks() returns text language sql as $$
  select string_agg(right(sound_id::text, 1), '' order by position) from public.home_section_sounds
  where section_id = '7e575ec0-0000-4000-8000-000000000001'
$$;

-- One row
update public.sounds set title = 'Tests B' where title = 'Tests 1';
select pg_temp.name_change('b');
select is(pg_temp.undo('b'), '1 restored', 'an undo tells how many rows it restored');
select is(pg_temp.title_of(1), 'Tests 1', 'an undo restores a title');
select is(pg_temp.undo('b'), '1 restored', 'a row that is as before counts as restored');
select pg_temp.name_change('undo b');
select pg_temp.undo('undo b');
select is(pg_temp.title_of(1), 'Tests B', 'undoing an undo repeats the change');
select pg_temp.name_change('redo b');
update public.sounds set title = 'Tests C' where title = 'Tests B';
select pg_temp.name_change('c');
select is(
  pg_temp.undo('redo b'), '1 changed again: left alone sound "Tests C"', 'an undo names a row that was changed again'
);
select is(pg_temp.title_of(1), 'Tests C', 'an undo leaves a row alone that was changed again');
update public.sounds set bowl_note = 'F3' where title = 'Tests C';
select is(pg_temp.undo('c'), '1 restored', 'a later change of another column does not prevent an undo');
select is(
  (select bowl_note from public.sounds where title = 'Tests B'), 'F3', 'an undo keeps later changes of other columns'
);
update public.sounds set title = 'Tests 1' where title = 'Tests B';
select pg_temp.name_change('back');

-- Many rows
update public.sounds set sort_order = 7, is_premium = true where title like 'Tests %';
select pg_temp.name_change('many');
update public.sounds set sort_order = 8 where title = 'Tests 9';
select pg_temp.name_change('one');
select is(
  pg_temp.undo('many'), '19 restored; 1 changed again: left alone sound "Tests 9"', 'an undo of many rows names those that it leaves alone'
);
select is(
  (select array_agg(distinct (sort_order, is_premium)::text) from public.sounds where title like 'Tests %'),
  '{"(0,f)","(8,t)"}', 'an undo of many rows restores all others'
);
select pg_temp.name_change('undo many');

-- Places of a home section
update public.home_section_sounds set position = 60 - position
where section_id = '7e575ec0-0000-4000-8000-000000000001';
select pg_temp.name_change('reversed');
select is(pg_temp.undo('reversed'), '4 restored', 'the order of a section is restored without a conflict of positions');
select is(pg_temp.picks(), '12345', 'the sounds of a section are in their old order');
select pg_temp.name_change('undo reversed');
delete from public.home_section_sounds where right(sound_id::text, 1) = '3' and section_id = '7e575ec0-0000-4000-8000-000000000001';
select pg_temp.name_change('removed');
select is(pg_temp.undo('removed') || pg_temp.picks(), '1 restored12345', 'a removed place is restored');
select pg_temp.name_change('undo removed');
select is(pg_temp.undo('undo removed') || pg_temp.picks(), '1 restored1245', 'an added place is removed');
select pg_temp.name_change('redo removed');
update public.home_section_sounds set sound_id = '7e575000-0000-4000-8000-000000000006'
where sound_id = '7e575000-0000-4000-8000-000000000005' and section_id = '7e575ec0-0000-4000-8000-000000000001';
select pg_temp.name_change('another sound');
select is(pg_temp.undo('another sound') || pg_temp.picks(), '2 restored1245', 'another sound in a place is taken back');
insert into public.home_section_sounds values
  ('7e575ec0-0000-4000-8000-000000000001', '7e575000-0000-4000-8000-000000000007', 30);
select pg_temp.name_change('taken');
select is(
  pg_temp.undo('removed') || pg_temp.picks(),
  '1 another sound has a position of its section: left alone place of "Tests 3" in "Picks"12745',
  'a removed place whose position is taken is left alone'
);
update public.home_section_sounds set position = position + 100
where section_id = '7e575ec0-0000-4000-8000-000000000001' and right(sound_id::text, 1) in ('1', '2');
select pg_temp.name_change('moved');
insert into public.home_section_sounds values
  ('7e575ec0-0000-4000-8000-000000000001', '7e575000-0000-4000-8000-000000000008', 10);
update public.home_section_sounds set position = 200
where section_id = '7e575ec0-0000-4000-8000-000000000001' and right(sound_id::text, 1) = '2';
select pg_temp.name_change('moved again');
select is(
  pg_temp.undo('moved'),
  '1 another sound has a position of its section: left alone place of "Tests 1" in "Picks"; '
  '1 changed again: left alone place of "Tests 2" in "Picks"',
  'each place of a section that stays as it is has its own reason'
);

-- Additions and deletions
insert into public.sounds (id, title) values ('7e575000-0000-4000-8000-000000000030', 'Tests new');
select pg_temp.name_change('added');
select is(pg_temp.undo('added'), '1 restored', 'an addition is taken back');
select isnt((select deleted_at from public.sounds where title = 'Tests new'), null, 'an added sound goes to the trash');
select pg_temp.name_change('undo added');
select is(pg_temp.undo('undo added'), '1 restored', 'an addition that was taken back is repeated');
select is((select is_active from public.sounds where title = 'Tests new'), true, 'a repeated addition is active again');
update public.sounds set is_active = false where title = 'Tests 2';
select pg_temp.name_change('hidden');
delete from public.sounds where title in ('Tests 2', 'Tests 3');
select pg_temp.name_change('deleted');
set local timezone to 'Asia/Tokyo';
select is(pg_temp.undo('deleted'), '2 restored', 'a deletion is undone, also from another time zone');
select is(
  (select array_agg(format('%s %s', is_active, deleted_at) order by title) from public.sounds where title in ('Tests 2', 'Tests 3')),
  '{"f ","t "}', 'a hidden sound comes back hidden'
);
reset timezone;
select pg_temp.name_change('undo deleted');
delete from public.sounds where title = 'Tests 4';
select pg_temp.name_change('deleted for good');
select admin.delete_for_good('sounds', '7e575000-0000-4000-8000-000000000004');
select pg_temp.name_change('for good');
select is(
  pg_temp.undo('deleted for good'), '1 deleted for good: left alone sound "Tests 4"', 'a sound that is gone for good is named'
);

-- Categories
update public.categories set slug = 'tests-renamed' where slug = 'tests-calm';
update public.sounds set category = 'tests-renamed' where title = 'Tests 1';
insert into public.categories (slug, name) values ('tests-other', 'Other');
select pg_temp.name_change('renamed');
select alike(pg_temp.undo('renamed'), '2% restored', 'a renamed category is restored with its sounds');
select is(
  (select array_agg(distinct category) from public.sounds where title like 'Tests %' and title <> 'Tests new'),
  '{tests-calm}', 'sounds have the old slug of their category again'
);
select pg_temp.name_change('undo renamed');
update public.categories set slug = 'tests-shallow' where slug = 'tests-deep';
select pg_temp.name_change('slug');
insert into public.categories (slug, name) values ('tests-deep', 'Another');
select alike(pg_temp.undo('slug'), '1 left alone: %categories_slug_key% category "tests-shallow"', 'a category whose slug was taken is named');

-- Rows that one change edits more than once
select pg_temp.name_change('before several edits');
update public.sounds set title = 'Tests twice' where title = 'Tests 13';
update public.sounds set title = 'Tests thrice', bowl_note = 'F3' where title = 'Tests twice';
select pg_temp.name_change('twice');
select is(pg_temp.undo('twice') || ' ' || pg_temp.title_of(13), '1 restored Tests 13', 'two edits of a column are undone');
select pg_temp.name_change('undo twice');
select is(pg_temp.undo('twice'), '1 restored', 'a row that was edited twice and is as before counts as restored');
select is(pg_temp.undo('undo twice') || ' ' || pg_temp.title_of(13), '1 restored Tests thrice', 'two edits are repeated');
select pg_temp.name_change('redo twice');
update public.sounds set title = 'Tests twice' where title = 'Tests thrice';
select pg_temp.name_change('to the value between');
select is(
  pg_temp.undo('twice') || ' ' || pg_temp.title_of(13),
  '1 changed again: left alone sound "Tests twice" Tests twice',
  'a later edit to the value between two edits is left alone'
);
update public.sounds set title = 'Tests first' where title = 'Tests 14';
update public.sounds set bowl_note = 'C4' where title = 'Tests first';
select pg_temp.name_change('two columns');
update public.sounds set title = 'Tests later' where title = 'Tests first';
select pg_temp.name_change('later');
select is(
  pg_temp.undo('two columns'), '1 changed again: left alone sound "Tests later"',
  'a row whose second column is as the change left it is still left alone'
);
select is(
  (select bowl_note from public.sounds where title = 'Tests later'), 'C4', 'no column of a row that is left alone is undone'
);
insert into public.sounds (id, title) values ('7e575000-0000-4000-8000-000000000031', 'Tests added');
update public.sounds set title = 'Tests added, then changed' where title = 'Tests added';
select pg_temp.name_change('added, then changed');
update public.sounds set bowl_note = 'G2' where title = 'Tests added, then changed';
select pg_temp.name_change('note');
select is(
  pg_temp.undo('added, then changed'), '1 changed again: left alone sound "Tests added, then changed"',
  'an added and changed row that was changed again is left alone'
);
select pg_temp.undo('note');
select pg_temp.name_change('undo note');
select is(pg_temp.undo('added, then changed'), '1 restored', 'an added and changed row is taken back');
select pg_temp.name_change('undo added, then changed');
select pg_temp.undo('undo added, then changed');
select pg_temp.name_change('redo added, then changed');
select is(pg_temp.title_of(31), 'Tests added, then changed', 'a row that was added and changed is repeated');
update public.sounds set title = 'Tests changed, then deleted' where title = 'Tests 15';
delete from public.sounds where title = 'Tests changed, then deleted';
select pg_temp.name_change('changed, then deleted');
select is(
  pg_temp.undo('changed, then deleted') || ' ' || pg_temp.title_of(15), '1 restored Tests 15',
  'a changed and deleted row is restored'
);
select pg_temp.name_change('undo changed, then deleted');
select pg_temp.undo('undo changed, then deleted');
select results_eq(
  $$ select title, is_active from public.sounds where id = '7e575000-0000-4000-8000-000000000015' $$,
  $$ values ('Tests changed, then deleted', false) $$, 'a row that was changed and deleted is repeated'
);
select pg_temp.name_change('redo changed, then deleted');
insert into public.categories (slug, name) values ('tests-east', 'East'), ('tests-west', 'West');
update public.sounds set category = 'tests-east' where title = 'Tests 16';
select pg_temp.name_change('two slugs');
update public.categories set slug = 'tests-between' where name = 'East';
update public.categories set slug = 'tests-east' where name = 'West';
update public.categories set slug = 'tests-west' where name = 'East';
select pg_temp.name_change('swapped');
select is(pg_temp.undo('swapped'), '3 restored', 'slugs that were swapped by a third one are swapped back');
select is(
  (select format('%s %s', slug, category) from public.categories, public.sounds where name = 'East' and title = 'Tests 16'),
  'tests-east tests-east', 'sounds of swapped categories have their old slugs again'
);
update public.sounds set category = null where title = 'Tests 16';
select pg_temp.name_change('undo swapped');
update public.categories set slug = 'tests-moved' where name = 'East';
update public.categories set name = 'Moved' where name = 'East';
insert into public.sounds (title, category) values ('Tests moved', 'tests-moved');
select pg_temp.name_change('moved east');
insert into public.categories (slug, name) values ('tests-east', 'Another');
select is(
  pg_temp.undo('moved east'),
  '1 restored; 1 left alone: duplicate key value violates unique constraint "categories_slug_key" category "tests-moved"',
  'a category whose old slug was taken is left alone, and other rows of the change are restored'
);
select is(
  (select name from public.categories where slug = 'tests-moved'), 'Moved', 'no edit of a row that a constraint rejects is undone'
);
select pg_temp.name_change('undo moved east');

-- Files and measurements
select pg_temp.name_change('another slug');
update public.sounds set audio_path = 'tests/b.mp3' where title = 'Tests 5';
select pg_temp.name_change('file');
set local role service_role;
update public.sounds set loudness_lufs = -9, duration_sec = 5 where title = 'Tests 5';
update public.sounds set loudness_lufs = -9, duration_sec = 5, sort_order = 3 where title = 'Tests 6';
reset role;
select results_eq(
  $$ select before, changed_by from private.edits where change = private.current_change() $$,
  $$ values ('{"loudness_lufs": -20, "duration_sec": 60, "sort_order": 0}'::jsonb, 'service_role') $$,
  'measurements of the service are no edit, but part of one that changes other columns'
);
select is(pg_temp.undo('file'), '1 restored', 'another file can be undone after it was measured');
select results_eq(
  $$ select audio_path, loudness_lufs, duration_sec from public.sounds where title = 'Tests 5' $$,
  $$ values ('tests/a.mp3', -20::numeric, 60::numeric) $$, 'an undo restores the file with its measurements'
);
select pg_temp.name_change('undo file');
update public.sounds set duration_sec = 61 where title = 'Tests 7';
select isnt_empty(
  $$ select from private.edits where change = private.current_change() $$, 'a measurement that an administrator enters is an edit'
);
select pg_temp.name_change('length');

-- Creation time
select pg_temp.name_change('sorted');
update public.sounds set created_at = '2002-01-01' where title = 'Tests 8';
select pg_temp.name_change('time');
select pg_temp.undo('time');
select is(
  (select created_at from public.sounds where title = 'Tests 8'), '2001-01-09'::timestamptz,
  'a creation time is restored to the millisecond'
);
select pg_temp.name_change('undo time');

-- The list of changes
select results_eq(
  $$ select change, what, edits from admin.recent_edits where change in ('b', 'many', 'deleted', 'removed', 'added', 'for good') $$,
  $$ values ('for good', 'deleted for good sound "Tests 4"; removed place of "a deleted sound" in "Picks"', 2::bigint),
    ('deleted', 'deleted 2 sounds', 2::bigint),
    ('added', 'added sound "Tests new"', 1::bigint),
    ('removed', 'removed place of "Tests 3" in "Picks"', 1::bigint),
    ('many', 'changed is_premium, sort_order of 20 sounds', 20::bigint),
    ('b', 'changed title of sound "Tests B"', 1::bigint) $$,
  'admin.recent_edits says what each change did, newest first'
);
select results_eq(
  $$ select change, what, edits from admin.recent_edits where change in ('twice', 'changed, then deleted', 'added, then changed') $$,
  $$ values ('changed, then deleted', 'deleted sound "Tests changed, then deleted"', 1::bigint),
    ('added, then changed', 'added sound "Tests added, then changed"', 1),
    ('twice', 'changed bowl_note, title of sound "Tests thrice"', 1) $$,
  'admin.recent_edits counts a row that a change edited twice once, by what became of it'
);
select pg_temp.name_change('before the last edits');
insert into public.sounds (title) values ('Tests added, then deleted');
delete from public.sounds where title = 'Tests added, then deleted';
select pg_temp.name_change('added, then deleted');
select is(
  (select what from admin.recent_edits where change = 'added, then deleted'), 'deleted sound "Tests added, then deleted"',
  'admin.recent_edits shows a row that was added and deleted as deleted'
);
update public.sounds set bowl_note = 'A4' where title in ('Tests 17', 'Tests 18');
update public.sounds set bowl_note = null where title in ('Tests 17', 'Tests 18');
select pg_temp.name_change('changed back');
select is(
  (select what from admin.recent_edits where change = 'changed back'), 'changed back 2 sounds',
  'admin.recent_edits says that rows are as before the change'
);
select throws_like(
  $$ select admin.undo('nonsense') $$, 'There is no change "nonsense"%admin.recent_edits.', 'an unknown change is an error'
);

-- Many changes at once
update private.edits set changed_at = now() - interval '1 hour';
select throws_like(
  $$ select admin.undo_since((now() - interval '1 minute')::text) $$, 'Nothing was changed since%', 'a time without changes is an error'
);
select throws_like(
  $$ select admin.undo_since('2026-12-24 18:00 IST') $$, '% is not a moment. %', 'a time with an ambiguous zone is an error'
);
select throws_like(
  format('select admin.undo_since(%L)', now() - make_interval(days => 30, secs => 1)),
  '%is more than 30 days ago, and changes are kept for 30 days. %', 'a time before the changes that are kept is an error'
);
update public.sounds set title = 'Wrong ' || title where title in ('Tests 10', 'Tests 11');
select pg_temp.name_change('wrong');
update public.sounds set title = 'Very ' || title where title = 'Wrong Tests 10';
select pg_temp.name_change('very wrong');
select results_eq(
  $$ select * from admin.undo_since((now() - interval '1 minute')::text) $$, $$ values ('restored', 2::bigint, null::text) $$,
  'changes since a time are undone, newest first'
);
select is(pg_temp.title_of(10) || pg_temp.title_of(11), 'Tests 10Tests 11', 'rows are as they were at that time');

-- Upkeep
update private.edits set changed_at = now() - interval '31 days' where change = 'b';
update private.edits set changed_at = now() - interval '29 days' where change = 'c';
update public.sounds set deleted_at = now() - interval '31 days', is_active = false where title = 'Tests 12';
select pg_temp.name_change('trash');
select private.empty_trash();
select private.forget_edits();
select is_empty($$ select from public.sounds where title = 'Tests 12' $$, 'upkeep deletes the trash');
select is_empty($$ select from private.edits where change = private.current_change() $$, 'what upkeep deletes is no edit');
select results_eq(
  $$ select distinct change from private.edits where change in ('b', 'c') $$, array['c'], 'edits are kept for 30 days'
);

-- Rights
select is_empty(
  $$ select role, name from unnest(array['anon', 'authenticated', 'service_role']) as role,
       unnest(array['admin.undo(text)', 'admin.undo_since(text)', 'private.undo_changes(text[])']) as name
     where has_function_privilege(role, name, 'execute')
     union all select role, 'private.edits' from unnest(array['anon', 'authenticated', 'service_role']) as role
     where has_table_privilege(role, 'private.edits', 'select') $$,
  'no role of the API reads edits or undoes one'
);

select * from finish();
rollback;

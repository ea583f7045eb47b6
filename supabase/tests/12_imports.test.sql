-- Attacks on the state of the import, which contains names of files and decides what the next import may change.
begin;
select plan(24);

insert into auth.users (id, email) values ('b0000000-0000-4000-8000-000000000000', 'mallory@tests.example.com');
insert into public.imported_sounds (sound_id, places, fields)
values ('7e575000-0000-4000-8000-000000000012', '[{"file": "tests/secret plans.wav"}]', '{"title": "Plans"}');
insert into public.imports (source, started_at) values ('7e575000 secret folder', now());

create view pg_temp.attacks as
  select * from (values
    ('imported_sounds', 'select * from public.imported_sounds'),
    ('imported_sounds', $$ insert into public.imported_sounds (sound_id, fields) values (gen_random_uuid(), '{}') $$),
    ('imported_sounds', $$ update public.imported_sounds set fields = '{}' $$),
    ('imported_sounds', 'delete from public.imported_sounds'),
    ('imported_sounds', 'truncate public.imported_sounds'),
    ('imported_files', 'select * from public.imported_files'),
    ('imported_files', $$ insert into public.imported_files (checksum, audio_checksum, facts) values ('mine', 'mine', '{}') $$),
    ('imported_files', 'delete from public.imported_files'),
    ('imports', 'select * from public.imports'),
    ('imports', $$ insert into public.imports (source) values ('mine') $$),
    ('imports', 'update public.imports set sheet = true'),
    ('imports', 'delete from public.imports'),
    ('imports', 'truncate public.imports')
  ) as attack (target, statement);
grant select on pg_temp.attacks to authenticated, service_role;

set local role authenticated;
set local request.jwt.claims to '{"sub": "b0000000-0000-4000-8000-000000000000", "role": "authenticated"}';
select throws_ok(statement, '42501', 'permission denied for table ' || target, 'a user cannot: ' || statement)
from attacks;
select throws_ok(
  $$ select public.validate_sounds('[{"title": "Mine"}]') $$, '42501',
  'permission denied for function validate_sounds', 'a user cannot call validate_sounds'
);

set local role service_role;
select throws_ok(statement, '42501', 'permission denied for table ' || target, 'not even the service can: ' || statement)
from attacks where statement like 'delete%' or statement like 'truncate%';
select results_eq(
  $$ update public.imported_sounds set fields = '{"title": "New"}'
     where sound_id = '7e575000-0000-4000-8000-000000000012' returning (sound_id, places -> 0 ->> 'file')::text $$,
  array['(7e575000-0000-4000-8000-000000000012,"tests/secret plans.wav")'],
  'the service can read and change the state of the import'
);
select results_eq(
  $$ select refused ->> 'index', substring(refused ->> 'message' from 'constraint "(\w+)"') from json_array_elements(
       public.validate_sounds('[{"title": "7e575000 fine", "duration_sec": 1.5, "tags": ["a"]}, {"title": " "},
         {"title": "A", "sort_order": 1.5}, {"title": "B", "tags": [" "]}, {"title": "\u0000"}]')
     ) as refused $$,
  $$ values ('1', 'title_is_trimmed_visible_and_has_1_to_200_characters'), ('2', null),
     ('3', 'tags_are_at_most_50_trimmed_words_of_1_to_100_characters'), ('4', null) $$,
  'validate_sounds applies the constraints of the table and names each rejected row, for any kind of error'
);
select is_empty($$ select from public.sounds where title = '7e575000 fine' $$, 'validate_sounds writes no row');
insert into public.sounds (title) values ('zymurgytests');
update public.imports set started_at = null where source = '7e575000 secret folder';

reset role;
select isnt_empty($$ select from private.vocabulary where word = 'zymurgytests' $$, 'searches know new words after an import');
select results_eq(
  $$ select fields ->> 'title' from public.imported_sounds where sound_id = '7e575000-0000-4000-8000-000000000012' $$,
  array['New'],
  'the attacked state exists'
);

select * from finish();
rollback;

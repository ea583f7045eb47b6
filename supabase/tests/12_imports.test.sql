-- Attacks on what the import remembers: nobody but the service learns the names of an admin's files, or makes the next import
-- take a change of the dashboard for its own.
begin;
select plan(14);

insert into auth.users (id, email) values ('b0000000-0000-4000-8000-000000000000', 'mallory@tests.example.com');
insert into public.imported_sounds values ('7e575000-0000-4000-8000-000000000012', 'tests/secret plans.wav', '{"title": "Plans"}');

create view pg_temp.attacks as
  select * from unnest(array[
    'select * from public.imported_sounds',
    $$ insert into public.imported_sounds values (gen_random_uuid(), 'mine.wav', '{}') $$,
    $$ update public.imported_sounds set fields = '{}' $$,
    'delete from public.imported_sounds',
    'truncate public.imported_sounds'
  ]) as attack;
grant select on pg_temp.attacks to anon, authenticated, service_role;

set local role anon;
select throws_ok(attack, '42501', 'permission denied for table imported_sounds', 'a guest cannot: ' || attack) from attacks;

set local role authenticated;
set local request.jwt.claims to '{"sub": "b0000000-0000-4000-8000-000000000000", "role": "authenticated"}';
select throws_ok(attack, '42501', 'permission denied for table imported_sounds', 'a user cannot: ' || attack) from attacks;

set local role service_role;
select throws_ok(attack, '42501', 'permission denied for table imported_sounds', 'not even the service can: ' || attack)
from attacks where attack like 'delete%' or attack like 'truncate%';
select results_eq(
  $$ update public.imported_sounds set fields = '{"title": "New"}'
     where sound_id = '7e575000-0000-4000-8000-000000000012' returning file $$,
  array['tests/secret plans.wav'],
  'the service finds and changes what it wrote'
);

reset role;
select results_eq(
  $$ select fields ->> 'title' from public.imported_sounds where sound_id = '7e575000-0000-4000-8000-000000000012' $$,
  array['New'],
  'it was there all the time'
);

select * from finish();
rollback;

-- Attacks on favorites: by Mallory on Alice's, and on hidden sounds.
begin;
select plan(17);

insert into auth.users (id, email) values
  ('a0000000-0000-4000-8000-000000000000', 'alice@tests.example.com'),
  ('b0000000-0000-4000-8000-000000000000', 'mallory@tests.example.com');
insert into public.sounds (id, title, is_active) values
  ('7e575000-0000-4000-8000-000000000001', 'Liked', true),
  ('7e575000-0000-4000-8000-000000000002', 'Hidden', false);
insert into public.favorites (user_id, sound_id, created_at) values
  ('a0000000-0000-4000-8000-000000000000', '7e575000-0000-4000-8000-000000000001', '2020-01-01');

set local role authenticated;
set local request.jwt.claims to '{"sub": "b0000000-0000-4000-8000-000000000000", "role": "authenticated"}';
select is_empty('select * from public.favorites', 'another user sees no favorite');
select is(public.list_favorites()::jsonb, '[]', 'another user lists no favorite');
select is_empty('delete from public.favorites returning *', 'another user deletes no favorite');
-- The policy for reading does not apply to a delete that reads no column.
select lives_ok('delete from public.favorites', 'another user deletes no favorite without reading it');
select lives_ok(
  $$ select public.remove_favorite('7e575000-0000-4000-8000-000000000001') $$,
  'another user may remove a sound that is not her favorite'
);
select throws_ok(attack, '42501', 'permission denied for table favorites', 'another user cannot: ' || attack)
from unnest(array[
  $$ insert into public.favorites (user_id, sound_id)
     values ('a0000000-0000-4000-8000-000000000000', '7e575000-0000-4000-8000-000000000001') $$,
  $$ insert into public.favorites (sound_id, created_at)
     values ('7e575000-0000-4000-8000-000000000001', '2999-01-01') $$,
  $$ update public.favorites set user_id = 'b0000000-0000-4000-8000-000000000000' $$,
  $$ update public.favorites set created_at = now() $$,
  $$ insert into public.favorites (sound_id) values ('7e575000-0000-4000-8000-000000000001')
     on conflict (user_id, sound_id) do update set created_at = now() $$,
  'truncate public.favorites'
]) as attack;
select throws_ok(
  format('insert into public.favorites (sound_id) values (%L)', id), '42501',
  'new row violates row-level security policy for table "favorites"', 'a hidden or missing sound cannot be added to favorites: ' || id
)
from unnest(array['7e575000-0000-4000-8000-000000000002', '7e575000-0000-4000-8000-00000000000f']) as id;
select is(
  public.add_favorite('7e575000-0000-4000-8000-000000000002'), false,
  'add_favorite returns false for a hidden sound'
);

set local request.jwt.claims to '{"role": "authenticated"}';
select throws_ok(
  $$ insert into public.favorites (sound_id) values ('7e575000-0000-4000-8000-000000000001') $$,
  '42501', null,
  'a token without a subject adds no favorite'
);

set local request.jwt.claims to '{"sub": "a0000000-0000-4000-8000-000000000000", "role": "authenticated"}';
select results_eq(
  'select sound_id from public.favorites', array['7e575000-0000-4000-8000-000000000001'::uuid],
  'the owner sees her favorite'
);

reset role;
select results_eq(
  $$ select user_id, created_at from public.favorites where sound_id::text like '7e575000-0000-4000-8000-%' $$,
  $$ values ('a0000000-0000-4000-8000-000000000000'::uuid, timestamptz '2020-01-01') $$,
  'the attacked favorite exists unchanged, and there is no other'
);

select * from finish();
rollback;

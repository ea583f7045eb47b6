-- Attacks on the play counter, which only the service may change.
begin;
select plan(18);

insert into auth.users (id, email) values ('b0000000-0000-4000-8000-000000000000', 'mallory@tests.example.com');
insert into public.sounds (id, title, is_active) values
  ('7e575000-0000-4000-8000-000000000001', 'Played', true),
  ('7e575000-0000-4000-8000-000000000002', 'Hidden', false);
insert into public.play_counts (sound_id, plays) values ('7e575000-0000-4000-8000-000000000001', 41);

create view pg_temp.attacks as
  select * from (values
    ('table play_counts',
     $$ insert into public.play_counts (sound_id, plays) values ('7e575000-0000-4000-8000-000000000001', 9) $$),
    ('table play_counts',
     $$ insert into public.play_counts (sound_id, plays) values ('7e575000-0000-4000-8000-000000000001', 9)
        on conflict (sound_id) do update set plays = 9 $$),
    ('table play_counts', 'update public.play_counts set plays = 9'),
    ('table play_counts', 'delete from public.play_counts'),
    ('table play_counts', 'truncate public.play_counts'),
    ('function count_play',
     $$ select public.count_play('7e575000-0000-4000-8000-000000000001', 'b0000000-0000-4000-8000-000000000000') $$),
    ('function count_plays', $$ select public.count_plays('[]', 'b0000000-0000-4000-8000-000000000000') $$),
    ('function count_play',
     $$ select private.count_play('7e575000-0000-4000-8000-000000000001', 'b0000000-0000-4000-8000-000000000000', 'x', true) $$),
    ('function add_to_history',
     $$ select private.add_to_history('b0000000-0000-4000-8000-000000000000', '7e575000-0000-4000-8000-000000000001', 1, now()) $$),
    ('table history',
     $$ insert into public.history values
        ('b0000000-0000-4000-8000-000000000000', '7e575000-0000-4000-8000-000000000001', 9, now()) $$),
    ('table history', 'update public.history set plays = 9'),
    ('function as_api_key',
     $$ select public.as_api_key('x', 'count_play', '{"sound": "7e575000-0000-4000-8000-000000000001"}') $$)
  ) as attack (target, attack);
grant select on pg_temp.attacks to authenticated;

set local role authenticated;
set local request.jwt.claims to '{"sub": "b0000000-0000-4000-8000-000000000000", "role": "authenticated"}';
select throws_ok(attack, '42501', 'permission denied for ' || target, 'a user cannot: ' || attack) from attacks;
-- Privileges depend on the role of the connection, not on the claims of the token.
set local request.jwt.claims to '{"sub": "b0000000-0000-4000-8000-000000000000", "role": "service_role"}';
select throws_ok(
  $$ select public.count_play('7e575000-0000-4000-8000-000000000001', 'b0000000-0000-4000-8000-000000000000') $$,
  '42501', 'permission denied for function count_play',
  'a user cannot count with a token that claims the role service_role'
);

reset role;
select is(
  (select plays from public.play_counts where sound_id = '7e575000-0000-4000-8000-000000000001'), 41::bigint,
  'the attacked count exists unchanged'
);

set local role service_role;
select is(
  public.count_play('7e575000-0000-4000-8000-000000000001', 'b0000000-0000-4000-8000-000000000000')::jsonb,
  '{"id": "7e575000-0000-4000-8000-000000000001", "play_count": 42}',
  'the service counts one play'
);
select is(
  public.count_play(id::uuid, 'b0000000-0000-4000-8000-000000000000')::jsonb, null, 'the service counts no play of a hidden or missing sound: ' || id
) from unnest(array['7e575000-0000-4000-8000-000000000002', '7e575000-0000-4000-8000-00000000000f']) as id;
select throws_ok(
  $$ update public.play_counts set plays = -1 where sound_id = '7e575000-0000-4000-8000-000000000001' $$,
  '23514', null,
  'not even the service can set a negative count'
);

select * from finish();
rollback;

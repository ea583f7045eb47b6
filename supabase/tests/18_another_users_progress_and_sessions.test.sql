-- Attacks on the positions and sessions of another user: Mallory attacks Alice.
begin;
select plan(14);

insert into auth.users (id, email) values
  ('a0000000-0000-4000-8000-000000000000', 'alice@tests.example.com'),
  ('b0000000-0000-4000-8000-000000000000', 'mallory@tests.example.com');
insert into auth.sessions (id, user_id, not_after) values
  ('a0000000-0000-4000-8000-000000000001', 'a0000000-0000-4000-8000-000000000000', null),
  ('b0000000-0000-4000-8000-000000000001', 'b0000000-0000-4000-8000-000000000000', null),
  ('b0000000-0000-4000-8000-000000000002', 'b0000000-0000-4000-8000-000000000000', now() - interval '1 second');
insert into public.sounds (id, title) values
  ('7e575000-0000-4000-8000-000000000001', 'Tests one'), ('7e575000-0000-4000-8000-000000000002', 'Tests two');
insert into public.progress (user_id, sound_id, position_sec, updated_at) values
  ('a0000000-0000-4000-8000-000000000000', '7e575000-0000-4000-8000-000000000001', 5, now()),
  ('a0000000-0000-4000-8000-000000000000', '7e575000-0000-4000-8000-000000000002', null, now());

set local role authenticated;
set local request.jwt.claims to '{"sub": "b0000000-0000-4000-8000-000000000000", "role": "authenticated", "session_id": "b0000000-0000-4000-8000-000000000001"}';
select is_empty('select from public.progress', 'a user sees no position of another');
select throws_ok(attack, '42501', null, 'a user cannot: ' || attack)
from unnest(array[
  $$ insert into public.progress values (auth.uid(), '7e575000-0000-4000-8000-000000000001', 5, now() + interval '1 day') $$,
  'update public.progress set position_sec = 9',
  'delete from public.progress',
  'select private.lock_progress(''{}'')',
  'select private.current_session()',
  'select from auth.sessions'
]) as attack;
select is(
  public.save_progress(jsonb_build_array(jsonb_build_object(
    'sound_id', '7e575000-0000-4000-8000-000000000001', 'position_sec', 9, 'updated_at', now() - interval '29 days'))) ->> 0,
  '{"sound_id" : "7e575000-0000-4000-8000-000000000001", "status" : "saved"}', 'a save does not depend on positions of another user'
);
select public.clear_history();
select is(json_array_length(public.list_sessions()), 1, 'a user sees neither sessions of another nor expired ones');
select is(public.end_sessions('a0000000-0000-4000-8000-000000000001'), false, 'a user cannot end the session of another');
select public.end_sessions();

set local request.jwt.claims to '{"sub": "b0000000-0000-4000-8000-000000000000", "role": "authenticated", "session_id": "a0000000-0000-4000-8000-000000000001"}';
select throws_ok('select public.end_sessions()', 'PT401', 'The session of this token has ended.', 'the session must be of the user');
set local request.jwt.claims to '{"sub": "a0000000-0000-4000-8000-000000000000", "role": "authenticated"}';
select throws_ok('select public.list_sessions()', 'PT401', null, 'a token without a session, as of an API key, lists none');
select results_eq('select position_sec from public.progress', array[5::double precision], 'a user sees no removals');
reset role;
select results_eq(
  'select id from auth.sessions where user_id::text ~ ''^[ab]0000000-0000-4000-8000-0+$'' order by id',
  $$ values ('a0000000-0000-4000-8000-000000000001'::uuid), ('b0000000-0000-4000-8000-000000000001') $$,
  'ending all other sessions ends those of the user, also expired ones'
);

select * from finish();
rollback;

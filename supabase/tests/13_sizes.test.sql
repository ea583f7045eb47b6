-- What a user may send straight to the data API has an end: lists, and texts of any length.
begin;
select plan(9);

select bag_eq(
  $$ select proname || '.' || argument
     from pg_proc, unnest(proargnames[:pronargs], proargtypes::oid[]) as given (argument, type)
     where pronamespace = 'public'::regnamespace and has_function_privilege('authenticated', pg_proc.oid, 'execute')
       and type::regtype not in ('boolean', 'integer', 'uuid', 'timestamptz') $$,
  $$ values ('list_catalogue_changes.filters'), ('list_sound_files.wanted'), ('list_sounds.filters'), ('update_customer.changes') $$,
  'arguments that can be long are exactly the listed ones, which the tests of the data API send megabytes to'
);

insert into auth.users (id, email) values
  ('a0000000-0000-4000-8000-000000000000', 'alice@tests.example.com'),
  ('b0000000-0000-4000-8000-000000000000', 'bob@tests.example.com');
insert into public.categories (slug, name) values (repeat('c', 100), 'The longest slug');
insert into public.sounds (title, category) values (repeat('t', 100), repeat('c', 100));

select is(
  public.list_sounds(jsonb_build_object('search', repeat('t', 101))) #>> '{data,0,title}', repeat('t', 100),
  'a search is cut off at 100 characters'
);
select is(
  public.list_sounds(jsonb_build_object('category', repeat('c', 101))) #>> '{data,0,title}', null,
  'what is longer than a slug names no category'
);

create function pg_temp.files_of_sound_after(others integer) returns bigint language sql as $$
  select json_array_length(public.list_sound_files(jsonb_build_object('ids', array(select gen_random_uuid() from generate_series(1, others))
    || (select id from public.sounds where title = repeat('t', 100)) || array(select gen_random_uuid() from generate_series(1, 100000)))))
$$;
select is(pg_temp.files_of_sound_after(49), 1::bigint, 'of 100,000 ids the first 50 are looked up');
select is(pg_temp.files_of_sound_after(50), 0::bigint, 'of 100,000 ids the 51st is not looked up');

insert into public.sounds (title) select 'Many' from generate_series(1, 5001);
insert into public.favorites (user_id, sound_id)
  select 'a0000000-0000-4000-8000-000000000000', id from public.sounds where title = 'Many' limit 5000;
select throws_ok(
  $$ insert into public.favorites (user_id, sound_id)
     select 'a0000000-0000-4000-8000-000000000000', id from public.sounds where title = repeat('t', 100) $$,
  '23514', 'A user has at most 5,000 favorites.',
  'nobody gives a user one favorite more than 5,000, not even an administrator'
);
select lives_ok(
  $$ insert into public.favorites (user_id, sound_id)
     select 'b0000000-0000-4000-8000-000000000000', id from public.sounds where title = repeat('t', 100) $$,
  'what one user has does not count for another'
);
select lives_ok(
  $$ insert into public.favorites (user_id, sound_id)
     select user_id, sound_id from public.favorites where user_id = 'a0000000-0000-4000-8000-000000000000'
     on conflict do nothing $$,
  'what is a favorite already is not one more'
);

insert into public.history (user_id, sound_id, plays, last_played_at)
  select 'a0000000-0000-4000-8000-000000000000', id, 1, now() from public.sounds where title = 'Many' limit 101;
set local role authenticated;
set local request.jwt.claims to '{"sub": "a0000000-0000-4000-8000-000000000000", "role": "authenticated"}';
select results_eq(
  $$ select json_array_length(public.list_history() -> 'data'), json_array_length(public.list_history(1000) -> 'data') $$,
  'values (50, 100)', 'a page of the history has 50 entries, and 100 at most'
);

select * from finish();
rollback;

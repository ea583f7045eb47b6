-- Limits of lists and texts that users send to the data API without the gateway.
begin;
select plan(6);

select bag_eq(
  $$ select proname || '.' || argument
     from pg_proc, unnest(proargnames[:pronargs], proargtypes::oid[]) as given (argument, type)
     where pronamespace = 'public'::regnamespace and has_function_privilege('authenticated', pg_proc.oid, 'execute')
       and type::regtype not in ('boolean', 'integer', 'uuid', 'timestamptz') $$,
  $$ values ('list_catalogue_changes.filters'), ('list_sound_files.wanted'), ('list_sounds.filters'), ('save_lists.lists'),
    ('save_progress.entries'), ('update_customer.changes') $$,
  'arguments of unlimited length are exactly those that data-api tests send megabytes to'
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
  'a text that is longer than a slug matches no category'
);

create function pg_temp.files_of_sound_after(others integer) returns bigint language sql as $$
  select json_array_length(public.list_sound_files(jsonb_build_object('ids', array(select gen_random_uuid() from generate_series(1, others))
    || (select id from public.sounds where title = repeat('t', 100)) || array(select gen_random_uuid() from generate_series(1, 100000)))))
$$;
select is(pg_temp.files_of_sound_after(49), 1::bigint, 'list_sound_files reads the first 50 of 100,000 ids');
select is(pg_temp.files_of_sound_after(50), 0::bigint, 'list_sound_files ignores the 51st of 100,000 ids');

insert into public.sounds (title) select 'Many' from generate_series(1, 101);
insert into public.history (user_id, sound_id, plays, last_played_at)
  select 'a0000000-0000-4000-8000-000000000000', id, 1, now() from public.sounds where title = 'Many';
set local role authenticated;
set local request.jwt.claims to '{"sub": "a0000000-0000-4000-8000-000000000000", "role": "authenticated"}';
select results_eq(
  $$ select json_array_length(public.list_history() -> 'data'), json_array_length(public.list_history(1000) -> 'data') $$,
  'values (50, 100)', 'a page of the history has 50 entries, and 100 at most'
);

select * from finish();
rollback;

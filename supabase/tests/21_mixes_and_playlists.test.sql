-- Rules of mixes and playlists: Alice saves and removes lists, and Mallory attacks them at the data API.
begin;
select plan(63);

insert into auth.users (id, email) values
  ('a0000000-0000-4000-8000-000000000000', 'alice@tests.example.com'),
  ('b0000000-0000-4000-8000-000000000000', 'mallory@tests.example.com');
insert into public.sounds (id, title)
  select format('7e575000-0000-4000-8000-%s', lpad(n::text, 12, '0'))::uuid, 'Tests ' || n
  from generate_series(1, 201) as n;

-- Lets users call the functions of this test.
alter default privileges grant execute on functions to public;

create function pg_temp.sound(n integer) returns text language sql as $$
  select format('7e575000-0000-4000-8000-%s', lpad(n::text, 12, '0'))
$$;
create function pg_temp.list_id(n integer) returns text language sql as $$
  select format('11570000-0000-4000-8000-%s', lpad(n::text, 12, '0'))
$$;
create function pg_temp.item(n integer, volume jsonb default 'null') returns jsonb language sql as $$
  select jsonb_build_object('sound_id', pg_temp.sound(n), 'volume', volume)
$$;
create function pg_temp.items(number integer) returns jsonb language sql as $$
  select coalesce(jsonb_agg(pg_temp.item(n) order by n), '[]') from generate_series(1, number) as n
$$;
-- Returns a list as a request contains it. Null items remove the list.
create function pg_temp.list(
  items jsonb, version integer default 0, name text default 'Night', is_mix boolean default false, n integer default 1
) returns jsonb language sql as $$
  select jsonb_build_object(
    'id', pg_temp.list_id(n), 'name', name, 'is_mix', is_mix, 'items', items, 'version', version)
$$;
create function pg_temp.save(list jsonb) returns json language sql as $$
  select public.save_lists(jsonb_build_array(list)) -> 0
$$;
create function pg_temp.status(list jsonb) returns text language sql as $$ select pg_temp.save(list) ->> 'status' $$;
create function pg_temp.sounds(list json) returns text language sql as $$
  select coalesce(string_agg(' ' || ltrim(right(item ->> 'sound_id', 12), '0'), ''), '')
  from json_array_elements(list -> 'items') as item
$$;
-- Returns name, version and sounds of a list: "Night 1: 2 1".
create function pg_temp.content(list json) returns text language sql as $$
  select (list ->> 'name') || ' ' || (list ->> 'version') || ':' || pg_temp.sounds(list)
  where json_typeof(list) = 'object'
$$;
create function pg_temp.outcome(list jsonb) returns text language sql as $$
  select concat_ws(' ', result ->> 'status', pg_temp.content(result -> 'list')) from pg_temp.save(list) as result
$$;
create function pg_temp.stored() returns text language sql as $$
  select string_agg(pg_temp.content(list), ', ') from json_array_elements(public.list_lists()) as list
$$;
create function pg_temp.act_as(person text) returns void language sql as $$
  select set_config('request.jwt.claims', json_build_object(
    'sub', person || '0000000-0000-4000-8000-000000000000', 'role', 'authenticated')::text, true)
$$;

set local role authenticated;
select pg_temp.act_as('a');

-- Versions --------------------------------------------------------------------------------------------------------

create temporary table first_save on commit drop as
  select pg_temp.save(pg_temp.list(jsonb_build_array(pg_temp.item(2, '0.4'), pg_temp.item(1)), 0, ' Night ')) as result;
select is(
  (select jsonb_set(result::jsonb, '{list,updated_at}', '"now"') from first_save),
  jsonb_build_object('id', pg_temp.list_id(1), 'status', 'saved', 'list', jsonb_build_object(
    'id', pg_temp.list_id(1), 'name', 'Night', 'is_mix', false, 'version', 1, 'updated_at', 'now',
    'items', (
      select jsonb_agg(jsonb_build_object('sound_id', pg_temp.sound(n), 'volume', volume, 'sounds', jsonb_build_object(
        'id', pg_temp.sound(n), 'title', 'Tests ' || n, 'category', null, 'cover_image_url', null,
        'duration_sec', null, 'cover_placeholder', null, 'is_premium', false)))
      from (values (2, 0.4), (1, null)) as expected (n, volume)))),
  'a new list has version 1, a trimmed name, and its items in their order'
);
reset role;
update public.lists set updated_at = '2026-06-23T09:30:00Z';
set local role authenticated;
select is(
  pg_temp.save(pg_temp.list(jsonb_build_array(pg_temp.item(2, '0.40'), pg_temp.item(1)), 0, ' Night '))
    -> 'list' ->> 'updated_at',
  '2026-06-23T09:30:00.000Z', 'saving the same content again changes nothing'
);
select is(pg_temp.stored(), 'Night 1: 2 1', 'the version stays, too');
select is(
  pg_temp.outcome(pg_temp.list(pg_temp.items(3), 1)), 'saved Night 2: 1 2 3', 'an edit of the present version is saved'
);
select is(pg_temp.status(pg_temp.list(pg_temp.items(3), 1)), 'saved', 'the same content is saved whatever its version');
select is(
  pg_temp.outcome(pg_temp.list(edited.items, edited.version)), 'changed Night 2: 1 2 3', edited.description
) from (values
  (pg_temp.items(1), 1, 'an edit of the version before is not saved, and returns the present list'),
  (pg_temp.items(1), 0, 'nor is a new list with the id of another'),
  (pg_temp.items(1), 3, 'nor an edit of a version that does not exist'),
  (null, 1, 'nor a removal of the version before')
) as edited (items, version, description);

-- Removals --------------------------------------------------------------------------------------------------------

select is(
  pg_temp.save(pg_temp.list(null, 2))::jsonb,
  jsonb_build_object('id', pg_temp.list_id(1), 'status', 'saved', 'list', null), 'a removal is saved'
);
select is(pg_temp.status(late.list), 'deleted', late.description)
from (values
  (pg_temp.list(null, 2), 'a second removal finds the list deleted'),
  (pg_temp.list(pg_temp.items(1), 2), 'an edit of a removed list finds it deleted'),
  (pg_temp.list(pg_temp.items(1)), 'a new list cannot have the id of a removed one'),
  (pg_temp.list(null, n => 9), 'a removal of an unknown list finds it deleted'),
  (pg_temp.list(pg_temp.items(1), n => 9), 'an id that was removed before it arrived stays removed'),
  (pg_temp.list(pg_temp.items(1), 1, n => 8), 'an edit of an unknown list finds it deleted')
) as late (list, description);
select is(pg_temp.stored(), null, 'none of them stores a list');

reset role;
update private.removed_lists
  set removed_at = now() - case id::text when pg_temp.list_id(1) then interval '29.9 days' else interval '30.1 days' end;
select private.upkeep();
select results_eq(
  'select id::text from private.removed_lists', array[pg_temp.list_id(1)], 'removed ids are remembered for 30 days'
);
set local role authenticated;

-- Sounds ----------------------------------------------------------------------------------------------------------

create function pg_temp.previews() returns text language sql as $$
  select string_agg(coalesce(item -> 'sounds' ->> 'title', 'null'), ', ')
  from json_array_elements(public.list_lists() -> 0 -> 'items') as item
$$;
select pg_temp.save(pg_temp.list(pg_temp.items(3), n => 2));
reset role;
update public.sounds set is_active = false where title = 'Tests 1';
delete from public.sounds where title = 'Tests 2';
select private.delete_from_trash('sounds', array(select id from public.sounds where title = 'Tests 2'));
set local role authenticated;
select is(pg_temp.previews(), 'null, Tests 3', 'a hidden sound has no preview, and a deleted one is absent');
select is(
  pg_temp.status(pg_temp.list(pg_temp.items(3), n => 2)), 'saved', 'the content without the deleted sound is the same'
);
select is(pg_temp.stored(), 'Night 1: 1 3', 'neither changes the version');
reset role;
update public.sounds set is_active = true where title = 'Tests 1';
set local role authenticated;
select is(pg_temp.previews(), 'Tests 1, Tests 3', 'a sound that is shown again has its preview');
select pg_temp.save(pg_temp.list(pg_temp.items(4), 1, n => 2));
reset role;
insert into public.sounds (id, title) values (pg_temp.sound(2)::uuid, 'Tests 2');
set local role authenticated;
select is(pg_temp.stored(), 'Night 2: 1 3 4', 'an edit of an old state does not bring a deleted sound back');

-- Limits ----------------------------------------------------------------------------------------------------------

select is(pg_temp.status(allowed.list), 'saved', allowed.description)
from (values
  (pg_temp.list(pg_temp.items(200), n => 3), 'a playlist has up to 200 sounds'),
  (pg_temp.list(pg_temp.items(20), is_mix => true, n => 4), 'a mix has up to 20 sounds'),
  (pg_temp.list('[]', name => repeat('n', 100), n => 5), 'a list may be empty, and its name has up to 100 characters')
) as allowed (list, description);
select throws_ok(
  format('select public.save_lists(jsonb_build_array(%L::jsonb, %L::jsonb))', pg_temp.list('[]', n => 6), wrong.list),
  wrong.error, null, 'rejects ' || wrong.description
) from (values
  (pg_temp.list(pg_temp.items(201), n => 7), '23514', '201 sounds'),
  (pg_temp.list(pg_temp.items(21), is_mix => true, n => 7), '23514', '21 sounds in a mix'),
  (pg_temp.list(pg_temp.items(1) || pg_temp.item(1, '0.5'), n => 7), '23514', 'one sound twice'),
  (pg_temp.list(jsonb_build_array(pg_temp.item(1, '-0.1')), n => 7), '23514', 'a negative volume'),
  (pg_temp.list(jsonb_build_array(pg_temp.item(1, '1.1')), n => 7), '23514', 'a volume above 1'),
  (pg_temp.list(jsonb_build_array(pg_temp.item(1, '"1"')), n => 7), '23514', 'a volume in quotation marks'),
  (pg_temp.list(jsonb_build_array(pg_temp.item(1, '"loud"')), n => 7), '23514', 'a volume in words'),
  (pg_temp.list(jsonb_build_array(pg_temp.item(1) || '{"pan": 1}'), n => 7), '23514', 'an unknown key'),
  (pg_temp.list(jsonb_build_array(pg_temp.item(1) - 'volume'), n => 7), '23514', 'a missing volume'),
  (pg_temp.list('[{"sound_id": "x", "volume": null}]', n => 7), '23514', 'a wrong id'),
  (pg_temp.list('["x"]', n => 7), '23514', 'an item that is no object'),
  (pg_temp.list('{}', n => 7), '23514', 'items that are no array'),
  (pg_temp.list('[]', name => ' ', n => 7), '23514', 'an empty name'),
  (pg_temp.list('[]', name => repeat('n', 101), n => 7), '23514', '101 characters'),
  (pg_temp.list('[]', name => E'a\tb', n => 7), '23514', 'a tab in a name'),
  (pg_temp.list('[]', name => E'a\nb', n => 7), '23514', 'a line end in a name'),
  (pg_temp.list('[]', n => 7) - 'name', '23502', 'no name'),
  (pg_temp.list('[]', n => 7) - 'is_mix', '23514', 'no kind'),
  (pg_temp.list('[]', n => 7) - 'id', '23502', 'no id')
) as wrong (list, error, description);
select throws_ok(
  $$ select public.save_lists((select jsonb_agg(pg_temp.list('[]', n => n)) from generate_series(11, 31) as n)) $$,
  '22023', null, 'a call saves at most 20 lists'
);
select is(json_array_length(public.list_lists()), 4, 'a rejected call saves none of its lists');

reset role;
insert into public.lists (user_id, id, name, is_mix, items)
  select 'a0000000-0000-4000-8000-000000000000', pg_temp.list_id(n)::uuid, 'Night', false, pg_temp.items(24)
  from generate_series(1001, 1196) as n;
set local role authenticated;
select is(pg_temp.outcome(pg_temp.list('[]', n => 10)), 'too_many', 'a user has at most 200 lists');
select is(pg_temp.status(pg_temp.list(pg_temp.items(25), 1, n => 1001)), 'saved', 'one of 200 lists can be edited');
select is(pg_temp.status(pg_temp.list(pg_temp.items(96), 1, n => 1002)), 'saved', 'a user has up to 5,000 items');
select is(
  left(pg_temp.outcome(pg_temp.list(pg_temp.items(26), 2, n => 1001)), 18), 'too_many Night 2: ',
  'one item more is too many, and the response has the present list'
);
reset role;
delete from public.sounds where title = 'Tests 150';
set local role authenticated;
select is(pg_temp.status(pg_temp.list(pg_temp.items(26), 2, n => 1001)), 'too_many', 'the item of a hidden sound counts');
reset role;
select private.delete_from_trash('sounds', array(select id from public.sounds where title = 'Tests 150'));
set local role authenticated;
select is(
  pg_temp.status(pg_temp.list(pg_temp.items(26), 2, n => 1001)), 'saved', 'the item of a deleted sound does not count'
);
select is(pg_temp.status(pg_temp.list(pg_temp.items(27), 3, n => 1001)), 'too_many', 'it makes room for one item alone');
select is(pg_temp.status(pg_temp.list(null, 1, n => 1004)), 'saved', 'a list can be removed then');
select is(pg_temp.status(pg_temp.list('[]', n => 10)), 'saved', 'a removal makes room for a new list');

-- Other users -----------------------------------------------------------------------------------------------------

select pg_temp.act_as('b');
select is_empty('select from public.lists', 'a user sees no list of another');
select is(
  pg_temp.outcome(pg_temp.list('[]', name => 'Own', n => 2)), 'saved Own 1:', 'a list can have the id of one of another user'
);
select is(pg_temp.stored(), 'Own 1:', 'each user gets only their own lists');
select throws_ok(attack, '42501', null, 'a user cannot: ' || attack)
from unnest(array[
  $$ insert into public.lists (user_id, id, name, is_mix, items)
     values (auth.uid(), auth.uid(), 'Night', false, '[]') $$,
  'update public.lists set version = 9',
  'delete from public.lists',
  'select from private.removed_lists'
]) as attack;

select * from finish();
rollback;

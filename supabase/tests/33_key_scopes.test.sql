-- Keys with the scope "read" write nothing. Keys with "catalogue" read only what is the same for all users.
begin;
select plan(15);

-- A new function needs a line: the volatility that it declares decides which keys may call it.
select bag_eq(
  $$ select proname::text, private.needed_scope(proname) from pg_proc
     where pronamespace = 'public'::regnamespace and has_function_privilege('authenticated', oid, 'execute')
       and proname not in ('added_later') $$,
  $$ select name, scope from (values
      ('catalogue', '{get_sound,list_catalogue_changes,list_categories,list_home_sections,list_sound_files,list_sounds}'),
      ('read', '{export_account,get_customer,list_favorites,list_history,list_lists,list_progress,list_sessions}'),
      ('all', '{add_favorite,clear_history,end_sessions,remove_favorite,remove_from_history,save_lists,save_progress,
        touch_last_seen,update_customer}')
    ) as listed (scope, names), unnest(names::text[]) as name $$,
  'every function that a key may call has a scope'
);
select is(private.needed_scope(name), 'all', name || ' needs the scope all') from unnest(array['count_play', 'count_plays']) as name;

insert into auth.users (id, email) values ('a0000000-0000-4000-8000-000000000000', 'alice@tests.example.com');
insert into public.sounds (id, title) values ('7e575000-0000-4000-8000-000000000001', 'Tests shown');
insert into private.api_keys (name, owner_id, key_hash, key_prefix, scope) values
  ('All', 'a0000000-0000-4000-8000-000000000000', repeat('a', 64), 'sk_live_tests_1', 'all'),
  ('Read', 'a0000000-0000-4000-8000-000000000000', repeat('b', 64), 'sk_live_tests_2', 'read'),
  ('Catalogue', 'a0000000-0000-4000-8000-000000000000', repeat('c', 64), 'sk_live_tests_3', 'catalogue');

create function pg_temp.used(prefix text) returns boolean language sql as $$
  select last_used_at is not null from private.api_keys where key_prefix = prefix
$$;
-- Calls a function with a key as the gateway does. Rolls the call back, because otherwise the transaction may stay
-- read-only. Returns SQLSTATE, detail and hint, or "ok" and whether the use was stored.
create function pg_temp.call(key char, operation text, arguments jsonb default '{}') returns text language plpgsql as $$
declare
  outcome text;
  details text;
  hints text;
begin
  begin
    set local role service_role;
    perform public.as_api_key(repeat(key, 64), operation, arguments);
    reset role;
    raise exception using errcode = 'SSOK0', message = 'ok ' || pg_temp.used('sk_live_tests_' || (ascii(key) - 96));
  exception when others then
    get stacked diagnostics outcome = message_text, details = pg_exception_detail, hints = pg_exception_hint;
    return case when sqlstate = 'SSOK0' then outcome else btrim(concat_ws(' ', sqlstate, details, hints)) end;
  end;
end $$;

create temporary table reads (operation text, arguments jsonb) on commit drop;
insert into reads values
  ('get_customer', '{}'), ('list_favorites', '{}'), ('list_progress', '{}'), ('list_lists', '{}'),
  ('list_history', '{"page_size": 1}');
create temporary table catalogue_reads (operation text, arguments jsonb) on commit drop;
insert into catalogue_reads values
  ('list_sounds', '{"filters": "{}"}'), ('get_sound', '{"sound": "7e575000-0000-4000-8000-000000000001"}'),
  ('list_sound_files', '{"wanted": "{\"sound_ids\": []}"}'), ('list_home_sections', '{}'), ('list_categories', '{}'),
  ('list_catalogue_changes', '{"filters": "{}"}');
select is(
  (select array_agg(distinct pg_temp.call('b', operation, arguments)) from (table reads union all table catalogue_reads) as read),
  '{"ok true"}', 'a key with the scope read may read all, and its use is stored'
);
select is(
  (select array_agg(distinct pg_temp.call('c', operation, arguments)) from catalogue_reads), '{"ok true"}',
  'a key with the scope catalogue may make the six reads of the catalogue'
);
select is(
  (select array_agg(distinct pg_temp.call('c', operation, arguments)) from reads), '{"SSKEY catalogue read"}',
  'a key with the scope catalogue reads nothing else'
);
select is(
  (select array_agg(distinct pg_temp.call(key, operation)) from unnest(array['add_favorite', 'count_play', 'save_progress']) as operation),
  array['SSKEY ' || scope || ' all'], 'no write is within the scope ' || scope
) from (values ('b', 'read'), ('c', 'catalogue')) as keys (key, scope);
select is(pg_temp.used('sk_live_tests_2'), false, 'the use of a key is not stored if it is beyond its scope');
select is(
  pg_temp.call('a', 'add_favorite', '{"sound": "7e575000-0000-4000-8000-000000000001"}'), 'ok true', 'a key with the scope all writes'
);

-- Functions that write although they are declared stable
create function public.says_it_reads() returns json language plpgsql stable set search_path = '' as $$
begin
  return to_json(public.add_favorite('7e575000-0000-4000-8000-000000000001'));
end $$;
grant execute on function public.says_it_reads to authenticated;
select is(pg_temp.call('a', 'says_it_reads'), 'ok true', 'a function may write although it declares that it does not');
select is(pg_temp.call(key, 'says_it_reads'), '25006', 'a key with this scope writes nothing through it: ' || scope)
from (values ('b', 'read')) as keys (key, scope);

-- Issuing
create temporary table issued on commit drop as
  select * from admin.create_api_key('Partner', 'alice@tests.example.com')
  union all select * from admin.create_api_key('Site', 'alice@tests.example.com', null, 'catalogue');
select results_eq(
  'select name, scope from admin.api_keys join issued using (key_prefix) order by name',
  $$ values ('Partner', 'all'), ('Site', 'catalogue') $$, 'a key has the scope all unless it is issued with another'
);
select throws_ok(
  format('select admin.create_api_key(%L, %L, null, %L)', 'x', 'alice@tests.example.com', scope), 'P0001',
  format('There is no scope "%s". It is one of: all, read, catalogue.', coalesce(scope, '<NULL>')), 'an unknown scope is an error'
) from (values ('write'), (null)) as given (scope);

select * from finish();
rollback;

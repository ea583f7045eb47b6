-- Data that remains after an account is deleted: Alice's is deleted, Bob's is kept.
begin;
select plan(41);

insert into auth.users (id, email, raw_user_meta_data) values
  ('a0000000-0000-4000-8000-000000000000', 'alice@tests.example.com', '{"full_name": "Alice"}'),
  ('b0000000-0000-4000-8000-000000000000', 'bob@tests.example.com', '{"full_name": "Bob"}');
insert into auth.sessions (id, user_id)
  select gen_random_uuid(), id from auth.users where email like '%@tests.example.com';
insert into auth.identities (id, provider, provider_id, user_id, identity_data)
  select gen_random_uuid(), 'email', id::text, id, jsonb_build_object('sub', id, 'email', email)
  from auth.users where email like '%@tests.example.com';
insert into auth.audit_log_entries (id, payload)
  select gen_random_uuid(), payload.*
  from auth.users as account, lateral (values
    (json_build_object('action', 'login', 'actor_id', account.id, 'actor_username', account.email)),
    (json_build_object(
      'action', 'user_deleted', 'actor_username', 'service_role',
      'traits', json_build_object('user_id', account.id, 'user_email', account.email)))
  ) as payload
  where account.email like '%@tests.example.com';
insert into public.sounds (id, title) values ('7e575000-0000-4000-8000-000000000001', 'Liked by both');
insert into public.favorites (user_id, sound_id)
  select id, '7e575000-0000-4000-8000-000000000001' from auth.users where email like '%@tests.example.com';
select admin.create_api_key('Key of ' || email, email) from auth.users where email like '%@tests.example.com';
update auth.users set banned_until = '2999-01-01' where email like '%@tests.example.com';
update public.customers set is_active = false where email like '%@tests.example.com';
select public.count_play('7e575000-0000-4000-8000-000000000001', id, 'a key')
  from auth.users where email like '%@tests.example.com';
insert into public.progress (user_id, sound_id, position_sec, updated_at)
  select id, '7e575000-0000-4000-8000-000000000001', 5, now() from auth.users where email like '%@tests.example.com';
insert into private.history_clearings (user_id, cleared_at)
  select id, now() from auth.users where email like '%@tests.example.com';
insert into public.lists (user_id, id, name, is_mix, items)
  select id, id, 'Night', true, '[]' from auth.users where email like '%@tests.example.com';
insert into private.removed_lists (user_id, id)
  select id, id from auth.users where email like '%@tests.example.com';

create temporary view traces as
  select 'auth.users' as place, id as account from auth.users
  union all select 'auth.sessions', user_id from auth.sessions
  union all select 'auth.identities', user_id from auth.identities
  union all select 'auth.audit_log_entries',
    coalesce(payload ->> 'actor_id', payload -> 'traits' ->> 'user_id')::uuid from auth.audit_log_entries
  union all select 'public.customers', id from public.customers
  union all select 'public.favorites', user_id from public.favorites
  union all select 'public.history', user_id from public.history
  union all select 'public.progress', user_id from public.progress
  union all select 'private.play_receipts', user_id from private.play_receipts
  union all select 'private.listening_days', user_id from private.listening_days
  union all select 'private.history_clearings', user_id from private.history_clearings
  union all select 'public.lists', user_id from public.lists
  union all select 'private.removed_lists', user_id from private.removed_lists
  union all select 'private.api_keys', owner_id from private.api_keys
  union all select 'private.suspended_bans', customer_id from private.suspended_bans;

update public.customers set is_active = true where email = 'bob@tests.example.com';
insert into auth.sessions (id, user_id) values (gen_random_uuid(), 'b0000000-0000-4000-8000-000000000000');
create temporary table places on commit drop as
  select distinct place from traces where account = 'a0000000-0000-4000-8000-000000000000';
select set_eq(
  'table places',
  array['auth.users', 'auth.identities', 'auth.audit_log_entries', 'public.customers', 'public.favorites',
    'public.history', 'public.progress', 'private.play_receipts', 'private.listening_days', 'private.api_keys',
    'private.history_clearings', 'public.lists', 'private.removed_lists', 'private.suspended_bans'],
  'a deactivated customer has rows everywhere except in sessions, which ended'
);
insert into auth.sessions (id, user_id) values (gen_random_uuid(), 'a0000000-0000-4000-8000-000000000000');

delete from auth.users where id = 'a0000000-0000-4000-8000-000000000000';

select is_empty(
  $$ select place from traces where account = 'a0000000-0000-4000-8000-000000000000' $$,
  'deleting an account removes all of its rows'
);
select set_eq(
  $$ select distinct place from traces where account = 'b0000000-0000-4000-8000-000000000000' $$,
  $$ select place from places where place <> 'private.suspended_bans' union all select 'auth.sessions' $$,
  'another account keeps all of its rows'
);
select is(
  (select plays from public.play_counts where sound_id = '7e575000-0000-4000-8000-000000000001'), 2::bigint,
  'plays of a deleted account stay counted'
);

create temporary table own_data (call text) on commit drop;
insert into own_data
select 'select public.' || name || '()' from unnest(array[
  'get_customer', 'list_favorites', 'list_history', 'list_lists', 'list_progress', 'clear_history', 'export_account'
]) as name
union all select format('select public.%s(%L)', name, '7e575000-0000-4000-8000-000000000001')
from unnest(array['add_favorite', 'remove_favorite', 'remove_from_history']) as name
union all values ($$ select public.update_customer('{"full_name": "Ghost"}') $$),
  ($$ select public.save_progress('[]') $$), ($$ select public.save_lists('[]') $$);
grant select on own_data to authenticated;

select throws_ok(call, 'PT401', 'The account of this token no longer exists.', 'nothing is counted for a deleted account: ' || call)
from unnest(array[
  $$ select public.count_play('7e575000-0000-4000-8000-000000000001', 'a0000000-0000-4000-8000-000000000000') $$,
  $$ select public.count_plays('[]', 'a0000000-0000-4000-8000-000000000000') $$
]) as call;
set local role authenticated;
set local request.jwt.claims to '{"sub": "a0000000-0000-4000-8000-000000000000", "role": "authenticated"}';
select throws_ok(
  call, 'PT401', 'The account of this token no longer exists.', 'a deleted account cannot: ' || call
) from own_data;
select lives_ok('select public.touch_last_seen()', 'touch_last_seen does not fail for a deleted account');
select is_empty('select * from public.customers', 'a deleted account sees no customer');
select lives_ok('select public.list_sounds()', 'a deleted account can list sounds');

-- An account that is not deleted, but has lost its customer record, which a trigger otherwise keeps.
reset role;
alter table public.customers disable trigger customers_keep;
delete from public.customers where id = 'b0000000-0000-4000-8000-000000000000';
alter table public.customers enable trigger customers_keep;
set local role authenticated;
set local request.jwt.claims to '{"sub": "b0000000-0000-4000-8000-000000000000", "role": "authenticated"}';
select is(public.get_customer()::jsonb, null, 'get_customer returns null without a customer record');
select is(public.update_customer('{"full_name": "Bob"}')::jsonb, null, 'update_customer returns null without a customer record');
select is(
  public.list_favorites() -> 0 ->> 'sound_id', '7e575000-0000-4000-8000-000000000001',
  'list_favorites works without a customer record'
);

reset role;
set local request.jwt.claims to ''; -- Auth has none
update auth.users set deleted_at = now() where id = 'b0000000-0000-4000-8000-000000000000';
set local role authenticated;
set local request.jwt.claims to '{"sub": "b0000000-0000-4000-8000-000000000000", "role": "authenticated"}';
select throws_ok(call, 'PT401', null, 'a soft-deleted account cannot: ' || call) from own_data;

-- On a soft delete, Auth replaces addresses by hashes.
reset role;
set local request.jwt.claims to ''; -- Auth has none
create temporary table person (name text, id uuid) on commit drop;
insert into person select name, gen_random_uuid() from unnest(array['active', 'banned', 'inactive']) as name;
insert into auth.users (id, email, raw_user_meta_data, raw_app_meta_data)
select id, name || '@tests.example.com', '{"full_name": "Carol", "avatar_url": "https://a.example/c.jpg"}', '{"provider": "email"}' from person;
update public.customers set phone = '+491701234567', locale = 'de-AT', country = 'AT', marketing_opt_in = true, premium_until = 'infinity', premium_as_of = now(), premium_given_until = 'infinity'
where id in (select id from person);
update auth.users set banned_until = '2999-01-01' where id = (select id from person where name = 'banned');
update public.customers set is_active = false where id = (select id from person where name = 'inactive');
update auth.users
set deleted_at = now(), email = md5(email), phone = md5(email), raw_user_meta_data = '{}', raw_app_meta_data = '{}'
where id in (select id from person);
select results_eq(
  format('select (to_jsonb(customer) - array[''created_at'', ''updated_at'']) from public.customers as customer where id = %L', id),
  array[jsonb_build_object('id', id, 'source', 'email', 'is_active', false, 'is_guest', false, 'marketing_opt_in', false, 'marketing_opt_in_at', null, 'premium_until', null, 'premium_as_of', null, 'premium_given_until', null, 'email', null, 'full_name', null,
    'avatar_url', null, 'phone', null, 'locale', null, 'country', null, 'provider', null, 'last_seen_at', null)],
  'the record of a soft-deleted customer has no personal data: ' || name
) from person;

select * from finish();
rollback;

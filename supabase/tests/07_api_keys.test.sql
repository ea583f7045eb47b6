-- Attacks on API keys: read, create or reactivate keys, or exceed the rights of the owner.
begin;
select plan(54);

insert into auth.users (id, email) values
  ('a0000000-0000-4000-8000-000000000000', 'alice@tests.example.com'),
  ('b0000000-0000-4000-8000-000000000000', 'mallory@tests.example.com'),
  ('c0000000-0000-4000-8000-000000000000', 'banned@tests.example.com'),
  ('d0000000-0000-4000-8000-000000000000', 'deleted@tests.example.com');
insert into public.sounds (id, title, is_active) values
  ('7e575000-0000-4000-8000-000000000001', 'Liked', true), ('7e575000-0000-4000-8000-000000000002', 'Hidden', false);
insert into public.favorites (user_id, sound_id) values
  ('b0000000-0000-4000-8000-000000000000', '7e575000-0000-4000-8000-000000000001');
-- The hash identifies a key, so these tests need no keys.
insert into private.api_keys (name, owner_id, key_hash, key_prefix, expires_at, revoked_at) values
  ('Live', 'a0000000-0000-4000-8000-000000000000', repeat('a', 64), 'sk_live_tests_1', now() + interval '1 hour', null),
  ('Revoked', 'a0000000-0000-4000-8000-000000000000', repeat('b', 64), 'sk_live_tests_2', null, now()),
  ('Expired', 'a0000000-0000-4000-8000-000000000000', repeat('c', 64), 'sk_live_tests_3', now(), null),
  ('Owned by somebody locked out', 'b0000000-0000-4000-8000-000000000000', repeat('d', 64), 'sk_live_tests_4', null, null),
  ('Owned by somebody banned', 'c0000000-0000-4000-8000-000000000000', repeat('1', 64), 'sk_live_tests_5', null, null),
  ('Owned by somebody deleted', 'd0000000-0000-4000-8000-000000000000', repeat('2', 64), 'sk_live_tests_6', null, null);
update public.customers set is_active = false where id = 'b0000000-0000-4000-8000-000000000000';
update auth.users set banned_until = '2999-01-01' where id = 'c0000000-0000-4000-8000-000000000000';
update auth.users set deleted_at = now() where id = 'd0000000-0000-4000-8000-000000000000';
update public.customers set is_active = true where id = 'd0000000-0000-4000-8000-000000000000';

create view pg_temp.attacks as
  select * from (values
    ('table api_keys', 'select key_hash from private.api_keys'),
    ('table api_keys', 'update private.api_keys set revoked_at = null'),
    ('table api_keys', 'delete from private.api_keys'),
    ('table api_keys',
     $$ insert into private.api_keys (name, owner_id, key_hash, key_prefix)
        values ('Mine', 'a0000000-0000-4000-8000-000000000000', repeat('e', 64), 'sk_live_mine') $$),
    ('schema admin', 'select * from admin.api_keys'),
    ('schema admin', $$ select admin.create_api_key('Mine', 'alice@tests.example.com') $$),
    ('schema admin', $$ select admin.revoke_api_key('sk_live_tests_1') $$),
    ('function random_base62', 'select private.random_base62(43)')
  ) as attack (target, attack);
create view pg_temp.uses as
  select * from (values
    ('function live_key', $$ select private.live_key(repeat('a', 64)) $$),
    ('function as_api_key', $$ select public.as_api_key(repeat('a', 64), 'get_customer') $$)
  ) as use (target, attack);
grant select on pg_temp.attacks, pg_temp.uses to authenticated, service_role;

set local role authenticated;
set local request.jwt.claims to '{"sub": "a0000000-0000-4000-8000-000000000000", "role": "authenticated"}';
select throws_ok(attack, '42501', 'permission denied for ' || target, 'the owner of a key cannot: ' || attack)
from (table attacks union all table uses) as attacks;

set local role service_role;
select throws_ok(attack, '42501', 'permission denied for ' || target, 'the service cannot: ' || attack) from attacks;
select throws_ok(
  format('select public.as_api_key(%L, %L)', hash, 'get_customer'), 'PT401', null, 'the service acts for no key that is ' || state
)
from (values
  (repeat('b', 64), 'revoked'), (repeat('c', 64), 'expired'), (repeat('d', 64), 'of an owner who is locked out'),
  (repeat('1', 64), 'of an owner who is banned'), (repeat('2', 64), 'of an owner who was deleted'),
  (repeat('f', 64), 'unknown'), ('', 'empty')
) as refused (hash, state);

select throws_ok(
  format('select public.as_api_key(repeat(''a'', 64), %L, %L)', operation, arguments), code, message, 'a live key cannot: ' || operation || arguments
)
from (values
  ('doctor_report', '{}', '42501', 'permission denied for function doctor_report'),
  ('as_api_key', '{"key_hash": "x", "operation": "get_customer"}', '42501', 'permission denied for function as_api_key'),
  ('live_key', '{"hash": "x"}', '22023', null),
  ('pg_sleep', '{}', '22023', null),
  ('get_customer(); select 1 from public.get_customer', '{}', '22023', null),
  ('get_customer', '{"customer": 1}', '22023', null),
  ('get_sound', '{"sound => null); select (1": 1}', '22023', null),
  ('get_sound', '{"sound": "null); select (1"}', '22P02', null)
) as call (operation, arguments, code, message);
select is(
  public.as_api_key(repeat('a', 64), 'get_customer') ->> 'email', 'alice@tests.example.com', 'a live key acts as its owner'
);
-- The transaction now has the role of the owner.
select is(current_user::text, 'authenticated', 'a live key has the role of its owner, not that of the service');
select is_empty('select * from public.favorites', 'a live key does not see favorites of others');
select is_empty($$ select * from public.sounds where title = 'Hidden' $$, 'a live key does not see hidden sounds');

reset role;
select results_eq(
  $$ select name, revoked_at is not null, last_used_at is not null from private.api_keys
     where key_prefix like 'sk_live_tests_%' order by key_prefix $$,
  $$ values ('Live', false, true), ('Revoked', true, false), ('Expired', false, false),
     ('Owned by somebody locked out', false, false), ('Owned by somebody banned', false, false),
     ('Owned by somebody deleted', false, false) $$,
  'the attacked keys exist unchanged, and one was used'
);
select throws_ok(
  $$ update private.api_keys set revoked_at = null where key_prefix = 'sk_live_tests_2' $$,
  '23514', null,
  'not even an administrator can reactivate a revoked key'
);

-- Time of the last use, and state
create function pg_temp.use_after(ago interval) returns boolean language plpgsql as $$
begin
  update private.api_keys set last_used_at = now() - ago where key_prefix = 'sk_live_tests_1';
  perform public.as_api_key(repeat('a', 64), 'get_customer');
  reset role;
  return (select last_used_at = now() from private.api_keys where key_prefix = 'sk_live_tests_1');
end $$;
select is(pg_temp.use_after('50 seconds'), false, 'the use of a key is recorded at most once a minute');
select is(pg_temp.use_after('70 seconds'), true, 'the use of a key is recorded again after a minute');
select results_eq(
  $$ select state from admin.api_keys where key_prefix like 'sk_live_tests_%' order by key_prefix $$,
  array['live', 'revoked', 'expired', 'owner deactivated', 'owner banned', 'owner deleted'],
  'admin.api_keys shows why a key is not live'
);
update auth.users set banned_until = '2020-01-01' where id = 'c0000000-0000-4000-8000-000000000000';
select is(
  public.as_api_key(repeat('1', 64), 'get_customer') ->> 'email', 'banned@tests.example.com', 'a key is live again when the ban of its owner has expired'
);
reset role;
update auth.users set banned_until = null where id = 'c0000000-0000-4000-8000-000000000000';
select is((select state from admin.api_keys where key_prefix = 'sk_live_tests_5'), 'live', 'a key is live again when the ban of its owner is lifted');

-- Issuing keys
create temporary table issued on commit drop as select * from admin.create_api_key('Partner', 'ALICE@tests.example.com');
select matches((select api_key from issued), '^sk_live_[0-9A-Za-z]{49}$', 'a key has the documented form');
select results_eq(
  $$ select stored.owner_id, stored.key_prefix, strpos(stored::text, substr(api_key, 17)) from private.api_keys as stored, issued
     where stored.key_hash = encode(sha256(convert_to(api_key, 'UTF8')), 'hex') $$,
  $$ select 'a0000000-0000-4000-8000-000000000000'::uuid, left(api_key, 16), 0 from issued $$,
  'a key is stored as its hash and its first 16 characters'
);
select throws_like(
  format('select admin.create_api_key(%L, %L, %L)', 'x', 'alice@tests.example.com', moment),
  '%Give a moment in the future, or none.', 'a key cannot expire in the past: ' || moment
) from (values ('2020-01-01'), ('now')) as given (moment);
select throws_like(
  $$ select admin.create_api_key('x', 'nobody@tests.example.com') $$,
  '0 customers have the e-mail address%must have an account first%', 'a key cannot be issued without an account'
);
select throws_like(
  $$ select admin.create_api_key(' <name>', 'alice@tests.example.com') $$, 'The name is "<name>". Replace it%',
  'a key cannot have the placeholder of the snippet as its name'
);
select throws_like($$ select admin.revoke_api_key('sk_live_') $$, 'No key begins with%', 'an unknown key cannot be revoked');

-- Reads with a key whose last_used_at is due for an update. Comes last, because a transaction cannot become writable
-- again.
update private.api_keys set last_used_at = null where key_prefix = 'sk_live_tests_1';
create function pg_temp.read_with_key(operation text) returns void language plpgsql as $$
begin
  set local role service_role;
  perform public.as_api_key(repeat('a', 64), operation);
  reset role;
end $$;
set local transaction_read_only = on;
select lives_ok(
  format('select pg_temp.read_with_key(%L)', operation), 'a key reads from a read-only database: ' || operation
) from unnest(array['get_customer', 'list_sounds', 'list_favorites']) as operation;

select * from finish();
rollback;

-- Attacks on the schemas admin and private.
begin;
select plan(38);

insert into auth.users (id, email) values ('b0000000-0000-4000-8000-000000000000', 'mallory@tests.example.com');
insert into private.suspended_bans (customer_id, banned_until) values
  ('b0000000-0000-4000-8000-000000000000', '2999-01-01');

create view pg_temp.attacks as
  select * from (values
    ('schema admin', $$ select * from admin.create_api_key('Mine', 'mallory@tests.example.com') $$),
    ('schema admin', $$ select * from admin.revoke_api_key('sk_live_') $$),
    ('schema admin', 'select * from admin.api_keys'),
    ('schema admin', 'select * from admin.catalogue_problems'),
    ('schema admin', 'select * from admin.home_explained'),
    ('schema admin', 'select * from admin.plays_by_day'),
    ('schema admin', $$ select * from admin.fill_section('start-here') $$),
    ('table deleted_accounts', 'select * from private.deleted_accounts'),
    ('table plays_by_day', 'select * from private.plays_by_day'),
    ('table listening_days', 'select * from private.listening_days'),
    ('schema admin', 'create function admin.mine() returns integer language sql as $f$ select 1 $f$'),
    ('schema private', 'create function private.mine() returns integer language sql as $f$ select 1 $f$'),
    ('schema public', 'create function public.mine() returns integer language sql as $f$ select 1 $f$'),
    ('schema public', 'create table public.mine (id integer)'),
    ('table suspended_bans', 'select * from private.suspended_bans'),
    ('table suspended_bans', 'delete from private.suspended_bans'),
    ('table former_positions', 'delete from private.former_positions'),
    ('function customer_of', 'select private.customer_of(null)')
  ) as attack (target, attack);
grant select on pg_temp.attacks to authenticated, service_role;

set local role authenticated;
set local request.jwt.claims to '{"sub": "b0000000-0000-4000-8000-000000000000", "role": "authenticated"}';
select throws_ok(attack, '42501', 'permission denied for ' || target, 'a user cannot: ' || attack) from attacks;
select throws_ok(
  'update auth.users set banned_until = null', '42501', 'permission denied for table users', 'a user cannot lift bans'
);

set local role service_role;
select throws_ok(attack, '42501', 'permission denied for ' || target, 'the service cannot: ' || attack) from attacks;

reset role;
select isnt_empty(
  $$ select from private.suspended_bans where customer_id = 'b0000000-0000-4000-8000-000000000000' $$,
  'the attacked ban exists'
);

select * from finish();
rollback;

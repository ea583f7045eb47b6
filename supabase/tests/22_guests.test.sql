-- Guests are rejected unless they are allowed, cannot become users at Auth, and are deleted when they are idle.
begin;
select plan(20);

-- Adds a guest as Auth does, and sets the time of the last visit.
create function pg_temp.add_guest(id uuid, seen timestamptz default now()) returns void language sql as $$
  insert into auth.users (id, is_anonymous, created_at) values (id, true, '2020-01-01');
  update public.customers set last_seen_at = seen where customers.id = add_guest.id
$$;

delete from private.guests_allowed;
select throws_ok(
  $$ select pg_temp.add_guest('a0000000-0000-4000-8000-000000000000') $$,
  '0A000', null, 'without the row, the database refuses a guest that Auth would accept'
);
select is(public.get_app_settings() ->> 'guests', 'false', 'the settings for apps tell that guests are refused');
insert into private.guests_allowed default values;
select throws_ok(
  'insert into private.guests_allowed default values', '23505', null, 'there is one row that allows guests'
);
select is(public.get_app_settings() ->> 'guests', 'true', 'the settings for apps tell that guests are allowed');
select pg_temp.add_guest('a0000000-0000-4000-8000-000000000000');
select results_eq(
  $$ select is_guest, source, email from public.customers where id = 'a0000000-0000-4000-8000-000000000000' $$,
  $$ values (true, null::text, null::text) $$, 'the customer record tells that it is of a guest'
);
select throws_ok(
  $$ update public.customers set is_guest = false where id = 'a0000000-0000-4000-8000-000000000000' $$,
  '23514', null, 'an administrator cannot make a guest a user'
);

-- Changes that Auth writes if a guest requests an address, a password or an identity.
select throws_ok(
  format('update auth.users set %s where id = %L', change, 'a0000000-0000-4000-8000-000000000000'),
  '0A000', null, 'Auth cannot give a guest: ' || change
)
from unnest(array[
  $$email = 'guest@tests.example.com'$$,
  $$email = 'guest@tests.example.com', email_confirmed_at = now(), is_anonymous = false$$,
  $$email_change = 'guest@tests.example.com'$$,
  $$phone = '491701234567'$$,
  $$encrypted_password = 'a hash'$$,
  'is_anonymous = false'
]) as change;
select throws_ok(
  format(
    $$ insert into auth.identities (id, provider, provider_id, user_id, identity_data)
       values (gen_random_uuid(), %L, 'x', 'a0000000-0000-4000-8000-000000000000',
         '{"sub": "x", "email": "g@tests.example.com", "email_verified": true}') $$, provider),
  '0A000', null, 'Auth cannot give a guest an identity of ' || provider
) from unnest(array['email', 'google']) as provider;
select lives_ok(
  $$ update auth.users set last_sign_in_at = now() where id = 'a0000000-0000-4000-8000-000000000000' $$,
  'Auth can update the other columns of a guest'
);

-- Statistics
insert into auth.users (id, email, created_at) values
  ('b0000000-0000-4000-8000-000000000000', 'idle@tests.example.com', '2020-01-01');
set local role authenticated;
set local request.jwt.claims to '{"sub": "a0000000-0000-4000-8000-000000000000", "role": "authenticated"}';
update public.customers set locale = 'de' where id = 'a0000000-0000-4000-8000-000000000000';
reset role;
set local request.jwt.claims to '';
select results_eq(
  $$ select sign_ups, guests from admin.accounts_by_day where day = '2020-01-01' $$,
  $$ values (1::bigint, 1::bigint) $$, 'statistics tell guests from sign-ups'
);

-- Upkeep
select pg_temp.add_guest('c0000000-0000-4000-8000-000000000001', now() - interval '91 days');
select pg_temp.add_guest('c0000000-0000-4000-8000-000000000002', null);
select pg_temp.add_guest('c0000000-0000-4000-8000-000000000003', now() - interval '89 days');
select pg_temp.add_guest('c0000000-0000-4000-8000-000000000004', now() - interval '91 days');
select pg_temp.add_guest('c0000000-0000-4000-8000-000000000005', now() - interval '91 days');
update public.customers set premium_until = now() + interval '1 day'
  where id = 'c0000000-0000-4000-8000-000000000004';
update public.customers set premium_given_until = now() - interval '1 day'
  where id = 'c0000000-0000-4000-8000-000000000005';
update public.customers set last_seen_at = '2020-01-02' where email = 'idle@tests.example.com';
select private.delete_idle_guests();
select results_eq(
  $$ select id from auth.users where id::text like 'c0000000-0000-4000-8000-%' order by id $$,
  $$ values ('c0000000-0000-4000-8000-000000000003'::uuid), ('c0000000-0000-4000-8000-000000000004') $$,
  'guests who were idle for 90 days are deleted, unless they have premium'
);
select isnt_empty(
  $$ select from auth.users where email = 'idle@tests.example.com' $$, 'idle users are kept'
);
select is(
  (select count(*) from private.deleted_accounts where is_guest and signed_up_on = '2020-01-01'), 3::bigint,
  'deleted guests are counted as guests'
);
insert into auth.users (id, is_anonymous, created_at)
  select gen_random_uuid(), true, '2019-01-01' from generate_series(1, 1001);
select private.delete_idle_guests();
select is(
  (select count(*) from public.customers where created_at = '2019-01-01'), 1::bigint,
  'one run deletes at most 1,000 guests'
);

select * from finish();
rollback;

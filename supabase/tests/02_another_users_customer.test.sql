-- Attacks on customer records: by Mallory on Alice's, and by Alice on fields that she must not write.
begin;
select plan(37);

insert into auth.users (id, email, raw_user_meta_data) values
  ('a0000000-0000-4000-8000-000000000000', 'alice@tests.example.com', '{"full_name": "Alice"}'),
  ('b0000000-0000-4000-8000-000000000000', 'mallory@tests.example.com', '{"full_name": "Mallory"}');

set local role authenticated;
set local request.jwt.claims to '{"sub": "b0000000-0000-4000-8000-000000000000", "role": "authenticated"}';
select results_eq(
  'select full_name from public.customers', array['Mallory'],
  'another user sees only herself'
);
select is_empty(
  $$ update public.customers set full_name = 'Mine' where id = 'a0000000-0000-4000-8000-000000000000' returning id $$,
  'another user changes no row of the customer'
);
select is(
  public.update_customer('{"id": "a0000000-0000-4000-8000-000000000000", "phone": "+15550100"}') ->> 'email',
  'mallory@tests.example.com',
  'another user who names the customer''s id changes her own record'
);
select is(
  public.get_customer() ->> 'id', 'b0000000-0000-4000-8000-000000000000',
  'another user gets her own record'
);
select is(public.touch_last_seen(), true, 'touch_last_seen records another user');
reset role;
update public.customers set last_seen_at = now() - interval '14 minutes' where full_name = 'Mallory';
set local role authenticated;
select is(public.touch_last_seen(), false, 'touch_last_seen records nothing after 14 minutes');
reset role;
update public.customers set last_seen_at = now() - interval '16 minutes' where full_name = 'Mallory';
set local role authenticated;
select is(public.touch_last_seen(), true, 'touch_last_seen records another user again after 16 minutes');

set local request.jwt.claims to '{"role": "authenticated"}';
select is_empty('select * from public.customers', 'a token without a subject sees no customer');
select throws_ok('select public.get_customer()', 'PT401', null, 'a token without a subject has no account');

set local request.jwt.claims to '{"sub": "a0000000-0000-4000-8000-000000000000", "role": "authenticated"}';
select throws_ok(
  format('update public.customers set %I = %I', name, name), '42501', 'permission denied for table customers',
  'a customer cannot write ' || name
)
from unnest(array[
  'id', 'email', 'provider', 'source', 'is_active', 'last_seen_at', 'created_at', 'updated_at', 'marketing_opt_in_at'
]) as name;
select throws_ok(attack, '42501', 'permission denied for table ' || target, 'a customer cannot: ' || attack)
from (values
  ('insert into public.customers (id) values (gen_random_uuid())', 'customers'), ('delete from public.customers', 'customers'),
  ('select * from private.suspended_bans', 'suspended_bans'), ('select * from auth.users', 'users')
) as attempt (attack, target);
select throws_ok(
  format('select public.update_customer(%L)', changes), '23514', null, 'a customer cannot write ' || left(changes::text, 60)
)
from (values
  (jsonb_build_object('full_name', repeat('x', 201))), ('{"full_name": "\u200b"}'), ('{"full_name": "\ufeff\u2060 \u200d"}'),
  ('{"country": "gb"}'), ('{"phone": "0123 456"}'), ('{"locale": "not a locale"}'), ('{"avatar_url": "http://a.example"}')
) as refused (changes);
select is(
  public.update_customer(jsonb_build_object('full_name', name)) ->> 'full_name', name, 'a customer writes the name ' || name
)
from (values (U&'\200E\0646\0648\0631\200E'), (U&'\+01F469\200D\+01F680'), ('Alice')) as allowed (name);
select is(
  public.update_customer('{"is_active": false, "email": "x@tests.example.com", "provider": "x", "source": "apple"}')::jsonb
    - array['updated_at', 'created_at'],
  public.get_customer()::jsonb - array['updated_at', 'created_at'],
  'update_customer ignores fields that a customer must not change'
);
select lives_ok($$ update public.customers set country = 'DE' $$, 'a customer can write her own fields');

reset role;
select results_eq(
  $$ select email, full_name, phone, country, is_active, last_seen_at is null from public.customers
     where id = 'a0000000-0000-4000-8000-000000000000' $$,
  $$ values ('alice@tests.example.com', 'Alice', null, 'DE', true, true) $$,
  'the attacked record exists and has only its owner''s changes'
);
select results_eq(
  $$ select phone, last_seen_at is null from public.customers where id = 'b0000000-0000-4000-8000-000000000000' $$,
  $$ values ('+15550100', false) $$,
  'the changes by the other user are in her own record'
);
select is(
  (select count(*) from public.customers where country = 'DE' and email like '%@tests.example.com'), 1::bigint,
  'an update without a condition changed one row'
);

select * from finish();
rollback;

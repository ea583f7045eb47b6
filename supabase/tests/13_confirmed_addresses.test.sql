-- What is left of an account that somebody made with an address, once the address is confirmed.
begin;
select plan(12);

-- Made earlier: the note of new accounts is gone with the transaction that made them.
insert into auth.users (id, email, encrypted_password, raw_user_meta_data, raw_app_meta_data) values
  ('a0000000-0000-4000-8000-000000000000', 'alice@tests.example.com', 'hash of a stranger',
    '{"full_name": "Mallory", "avatar_url": "https://a.example/mallory.jpg"}', '{"provider": "email"}'),
  ('b0000000-0000-4000-8000-000000000000', 'bob@tests.example.com', 'hash of a stranger',
    '{"full_name": "Mallory"}', '{"provider": "email"}');
insert into auth.sessions (id, user_id)
  select gen_random_uuid(), id from auth.users where email like '%@tests.example.com';
insert into auth.identities (id, provider, provider_id, user_id, identity_data) values
  (gen_random_uuid(), 'email', 'a', 'a0000000-0000-4000-8000-000000000000', '{"email_verified": false}'),
  (gen_random_uuid(), 'google', 'a', 'a0000000-0000-4000-8000-000000000000', '{"email_verified": false}'),
  (gen_random_uuid(), 'google', 'b', 'b0000000-0000-4000-8000-000000000000', '{"email_verified": true}');
select set_config('sounds_service.new_accounts', '', true);

update auth.users set email_confirmed_at = now() where id = 'a0000000-0000-4000-8000-000000000000';
select is(
  (select encrypted_password::text from auth.users where id = 'a0000000-0000-4000-8000-000000000000'), '',
  'a confirmed address has no password that was chosen before'
);
select is_empty(
  $$ select from auth.sessions where user_id = 'a0000000-0000-4000-8000-000000000000' $$,
  'nor a session that was opened before'
);
select results_eq(
  $$ select provider::text from auth.identities where user_id = 'a0000000-0000-4000-8000-000000000000' $$,
  array['email'],
  'nor a sign-in with a provider that does not vouch for the address'
);
select results_eq(
  $$ select full_name, avatar_url from public.customers where id = 'a0000000-0000-4000-8000-000000000000' $$,
  $$ values (null::text, null::text) $$,
  'nor a name and picture that were given before'
);
update auth.users
  set raw_user_meta_data = '{"full_name": "Mallory", "email_verified": true}', updated_at = now()
  where id = 'a0000000-0000-4000-8000-000000000000';
select is(
  (select full_name from public.customers where id = 'a0000000-0000-4000-8000-000000000000'), null,
  'and gets none when Auth writes its metadata once more'
);

update auth.users
  set encrypted_password = 'hash of the owner' where id = 'a0000000-0000-4000-8000-000000000000';
update public.customers set full_name = 'Alice' where id = 'a0000000-0000-4000-8000-000000000000';
update auth.users set email_confirmed_at = now() + interval '1 s' where id = 'a0000000-0000-4000-8000-000000000000';
select results_eq(
  $$ select account.encrypted_password::text, customer.full_name
     from auth.users as account join public.customers as customer using (id)
     where id = 'a0000000-0000-4000-8000-000000000000' $$,
  $$ values ('hash of the owner', 'Alice') $$,
  'what the owner chooses afterwards stays, also when the address is confirmed again'
);

update auth.users
  set email_confirmed_at = now(), raw_user_meta_data = '{"full_name": "Bob"}', raw_app_meta_data = '{"provider": "google"}'
  where id = 'b0000000-0000-4000-8000-000000000000';
select results_eq(
  $$ select full_name, source from public.customers where id = 'b0000000-0000-4000-8000-000000000000' $$,
  $$ values ('Bob', 'google') $$,
  'a provider that vouches for the address brings its name'
);
select results_eq(
  $$ select provider::text from auth.identities where user_id = 'b0000000-0000-4000-8000-000000000000' $$,
  array['google'],
  'and stays a way to sign in'
);
select is(
  (select encrypted_password::text from auth.users where id = 'b0000000-0000-4000-8000-000000000000'), '',
  'unlike the password'
);

-- Made and confirmed in one transaction, several at a time.
insert into auth.users (id, email, encrypted_password, raw_user_meta_data, raw_app_meta_data) values
  ('c0000000-0000-4000-8000-000000000000', 'carol@tests.example.com', 'hash of Carol', '{"full_name": "Carol"}', '{}'),
  ('d0000000-0000-4000-8000-000000000000', 'dave@tests.example.com', 'hash of Dave', '{"full_name": "Dave"}', '{}');
update auth.users
  set email_confirmed_at = now(), raw_app_meta_data = '{"provider": "email"}'
  where email in ('carol@tests.example.com', 'dave@tests.example.com');
select results_eq(
  $$ select account.encrypted_password::text, customer.full_name, customer.source
     from auth.users as account join public.customers as customer using (id)
     where account.email in ('carol@tests.example.com', 'dave@tests.example.com') order by 1 $$,
  $$ values ('hash of Carol', 'Carol', 'email'), ('hash of Dave', 'Dave', 'email') $$,
  'an account that is confirmed in the transaction that made it keeps its password and name'
);

insert into auth.users (id, email, encrypted_password, email_confirmed_at) values
  ('e0000000-0000-4000-8000-000000000000', 'eve@tests.example.com', 'hash of Eve', now());
select is(
  (select encrypted_password::text from auth.users where id = 'e0000000-0000-4000-8000-000000000000'), 'hash of Eve',
  'an account that is made confirmed keeps its password'
);
select is(
  private.is_new_account('e0000000-0000-4000-8000-000000000000'), false,
  'and need not be noted'
);

select * from finish();
rollback;

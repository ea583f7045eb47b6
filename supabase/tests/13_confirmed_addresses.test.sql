-- Removal of data from the sign-up of another person, when the owner of the address confirms it.
begin;
select plan(7);

-- Makes accounts and then clears the setting that lists new ones, so that they count as made earlier.
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
select results_eq(
  $$ select encrypted_password::text, full_name, avatar_url, (select count(*) from auth.sessions where user_id = account.id),
       array(select provider::text from auth.identities where user_id = account.id)
     from auth.users as account join public.customers using (id) where id = 'a0000000-0000-4000-8000-000000000000' $$,
  $$ values ('', null::text, null::text, 0::bigint, array['email']) $$,
  'confirming an address removes the earlier password, name, picture, sessions and unverified identities'
);
update auth.users
  set raw_user_meta_data = '{"full_name": "Mallory", "email_verified": true}', updated_at = now()
  where id = 'a0000000-0000-4000-8000-000000000000';
select is(
  (select full_name from public.customers where id = 'a0000000-0000-4000-8000-000000000000'), null,
  'a later update of the metadata does not restore the name'
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
  'the password and name of the owner survive another confirmation'
);

update auth.users
  set email_confirmed_at = now(), raw_user_meta_data = '{"full_name": "Bob"}', raw_app_meta_data = '{"provider": "google"}'
  where id = 'b0000000-0000-4000-8000-000000000000';
select results_eq(
  $$ select encrypted_password::text, full_name, source, array(select provider::text from auth.identities where user_id = account.id)
     from auth.users as account join public.customers using (id) where id = 'b0000000-0000-4000-8000-000000000000' $$,
  $$ values ('', 'Bob', 'google', array['google']) $$,
  'confirming an address keeps a verified identity and copies its name, but removes the earlier password'
);

-- Accounts that are created and confirmed in one transaction.
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
  'an account that is created and confirmed in one transaction keeps its password and name'
);

insert into auth.users (id, email, encrypted_password, email_confirmed_at) values
  ('e0000000-0000-4000-8000-000000000000', 'eve@tests.example.com', 'hash of Eve', now());
select is(
  (select encrypted_password::text from auth.users where id = 'e0000000-0000-4000-8000-000000000000'), 'hash of Eve',
  'an account that is created as confirmed keeps its password'
);
select is(
  private.is_new_account('e0000000-0000-4000-8000-000000000000'), false,
  'an account that is created as confirmed is not in the setting'
);

select * from finish();
rollback;

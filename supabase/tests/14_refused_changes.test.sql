-- Changes that the database rejects, by administrators in the dashboard and by users who call Auth directly.
begin;
select plan(44);

insert into auth.users (id, email, raw_app_meta_data) values
  ('a0000000-0000-4000-8000-000000000000', 'alice@tests.example.com', '{"provider": "email"}'),
  ('b0000000-0000-4000-8000-000000000000', null, '{"provider": "google"}');
insert into public.sounds (id, title) values ('7e575000-0000-4000-8000-000000000001', 'Sound');
insert into storage.objects (bucket_id, name) values ('audio', 'audio/in-a-folder.mp3');

-- Changes in the dashboard
create temporary table refused (statement text, code text, message text) on commit drop;
insert into refused values
  ($$ delete from public.customers where email = 'alice@tests.example.com' $$, '23514',
    'A customer can only be deleted with the account. Delete the account under Authentication > Users, or set '
    'is_active to false to lock the customer out.'),
  ('truncate public.customers cascade', '23514', null),
  ($$ update public.sounds set audio_path = 'audio/bowls/f3.x' $$, '23514',
    'Leave the name of the bucket out of audio_path: enter "bowls/f3.x" instead of "audio/bowls/f3.x".'),
  ($$ update public.sounds set cover_image_path = 'covers/bowls/f3.x' $$, '23514',
    'Leave the name of the bucket out of cover_image_path: enter "bowls/f3.x" instead of "covers/bowls/f3.x".'),
  ($$ insert into public.sounds (title, audio_path) values ('Other', 'audio/f3.mp3') $$, '23514', null);
insert into refused
  select format('update public.customers set %I = %L where email = %L', name, value, 'alice@tests.example.com'), '23514',
    'email, provider, source and is_guest are copied from Authentication. Change the e-mail address under Authentication > Users; the '
    'others cannot be changed.'
  from (values
    ('email', 'mallory@tests.example.com'), ('email', null), ('email', ''), ('provider', 'google'), ('provider', null),
    ('source', 'google'), ('source', null)
  ) as attempt (name, value);
-- Calls of Auth without the gateway
insert into refused values
  ($$ insert into auth.mfa_factors (id, user_id, factor_type, status, created_at, updated_at)
      values (gen_random_uuid(), 'a0000000-0000-4000-8000-000000000000', 'totp', 'unverified', now(), now()) $$,
    '0A000', 'The service does not support second factors.'),
  ($$ insert into auth.webauthn_credentials (user_id, credential_id, public_key)
      values ('a0000000-0000-4000-8000-000000000000', 'id', 'key') $$,
    '0A000', 'The service does not support passkeys.'),
  ('insert into auth.users (id, is_anonymous) values (gen_random_uuid(), true)',
    '0A000', 'Guests are not allowed. To allow them, run the snippet allow_guests.'),
  ($$ insert into auth.sessions (id, user_id, oauth_client_id)
      values (gen_random_uuid(), 'a0000000-0000-4000-8000-000000000000', gen_random_uuid()) $$,
    '0A000', 'The service does not open sessions for other apps.'),
  ($$ insert into auth.users (id, phone) values (gen_random_uuid(), '4915550101') $$,
    '0A000', 'The service does not support accounts without an e-mail address.');
insert into refused
  select format('update auth.users set %I = %L where id = %L', name, value, 'a0000000-0000-4000-8000-000000000000'), '0A000', null
  from (values ('email_change', 'mallory@tests.example.com'), ('phone_change', '4915550100'), ('phone', '4915550100')) as attempt (name, value)
  union all
  select format('insert into auth.identities (id, provider, provider_id, user_id) values (gen_random_uuid(), %1$L, %1$L, %2$L)',
      provider, 'b0000000-0000-4000-8000-000000000000'), '0A000', 'The service does not support wallets and single sign-on.'
  from unnest(array['web3', 'sso:4d6b8a52-4f0e-4b43-9a5e-0d9d3c1b2a10']) as provider;
select throws_ok(statement, code, message, 'is rejected: ' || statement) from refused;
set local role service_role;
select throws_ok(
  $$ update public.customers set email = 'mallory@tests.example.com' where email = 'alice@tests.example.com' $$, '23514', null,
  'the service cannot change the e-mail address of a customer'
);
reset role;
select lives_ok(statement, what) from (values
  ($$ update public.customers set country = 'DE', email = email, provider = provider, source = source
      where email = 'alice@tests.example.com' $$, 'an update may contain unchanged values of protected columns'),
  ($$ update auth.users set email = 'alice@new.example.com' where email = 'alice@tests.example.com' $$,
    'an e-mail address can be changed at Auth'),
  ($$ update public.sounds set audio_path = 'audio/in-a-folder.mp3', cover_image_path = 'audio/f3.jpg'
      where id = '7e575000-0000-4000-8000-000000000001' $$,
    'a path may begin with the bucket if a file lies in a folder of that name'),
  ($$ update auth.users set email_change = '', phone_change = '', phone = null where id = 'a0000000-0000-4000-8000-000000000000' $$,
    'Auth can clear email_change, phone_change and phone'),
  ($$ insert into auth.users (id, email, phone) values (gen_random_uuid(), 'carol@tests.example.com', '4915550102') $$,
    'an account with an e-mail address may also have a phone number')
) as accepted (statement, what);
select isnt_empty(
  $$ select from public.customers where email = 'alice@new.example.com' $$,
  'a change of the e-mail address at Auth changes the customer'
);

-- Identities of a confirmed account
insert into auth.users (id, email, email_confirmed_at) values ('d0000000-0000-4000-8000-000000000000', 'dora@tests.example.com', now());
create function pg_temp.link(provider text, data jsonb) returns void language sql as $$
  insert into auth.identities (id, provider, provider_id, user_id, identity_data)
    values (gen_random_uuid(), provider, 'd', 'd0000000-0000-4000-8000-000000000000', data)
$$;
select throws_ok(
  format('select pg_temp.link(%L, %L)', 'google', data), '0A000', 'Users cannot link identities to their accounts.',
  'a confirmed account rejects an identity with the data ' || data
) from (values
  ('{"email": "mallory@tests.example.com", "email_verified": true}'), ('{"email": "dora@tests.example.com", "email_verified": false}'),
  ('{"email": "dora@tests.example.com"}'), ('{}')
) as attempt (data);
select lives_ok(format('select pg_temp.link(%L, %L)', provider, data), provider || ' can be added to a confirmed account with ' || data)
from (values
  ('email', '{"email": "dora@tests.example.com"}'), ('phone', '{}'),
  ('google', '{"email": "Dora@tests.example.com", "email_verified": true}')
) as identity (provider, data);
update auth.users set email = 'dora@new.example.com' where id = 'd0000000-0000-4000-8000-000000000000';
select lives_ok(
  $$ select pg_temp.link('apple', '{"email": "dora@tests.example.com", "email_verified": true}') $$,
  'a confirmed account accepts an identity with the verified address of another of its identities'
);
select throws_ok(
  $$ select pg_temp.link('github', '{"email": "mallory@tests.example.com", "email_verified": true}') $$,
  '0A000', 'Users cannot link identities to their accounts.',
  'an identity without an address does not let a confirmed account accept other addresses'
);

-- Tokens of other apps
set local role authenticated;
select set_config('request.jwt.claims',
  '{"sub": "d0000000-0000-4000-8000-000000000000", "role": "authenticated", "client_id": "c", "scope": "email"}', true);
select throws_ok('select public.export_account()', 'PT401', 'This token belongs to another app.', 'another app cannot export an account');
select is_empty(
  'select id from public.customers union all select user_id from public.favorites union all select user_id from public.history',
  'another app reads no rows of a user'
);
reset role;
select set_config('request.jwt.claims', '', true);

-- Identities
insert into auth.identities (id, provider, provider_id, user_id, identity_data) values
  (gen_random_uuid(), 'google', 'a', 'a0000000-0000-4000-8000-000000000000',
    '{"sub": "a", "email": "Alice@new.example.com", "email_verified": false}'),
  (gen_random_uuid(), 'google', 'b', 'b0000000-0000-4000-8000-000000000000',
    '{"sub": "b", "email": "alice@new.example.com", "email_verified": false}');
select results_eq(
  $$ select provider_id::text, identity_data ->> 'sub', identity_data ->> 'email' from auth.identities
     where provider = 'google' and user_id in ('a0000000-0000-4000-8000-000000000000', 'b0000000-0000-4000-8000-000000000000')
     order by 1 $$,
  $$ values ('a', 'a', 'Alice@new.example.com'), ('b', 'b', null) $$,
  'an identity loses an unverified address that differs from that of its account'
);
update auth.identities set identity_data = identity_data || '{"email": "alice@new.example.com"}' where provider_id = 'b';
select is(
  (select identity_data ->> 'email' from auth.identities where provider = 'google' and provider_id = 'b'), null,
  'an identity loses the unverified address again when Auth writes it again'
);
update auth.identities set identity_data = identity_data || '{"email": "bob@tests.example.com", "email_verified": true}'
  where provider_id = 'b';
select is(
  (select identity_data ->> 'email' from auth.identities where provider = 'google' and provider_id = 'b'), 'bob@tests.example.com',
  'an identity keeps a verified address'
);
delete from auth.users where id = 'a0000000-0000-4000-8000-000000000000';
select is_empty(
  $$ select from public.customers where id = 'a0000000-0000-4000-8000-000000000000' $$,
  'deleting an account deletes its customer'
);

select * from finish();
rollback;

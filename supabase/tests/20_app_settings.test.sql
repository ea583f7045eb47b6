-- Settings for apps: who may read and change them, and their limits.
begin;
select plan(16);

delete from public.app_settings;
select is(public.get_app_settings() ->> 'settings', '{}', 'without settings there is an empty object');
insert into public.app_settings (key, value) values ('min_version_ios', '"2.1.0"'), ('theme', '{"dark": true}');
set local role service_role;
select is(
  (public.get_app_settings() -> 'settings')::jsonb, '{"min_version_ios": "2.1.0", "theme": {"dark": true}}',
  'the service gets all settings as one object'
);
reset role;

set local role authenticated;
select throws_ok('select * from public.app_settings', '42501', null, 'users cannot read the table');
select throws_ok('select public.get_app_settings()', '42501', null, 'users cannot call the function');
reset role;
set local role anon;
select throws_ok($$ delete from public.app_settings $$, '42501', null, 'nobody changes settings without a token');
reset role;

select throws_like(
  format('insert into public.app_settings (key, value) values (%L, %s)', key, value), '%' || message || '%', rejected
)
from (values
  ('', '''1''', 'setting_key_is_trimmed', 'a key without characters is rejected'),
  (' a', '''1''', 'setting_key_is_trimmed', 'a key with a space before it is rejected'),
  (repeat('ä', 65), '''1''', 'has_1_to_64_characters', 'a key of 65 characters is rejected'),
  ('message', '''{"de": "Hallo"}''', 'message_and_min_versions_are_texts', 'a message that is no text is rejected'),
  ('min_version_android', '''2.1''', 'message_and_min_versions_are_texts', 'a version that is a number is rejected'),
  ('a', 'to_jsonb(repeat(''x'', 4095))', 'setting_value_has_at_most_4096_bytes', 'a value of 4,097 bytes is rejected'),
  ('a', 'to_jsonb(repeat(''ä'', 2048))', 'setting_value_has_at_most_4096_bytes', 'the limit counts bytes')
) as attempt (key, value, message, rejected);
select lives_ok(
  $$ insert into public.app_settings (key, value) values (repeat('ä', 64), to_jsonb(repeat('x', 4094))) $$,
  'a key of 64 characters and a value of 4,096 bytes are accepted'
);

insert into public.app_settings (key, value) select 'setting ' || n, '1' from generate_series(1, 97) as n;
select throws_like(
  $$ insert into public.app_settings (key, value) values ('one too many', '1') $$, '%at most 100 settings%',
  'the 101st setting is rejected'
);
select throws_matching(
  $$ do 'declare name text; begin
       insert into public.app_settings (key, value) values (''one too many'', ''1'');
     exception when check_violation then
       get stacked diagnostics name = constraint_name;
       raise exception ''%'', name;
     end' $$,
  'there_are_at_most_100_settings', 'the error names the rule'
);
select lives_ok(
  $$ insert into public.app_settings (key, value) values ('theme', '"light"')
     on conflict (key) do update set value = excluded.value $$,
  'among 100 settings each can be changed'
);

select finish();
rollback;

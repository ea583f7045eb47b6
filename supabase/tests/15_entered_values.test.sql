-- Values that the tables reject with a message, and customers that are created from metadata of accounts.
begin;
select plan(72);

insert into public.categories (slug, name) values ('tests-parent', 'Parent');
insert into public.categories (slug, name, parent_id)
select 'tests-child', 'Child', id from public.categories where slug = 'tests-parent';
insert into public.sounds (id, title) values
  ('7e575000-0000-4000-8000-000000000001', 'One'), ('7e575000-0000-4000-8000-000000000002', 'Two');
insert into public.home_sections (id, slug, title) values ('7e575000-0000-4000-8000-000000000003', 'tests-picks', 'Picks');

select throws_like(statement, '%' || message || '%', message || ' rejects ' || left(statement, 100))
from (
  select format('insert into public.sounds (title, %I) values (''x'', %s)', field, value), message
  from (values
    ('description', 'repeat(''x'', 5001)', 'has_at_most_5000_characters'),
    ('created_at', 'null', 'null value in column "created_at"'),
    ('created_at', '''infinity''', 'created_at_lies_between'),
    ('created_at', '''1960-01-01''', 'created_at_lies_between'),
    ('duration_sec', '-1', 'duration_sec_is_above_0'),
    ('duration_sec', '''NaN''', 'duration_sec_is_above_0'),
    ('frequency_hz', '0', 'frequency_hz_is_above_0'),
    ('frequency_hz', '''NaN''', 'frequency_hz_is_above_0'),
    ('frequency_hz', '''Infinity''', 'frequency_hz_is_above_0'),
    ('audio_path', '''a b.mp3''', 'audio_path_has_url_safe_characters'),
    ('audio_path', '''bowl#1.mp3''', 'audio_path_has_url_safe_characters'),
    ('audio_path', '''звук.mp3''', 'audio_path_has_url_safe_characters'),
    ('audio_path', '''no-extension''', 'and_an_extension'),
    ('cover_image_path', '''/a.jpg''', 'cover_image_path_has_url_safe_characters'),
    ('cover_image_path', '''../a.jpg''', 'cover_image_path_has_url_safe_characters'),
    ('category', '''tests-nowhere''', 'category_is_the_slug_of_an_existing_category'),
    ('loudness_lufs', '''NaN''', 'loudness_lufs_lies_between'),
    ('true_peak_dbtp', '''-Infinity''', 'true_peak_dbtp_lies_between'),
    ('waveform', 'array_fill(0, array[199])', 'waveform_has_200'),
    ('waveform', 'array_fill(0, array[2, 100])', 'waveform_has_200'),
    ('waveform', 'array_fill(101, array[200])', 'waveform_has_200'),
    ('waveform', 'array_fill(-1, array[200])', 'waveform_has_200'),
    ('waveform', 'array_fill(null::int, array[200])', 'waveform_has_200'),
    ('cover_placeholder', '''not base64!''', 'cover_placeholder_is_a_thumbhash'),
    ('tags', 'array[''a'', null]', 'tags_are'),
    ('tags', 'array[''a'', '''']', 'tags_are'),
    ('tags', 'array['' a'']', 'tags_are'),
    ('tags', 'array_fill(''a''::text, array[51])', 'at_most_50')
  ) as of_a_sound (field, value, message)
  union all
  select format('insert into public.home_sections (slug, title, mode, %I) values (''tests-new'', ''x'', %L, %L)', field, mode, value),
    message
  from (values
    ('rule', 'rule_type', null, 'has_a_rule_type'),
    ('manual', 'rule_type', 'newest', 'manual_section_has_no_rule'),
    ('rule', 'rule_type', 'category', 'rule_value_is_a_category_slug'),
    ('', 'rule_type', null, 'mode_is_manual_or_rule')
  ) as of_a_section (mode, field, value, message)
  union all
  values
    ($$ insert into public.categories (slug, name) values ('Deep Sleep', 'x') $$, 'slug_is_lower_case_words'),
    ($$ insert into public.categories (slug, name) values ('', 'x') $$, 'slug_is_lower_case_words'),
    ($$ insert into public.categories (slug, name) values (repeat('a', 101), 'x') $$, 'slug_is_lower_case_words'),
    ($$ insert into public.categories (slug, name) values ('tests-new', ' ') $$, 'name_is_trimmed'),
    ($$ insert into public.categories (slug, name, description) values ('tests-new', 'x', '') $$,
      'category_description_is_not_blank'),
    ($$ insert into public.categories (slug, name, parent_id)
        select 'tests-new', 'x', id from public.categories where slug = 'tests-child' $$, 'cannot lie under a sub-intention'),
    ($$ update public.categories set parent_id = id where slug = 'tests-parent' $$, 'cannot lie under'),
    ($$ update public.categories set parent_id = (select id from public.categories where slug = 'tests-child')
        where slug = 'tests-parent' $$, 'cannot lie under'),
    ($$ insert into public.sounds (title) values ('') $$, 'title_is_trimmed'),
    ($$ insert into public.sounds (title) values (U&'\200B') $$, 'title_is_trimmed_visible'),
    ($$ insert into public.sounds (title) values (repeat('x', 201)) $$, 'has_1_to_200_characters'),
    ($$ insert into public.home_sections (slug, title) values ('tests-new', U&'\FEFF') $$, 'section_title_is_trimmed_visible'),
    ($$ insert into public.home_sections (slug, title) values ('a--b', 'x') $$,
      'section_slug_is_lower_case_words_joined_by_hyphens'),
    ($$ insert into public.home_sections (slug, title, mode, rule_type, rule_value) values ('tests-new', 'x', 'rule', 'newest', '') $$,
      'rule_value_is_a_category_slug_for_category_rules_and_null_else'),
    ($$ insert into public.home_sections (slug, title, mode, rule_type, rule_value)
        values ('tests-new', 'x', 'rule', 'category', 'tests-nowhere') $$, 'rule_value_is_the_slug_of_an_existing_category'),
    ($$ insert into public.home_sections (slug, title, mode, rule_type, item_limit) values ('tests-new', 'x', 'rule', 'newest', 0) $$,
      'item_limit_lies_between'),
    ($$ insert into public.home_section_sounds values
        ('7e575000-0000-4000-8000-000000000003', '7e575000-0000-4000-8000-000000000001', 1),
        ('7e575000-0000-4000-8000-000000000003', '7e575000-0000-4000-8000-000000000002', 1) $$,
      'position_is_taken_once_in_its_section')
) as attempt (statement, message);

insert into public.sounds (id, title, description, audio_path, category, cover_image_path)
values ('7e575000-0000-4000-8000-000000000004', 'x', '', '', '', '');
update public.sounds set bowl_note = '' where id = '7e575000-0000-4000-8000-000000000004';
select results_eq(
  $$ select num_nulls(description, bowl_note, category, audio_path, cover_image_path) from public.sounds
     where id = '7e575000-0000-4000-8000-000000000004' $$,
  array[5], 'an empty text in an optional field of a sound becomes null'
);
update public.sounds set category = 'tests-child' where id = '7e575000-0000-4000-8000-000000000004';
update public.categories set slug = 'tests-renamed' where slug = 'tests-child';
select is(
  (select category from public.sounds where id = '7e575000-0000-4000-8000-000000000004'), 'tests-renamed',
  'a sound follows its renamed category'
);

-- Customers of new accounts
create temporary table account (what text, metadata jsonb, app jsonb, full_name text, avatar_url text, source text, id uuid)
on commit drop;
insert into account values
  ('takes full_name, avatar and source', '{"full_name": "Ada", "avatar_url": "https://a.example/b.png"}',
    '{"provider": "google", "providers": ["google"]}', 'Ada', 'https://a.example/b.png', 'google'),
  ('takes name where full_name is missing', '{"name": " Ada\t"}', '{"provider": "apple"}', 'Ada', null, 'apple'),
  ('needs no metadata', null, null, null, null, null),
  ('accepts metadata of other types', '["x"]', '"text"', null, null, null),
  ('accepts a name that is not a text', '{"full_name": {"a": 1}}', '{}', '{"a": 1}', null, null),
  ('gets no name of spaces', '{"full_name": " \u00a0 "}', '{}', null, null, null),
  ('gets no name without a visible character', '{"full_name": "\u200b\ufeff"}', '{}', null, null, null),
  ('clips a long name', jsonb_build_object('full_name', repeat('x', 199) || ' ' || repeat('y', 100000)), '{}',
    repeat('x', 199), null, null),
  ('gets no avatar without https', '{"avatar_url": "javascript:alert(1)"}', '{}', null, null, null),
  ('gets no avatar with an invalid address', '{"avatar_url": "https://<script>"}', '{}', null, null, null),
  ('gets no source for another provider', '{}', '{"provider": "keycloak"}', null, null, null);
update account set id = gen_random_uuid();
insert into auth.users (id, email, raw_user_meta_data, raw_app_meta_data)
select id, id || '@tests.example.com', metadata, app from account;
select results_eq(
  format('select full_name, avatar_url, source from public.customers where id = %L', id),
  format('values (%L::text, %L::text, %L::text)', full_name, avatar_url, source),
  'the customer of a new account ' || what
) from account;

insert into auth.users (id, created_at) values ('7e575000-0000-4000-8000-000000000005', now() + interval '1 minute');
update public.customers set full_name = 'Chosen' where id = '7e575000-0000-4000-8000-000000000005';
select results_eq(
  $$ select email, is_active, updated_at = created_at from public.customers where id = '7e575000-0000-4000-8000-000000000005' $$,
  $$ values (null::text, true, true) $$,
  'an account without an address has a customer whose updated_at is not before created_at'
);
update auth.users
set email = 'later@tests.example.com', raw_user_meta_data = '{"full_name": "Later"}', raw_app_meta_data = '{"provider": "google"}'
where id = '7e575000-0000-4000-8000-000000000005';
select results_eq(
  $$ select email, full_name, provider, source from public.customers where id = '7e575000-0000-4000-8000-000000000005' $$,
  $$ values ('later@tests.example.com', 'Chosen', 'google', 'google') $$,
  'a change of an account changes address and provider of the customer, but not the name'
);

create temporary table long_metadata (what text, sent jsonb, kept jsonb, id uuid) on commit drop;
insert into long_metadata values
  ('of other names is dropped', jsonb_build_object('x', repeat('a', 7000)), '{}'),
  ('that Auth escapes is dropped', jsonb_build_object('x', repeat('<', 2500)), '{}'),
  ('of names is clipped', jsonb_build_object('sub', '1', 'full_name', repeat('e', 10000)),
    jsonb_build_object('sub', '1', 'full_name', repeat('e', 200))),
  ('is kept as long as it is short', jsonb_build_object('x', repeat('a', 2900)), jsonb_build_object('x', repeat('a', 2900)));
update long_metadata set id = gen_random_uuid();
insert into auth.users (id, email, raw_user_meta_data) select id, id || '@tests.example.com', sent from long_metadata where what not like 'of names%';
insert into auth.users (id, email) select id, id || '@tests.example.com' from long_metadata where what like 'of names%';
update auth.users as account set raw_user_meta_data = sent from long_metadata as given where given.id = account.id and what like 'of names%';
select is(raw_user_meta_data, kept, 'metadata, which every access token carries, ' || what)
from long_metadata join auth.users using (id);

-- Bans
create temporary table ban (what text, before timestamptz, meanwhile timestamptz, after timestamptz, id uuid) on commit drop;
insert into ban values
  ('restores an earlier ban', '2999-01-01', '2999-01-01', '2999-01-01'),
  ('keeps a ban that was set meanwhile', null, '2999-01-01', '2999-01-01'),
  ('keeps the later of two bans', '2998-01-01', '2999-01-01', '2999-01-01'),
  ('does not restore a ban that was lifted meanwhile', '2999-01-01', null, null);
update ban set id = gen_random_uuid();
insert into auth.users (id, email, banned_until) select id, id || '@tests.example.com', before from ban;
update public.customers set is_active = false where id in (select id from ban);
update auth.users as account set banned_until = ban.meanwhile from ban where ban.id = account.id and ban.what not like 'restores%';
update public.customers set is_active = true where id in (select id from ban);
select is(
  (select banned_until from auth.users as account where account.id = ban.id), after, 'activating a customer again ' || what
) from ban;

select finish();
rollback;

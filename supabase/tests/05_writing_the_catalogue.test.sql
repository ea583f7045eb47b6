-- Attacks on the catalogue: only administrators write it.
begin;
select plan(26);

insert into auth.users (id, email) values ('b0000000-0000-4000-8000-000000000000', 'mallory@tests.example.com');
insert into public.categories (slug, name) values ('tests', 'Tests');
insert into public.sounds (id, title, category) values ('7e575000-0000-4000-8000-000000000001', 'Original', 'tests');
insert into public.home_sections (id, slug, title) values ('d0000000-0000-4000-8000-000000000001', 'tests', 'Original');
insert into public.home_section_sounds values
  ('d0000000-0000-4000-8000-000000000001', '7e575000-0000-4000-8000-000000000001', 1);

create view pg_temp.attacks as
  select name as target, attack
  from unnest(array['categories', 'sounds', 'home_sections', 'home_section_sounds']) as name
    cross join lateral (values
      (format('insert into public.%I default values', name)),
      (format('delete from public.%I', name)),
      (format('truncate public.%I cascade', name))
    ) as common (attack)
  union all
  select 'sounds', format('update public.sounds set %I = %I', name, name)
  from unnest(array[
    'id', 'title', 'category', 'cover_image_path', 'audio_path', 'is_featured', 'is_active', 'sort_order', 'created_at'
  ]) as name
  union all
  values
    ('categories', $$ update public.categories set name = 'Mine' $$),
    ('home_sections', $$ update public.home_sections set title = 'Mine' $$),
    ('home_section_sounds', 'update public.home_section_sounds set position = 2'),
    ('sounds', $$ insert into public.sounds (title) values ('Mine') $$);
grant select on pg_temp.attacks to authenticated;

set local role authenticated;
set local request.jwt.claims to '{"sub": "b0000000-0000-4000-8000-000000000000", "role": "authenticated"}';
select throws_ok(attack, '42501', 'permission denied for table ' || target, 'a user cannot: ' || attack) from attacks;

reset role;
select results_eq(
  $$ select sound.title, category.name, section.title, pick.position
     from public.home_section_sounds as pick join public.home_sections as section on section.id = section_id
       join public.sounds as sound on sound.id = sound_id join public.categories as category on category.slug = sound.category
     where section.slug = 'tests' $$,
  $$ values ('Original', 'Tests', 'Original', 1) $$,
  'the attacked rows exist unchanged'
);

select * from finish();
rollback;

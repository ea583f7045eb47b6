-- Attacks on files, which only the service may list, sign, upload or replace, because there is no policy.
begin;
select plan(18);

insert into auth.users (id, email) values ('b0000000-0000-4000-8000-000000000000', 'mallory@tests.example.com');
insert into storage.objects (bucket_id, name) values ('audio', 'tests/secret.mp3'), ('covers', 'tests/cover.jpg');

set local role anon;
select is_empty('select * from storage.' || name, 'a guest sees nothing in storage.' || name)
from unnest(array['objects', 'buckets']) as name;
select throws_ok(
  format('insert into storage.objects (bucket_id, name) values (%L, %L)', bucket, 'tests/mine'),
  '42501', null, 'a guest cannot put a file into ' || bucket
)
from unnest(array['audio', 'covers']) as bucket;
select is_empty(
  $$ update storage.objects set name = 'tests/mine' where name like 'tests/%' returning name $$,
  'a guest renames no file'
);

set local role authenticated;
set local request.jwt.claims to '{"sub": "b0000000-0000-4000-8000-000000000000", "role": "authenticated"}';
select is_empty('select * from storage.' || name, 'a user sees nothing in storage.' || name)
from unnest(array['objects', 'buckets']) as name;
select throws_ok(
  format('insert into storage.objects (bucket_id, name) values (%L, %L)', bucket, 'tests/mine'),
  '42501', null, 'a user cannot put a file into ' || bucket
)
from unnest(array['audio', 'covers']) as bucket;
select throws_ok(
  $$ insert into storage.objects (bucket_id, name, owner_id)
     values ('audio', 'tests/mine', 'b0000000-0000-4000-8000-000000000000') $$,
  '42501', null, 'a user cannot upload a file as its owner'
);
select throws_ok(
  $$ insert into storage.buckets (id, name, public) values ('mine', 'mine', true) $$,
  '42501', null, 'a user cannot create a bucket'
);
select is_empty(
  $$ update storage.objects set name = 'tests/mine' where name like 'tests/%' returning name $$,
  'a user renames no file'
);
select is_empty('update storage.buckets set public = true returning id', 'a user makes no bucket public');

reset role;
select bag_eq(
  $$ select bucket_id, name from storage.objects where name like 'tests/%' $$,
  $$ values ('audio', 'tests/secret.mp3'), ('covers', 'tests/cover.jpg') $$,
  'the attacked files exist, and there are no others'
);
select results_eq(
  $$ select id, public from storage.buckets where id in ('audio', 'covers', 'mine') order by id $$,
  $$ values ('audio', false), ('covers', true) $$,
  'recordings are private, and covers are public'
);
select is_empty(
  $$ select id from storage.buckets where id in ('audio', 'covers')
     and (file_size_limit is null or allowed_mime_types is null) $$,
  'both buckets limit the size and the types of files'
);
-- supabase/config.toml says why `supabase start` allows video/mp4, too.
select is_empty(
  $$ select allowed from storage.buckets cross join unnest(allowed_mime_types) as allowed
     where id = 'audio' and allowed not like 'audio/%' and allowed <> 'video/mp4'
       or id = 'covers' and allowed not like 'image/%' $$,
  'the buckets accept only recordings and pictures'
);
select is_empty(
  $$ select id from storage.buckets where id = 'covers' and 'image/svg+xml' = any (allowed_mime_types) $$,
  'the bucket of covers accepts no SVG, which can contain scripts'
);

select * from finish();
rollback;

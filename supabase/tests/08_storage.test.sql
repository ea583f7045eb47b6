-- Attacks on files, which only the service may list, sign, upload or replace, because there is no policy.
begin;
select plan(21);

insert into auth.users (id, email) values ('b0000000-0000-4000-8000-000000000000', 'mallory@tests.example.com');
insert into storage.objects (bucket_id, name) values ('audio', 'tests/secret.mp3'), ('covers', 'tests/cover.jpg');

set local request.jwt.claims to '{"sub": "b0000000-0000-4000-8000-000000000000", "role": "authenticated"}';
create function pg_temp.outcome(caller text, attack text) returns text language plpgsql as $$
declare
  affected integer;
begin
  perform set_config('role', caller, true);
  execute attack;
  get diagnostics affected = row_count;
  reset role;
  return affected || ' rows';
exception
  when insufficient_privilege then return 'denied';
end $$;
select is(pg_temp.outcome(caller, attack), expected, caller || ' reaches nothing by: ' || attack)
from unnest(array['anon', 'authenticated']) as caller cross join (values
  ('select from storage.objects', '0 rows'),
  ('select from storage.buckets', '0 rows'),
  ($$ update storage.objects set name = 'tests/mine' where name like 'tests/%' $$, '0 rows'),
  ('update storage.buckets set public = true', '0 rows'),
  ($$ insert into storage.objects (bucket_id, name) values ('audio', 'tests/mine') $$, 'denied'),
  ($$ insert into storage.objects (bucket_id, name) values ('covers', 'tests/mine') $$, 'denied'),
  ($$ insert into storage.objects (bucket_id, name, owner_id)
      values ('audio', 'tests/mine', 'b0000000-0000-4000-8000-000000000000') $$, 'denied'),
  ($$ insert into storage.buckets (id, name, public) values ('mine', 'mine', true) $$, 'denied')
) as attempt (attack, expected);
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

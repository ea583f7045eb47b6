-- Adds rows of users, admins and the import to a seeded database: accounts, plays, favorites, keys, files.

insert into auth.users (id, email, raw_user_meta_data)
select gen_random_uuid(), format('listener-%s@example.com', n), json_build_object('full_name', 'Listener ' || n)
from generate_series(1, 50) as n;

update public.customers set country = 'DE', locale = 'de', phone = '+4915550100', marketing_opt_in = true, last_seen_at = now()
where email like 'listener-1%';
update public.customers set is_active = false where email like 'listener-2%';
delete from auth.users where email like 'listener-3%';
update auth.users set deleted_at = now() where email = 'listener-40@example.com';

insert into public.app_settings (key, value) values ('min_version_ios', '"2.1.0"'), ('theme', 'null');
insert into public.favorites (user_id, sound_id)
select customer.id, sound.id from public.customers as customer, public.sounds as sound where customer.email like 'listener-1%';
insert into public.play_counts (sound_id, plays) select id, 1000 from public.sounds
on conflict (sound_id) do update set plays = play_counts.plays + 1;

select public.count_play(sound.id, customer.id, 'play of ' || sound.id)
from public.customers as customer, public.sounds as sound where customer.email like 'listener-1%';

select admin.create_api_key('Used ' || n, format('listener-%s@example.com', n)) from generate_series(10, 15) as n;
select admin.revoke_api_key(key_prefix) from private.api_keys where name in ('Used 10', 'Used 11');

insert into public.imported_sounds (sound_id, places, fields)
select id, jsonb_build_array(jsonb_build_object('source', 'bowls', 'file', format('bowls/%s.wav', title))), json_build_object('title', title)
from public.sounds;
insert into storage.objects (bucket_id, name) select 'audio', format('bowls/%s.wav', n) from generate_series(1, 20) as n;

update public.sounds set is_active = false where id in (select id from public.sounds order by created_at limit 2);
delete from public.sounds where id in (select id from public.sounds order by created_at desc limit 2);

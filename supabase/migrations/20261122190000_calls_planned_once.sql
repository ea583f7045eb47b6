-- Postgres plans a function in plain SQL anew for each call, which took longer than what these do. In PL/pgSQL a connection
-- plans their statements once. Whatever the statistics said then, or did not say yet, a row is found by its index.

create or replace function public.list_favorites() returns json
language plpgsql stable set search_path = '' set enable_seqscan = off set enable_bitmapscan = off as $$
begin
  perform private.require_account();
  return to_json(array(select favorite from private.favorite as favorite));
end
$$;

-- One statement adds it, so that the policy sees the sound as this sees it, whatever an admin does meanwhile.
create or replace function public.add_favorite(liked_sound uuid) returns boolean
language plpgsql volatile set search_path = '' set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  is_there boolean;
begin
  perform private.require_account();
  with sound as (
    select id from public.sounds where id = liked_sound and is_active
  ), added as (
    insert into public.favorites (sound_id) select id from sound
    on conflict (user_id, sound_id) do nothing
  )
  select exists (select from sound) into is_there;
  return is_there;
end
$$;

create or replace function public.remove_favorite(disliked_sound uuid) returns void
language plpgsql volatile set search_path = '' set enable_seqscan = off set enable_bitmapscan = off as $$
begin
  perform private.require_account();
  delete from public.favorites where user_id = (select auth.uid()) and sound_id = disliked_sound;
end
$$;

create or replace function public.touch_last_seen() returns void
language plpgsql volatile set search_path = '' as $$
begin
  perform private.touch_last_seen();
end
$$;

-- Order of popular sounds. Counting a play does not change it: private.upkeep refreshes it every hour.

create materialized view private.popularity as
  select sound_id, plays, created_at
  from public.play_counts join public.sounds on id = sound_id
  where plays > 0;
create unique index popularity_sound_id on private.popularity (sound_id);
create index popularity_order on private.popularity (plays, created_at);
comment on materialized view private.popularity is 'Number of plays of each sound at the last hourly refresh.';

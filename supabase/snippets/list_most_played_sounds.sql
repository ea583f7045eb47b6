-- Lists the hundred sounds with the most listeners in the last 30 days, with listeners and plays of other periods.
select
  recent.title, sound.category, listeners_7_days, listeners_30_days, listeners_365_days,
  plays_7_days, plays_30_days, plays_365_days, counter.plays as plays_ever, sound.is_active
from admin.most_played as recent
  join public.sounds as sound on sound.id = recent.sound_id
  join public.play_counts as counter on counter.sound_id = recent.sound_id
limit 100;

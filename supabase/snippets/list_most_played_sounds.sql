-- The hundred sounds that were played most in the last 30 days, with their plays of a week, a year, and altogether.
select recent.title, sound.category, plays_7_days, plays_30_days, plays_365_days, counter.plays as plays_ever, sound.is_active
from admin.most_played as recent
  join public.sounds as sound on sound.id = recent.sound_id
  join public.play_counts as counter on counter.sound_id = recent.sound_id
limit 100;

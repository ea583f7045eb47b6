-- The hundred sounds that were played most.
select sound.title, sound.category, counter.plays, sound.is_active
from public.play_counts as counter join public.sounds as sound on sound.id = counter.sound_id
order by counter.plays desc, sound.title
limit 100;

-- Hides a sound at a time within 364 days. Replace the title and the time.
-- Write an apostrophe in the title once.
-- To cancel it: select cron.unschedule('<job>'); admin.scheduled lists pending jobs.
select admin.schedule_activation('sound', id, false, '<2030-01-04 09:30 Europe/Berlin>') as job, id, title
from public.sounds where title = $$<title of the sound>$$;

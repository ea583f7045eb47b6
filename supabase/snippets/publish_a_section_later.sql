-- Publishes a hidden section of the home page at a time within 364 days. Replace the slug and the time.
-- To cancel it: select cron.unschedule('<job>'); admin.scheduled lists pending jobs.
select admin.schedule_activation('section', id, true, '<2030-01-04 09:30 Europe/Berlin>') as job, slug, title
from public.home_sections where slug = '<slug of the section>' and not is_active;

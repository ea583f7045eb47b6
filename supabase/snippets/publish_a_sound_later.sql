-- Publishes a hidden sound at a time within a year. Replace the title and the time.
-- To cancel it: select cron.unschedule('publish sound <title of the sound>'); admin.scheduled lists pending jobs.
select cron.schedule(
  'publish sound ' || title, to_char(moment at time zone 'UTC', 'FMMI FMHH24 FMDD FMMM *'),
  format('update public.sounds set is_active = true where id = %L; select cron.unschedule(%L)', id, 'publish sound ' || title)
) as job, title, moment
from public.sounds, (values (timestamptz '<2030-01-04 09:30 Europe/Berlin>')) as due (moment)
where title = '<title of the sound>' and not is_active;

-- Publishes a hidden section of the home page at a time within a year. Replace the slug and the time.
-- To cancel it: select cron.unschedule('publish section <slug of the section>'); admin.scheduled lists pending jobs.
select cron.schedule(
  'publish section ' || slug, to_char(moment at time zone 'UTC', 'FMMI FMHH24 FMDD FMMM *'),
  format('update public.home_sections set is_active = true where id = %L; select cron.unschedule(%L)', id, 'publish section ' || slug)
) as job, slug, moment
from public.home_sections, (values (timestamptz '<2030-01-04 09:30 Europe/Berlin>')) as due (moment)
where slug = '<slug of the section>' and not is_active;

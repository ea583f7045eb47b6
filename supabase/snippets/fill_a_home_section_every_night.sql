-- Fills a manual section of the home page every night at 3:00 UTC. Switch on Cron under Integrations first.
-- Replace the slug. Run it again to change the job. To end it: select cron.unschedule('fill <slug of the section>');
select cron.schedule('fill ' || slug, '0 3 * * *', format('select admin.fill_section(%L, 7, 10)', slug)) as job, slug
from admin.manual_section_named('<slug of the section>');

-- The same every night at 3:00 UTC. Switch on Cron under Integrations first.
-- Running this again changes what was scheduled under the name; to end it: select cron.unschedule('fill start-here');
select cron.schedule('fill start-here', '0 3 * * *', $$ select admin.fill_section('start-here', 7, 10) $$);

-- Hides a section of the home page at a moment within 364 days. Replace the slug and the moment; write the zone as
-- a name with a slash, UTC or an offset (+01:00).
-- To cancel it: select cron.unschedule('<job>'); admin.scheduled lists pending jobs.
select * from admin.schedule_section('<slug of the section>', false, '<YYYY-MM-DD HH:MM Europe/Berlin>');

-- Hides a sound at a moment within 364 days. Replace the title and the moment; write the zone as a name with a
-- slash, UTC or an offset (+01:00). Write an apostrophe in the title once.
-- To cancel it: select cron.unschedule('<job>'); admin.scheduled lists pending jobs.
select * from admin.schedule_sound($$<title of the sound>$$, false, '<YYYY-MM-DD HH:MM Europe/Berlin>');

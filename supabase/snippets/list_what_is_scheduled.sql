-- Lists jobs of Supabase Cron, such as later publications of sounds and sections.
select * from admin.scheduled;

-- Sounds and sections that are published later, and jobs that run again and again.
select * from admin.scheduled;

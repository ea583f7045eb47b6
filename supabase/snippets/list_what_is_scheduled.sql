-- Lists jobs of Supabase Cron, such as later publications of sounds and sections.
select coalesce(sounds.title, home_sections.title) as concerns, scheduled.*
from admin.scheduled
  left join public.sounds on job ~ ' sound ' and sounds.id::text = split_part(job, ' ', 3)
  left join public.home_sections on job ~ ' section ' and home_sections.id::text = split_part(job, ' ', 3)
order by due_at, job;

-- Files that no sound names, the largest first, and where npx supabase storage rm finds each.
select bucket, name, megabytes, uploaded_at, format('ss:///%s/%s', bucket, name) as path
from admin.unused_files order by megabytes desc nulls last, bucket, name;

-- Lists files that no sound uses, largest first, with the path for npx supabase storage rm.
select bucket, name, megabytes, uploaded_at, format('ss:///%s/%s', bucket, name) as path
from admin.unused_files order by megabytes desc nulls last, bucket, name;

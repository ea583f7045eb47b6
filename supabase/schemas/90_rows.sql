-- Rows that every project starts with.

-- Adds no policy on storage.objects, because users could then get signed URLs from Storage that are valid for years.
-- The service signs with its secret key, after it has read the row as the caller.
insert into storage.buckets (id, name, public, file_size_limit, allowed_mime_types)
values
  ('audio', 'audio', false, 50 * 1024 * 1024, array[
    'audio/mpeg', 'audio/mp4', 'audio/x-m4a', 'audio/aac', 'audio/ogg', 'audio/opus', 'audio/webm', 'audio/flac',
    'audio/x-flac', 'audio/wav', 'audio/x-wav', 'audio/vnd.wave'
  ]),
  ('covers', 'covers', true, 5 * 1024 * 1024, array['image/jpeg', 'image/png', 'image/webp', 'image/avif'])
on conflict (id) do update set (public, file_size_limit, allowed_mime_types) =
  (excluded.public, excluded.file_size_limit, excluded.allowed_mime_types);

-- Adds customers for accounts that are older than the service.
insert into public.customers
  select customer.* from auth.users as account, private.customer_of(account) as customer
  on conflict (id) do nothing;
-- Cancels pending changes of address, and has private.withhold_address check the identities that are there already.
update auth.users
  set email_change = '', email_change_token_new = '', email_change_token_current = '',
    phone_change = '', phone_change_token = ''
  where email_change <> '' or phone_change <> '';
update auth.identities set identity_data = identity_data
  where provider <> 'email' and identity_data ? 'email' and identity_data ->> 'email_verified' is distinct from 'true';

insert into private.catalogue_feed default values;

-- Uses Supabase Cron where it is available. Shadow databases of the CLI and plain Postgres do not have it.
do $$
begin
  if current_database() = 'postgres' and exists (select from pg_available_extensions where name = 'pg_cron') then
    create extension if not exists pg_cron with schema pg_catalog;
    grant usage on schema cron to postgres;
    grant all privileges on all tables in schema cron to postgres;
  end if;
  if to_regprocedure('cron.schedule(text, text, text)') is not null then
    perform cron.schedule('sounds-service upkeep', '7 * * * *', 'select private.upkeep()');
  end if;
exception
  when others then
    raise warning 'Supabase Cron is off (%). Switch it on under Integrations, and schedule private.upkeep() every '
      'hour.', sqlerrm;
end
$$;

-- Two buckets. There is deliberately no policy on storage.objects: with one, a user could ask Storage for a signed
-- address that lives for years. The service signs with its own key, after the row came back as the caller's.

insert into storage.buckets (id, name, public, file_size_limit, allowed_mime_types)
values
  ('audio', 'audio', false, 50 * 1024 * 1024, array[
    'audio/mpeg', 'audio/mp4', 'audio/x-m4a', 'audio/aac', 'audio/ogg', 'audio/opus', 'audio/webm', 'audio/flac',
    'audio/x-flac', 'audio/wav', 'audio/x-wav', 'audio/vnd.wave'
  ]),
  ('covers', 'covers', true, 5 * 1024 * 1024, array['image/jpeg', 'image/png', 'image/webp', 'image/avif'])
on conflict (id) do update set
  public = excluded.public,
  file_size_limit = excluded.file_size_limit,
  allowed_mime_types = excluded.allowed_mime_types;

-- Adds 28, changes 3, drops 0. Made from supabase/schemas by npm run migration.

set local check_function_bodies = off;

drop view "admin"."catalogue_problems";

create or replace function private.keep_customer()
  returns trigger
  language plpgsql
  security definer
  set search_path to ''
as $function$
begin
  if tg_op = 'TRUNCATE' or exists (select from auth.users where id = old.id) then
    raise exception 'A customer is deleted with the account alone. Delete the account under Authentication > Users; to keep '
      'somebody out, set is_active to false.'
      using errcode = 'check_violation', constraint = 'customer_is_deleted_with_the_account';
  end if;
  return old;
end
$function$;

create or replace function private.keep_mirrored()
  returns trigger
  language plpgsql
  security definer
  set search_path to ''
as $function$
declare
  mirrored public.customers;
begin
  select customer.* into mirrored
    from auth.users as account, private.customer_of(account) as customer where account.id = new.id;
  if (new.email, new.provider) is distinct from (mirrored.email, mirrored.provider)
    or new.source is distinct from old.source and new.source is distinct from mirrored.source
  then
    raise exception 'email, provider and source are copied from Authentication. Change the e-mail address under '
      'Authentication > Users; the other two stay as they are.'
      using errcode = 'check_violation', constraint = 'email_provider_and_source_are_copied_from_authentication';
  end if;
  return new;
end
$function$;

create or replace function private.refuse_at_auth()
  returns trigger
  language plpgsql
  set search_path to ''
as $function$
begin
  raise exception '%', tg_argv[0] using errcode = 'feature_not_supported';
end
$function$;

create or replace function private.refuse_bucket_in_path()
  returns trigger
  language plpgsql
  set search_path to ''
as $function$
declare
  column_name text;
  bucket text;
  path text;
begin
  for column_name, bucket, path in values ('audio_path', 'audio', new.audio_path), ('cover_image_path', 'covers', new.cover_image_path)
  loop
    if starts_with(path, bucket || '/')
      and not exists (select from storage.objects where bucket_id = bucket and name = path)
    then
      raise exception 'Leave the name of the bucket out of %: enter "%" instead of "%".',
        column_name, substr(path, char_length(bucket) + 2), path
        using errcode = 'check_violation', constraint = column_name || '_does_not_begin_with_the_bucket';
    end if;
  end loop;
  return new;
end
$function$;

create or replace function private.withhold_address()
  returns trigger
  language plpgsql
  security definer
  set search_path to ''
as $function$
begin
  if not exists (select from auth.users where id = new.user_id and lower(email) = lower(new.identity_data ->> 'email')) then
    new.identity_data := new.identity_data - 'email';
  end if;
  return new;
end
$function$;

create view "admin"."unused_files" with (security_invoker=true) AS  SELECT bucket_id AS bucket,
    name,
    round((((metadata ->> 'size'::text))::numeric / ((1024 * 1024))::numeric), 1) AS megabytes,
    created_at AS uploaded_at,
    id
   FROM ( SELECT objects.id,
            objects.bucket_id,
            objects.name,
            objects.owner,
            objects.owner_id,
            objects.metadata,
            objects.user_metadata,
            objects.path_tokens,
            objects.version,
            objects.created_at,
            objects.updated_at,
            objects.last_accessed_at
           FROM storage.objects
          WHERE ((objects.bucket_id = 'audio'::text) AND (NOT (EXISTS ( SELECT
                   FROM public.sounds
                  WHERE (sounds.audio_path = objects.name)))))
        UNION ALL
         SELECT objects.id,
            objects.bucket_id,
            objects.name,
            objects.owner,
            objects.owner_id,
            objects.metadata,
            objects.user_metadata,
            objects.path_tokens,
            objects.version,
            objects.created_at,
            objects.updated_at,
            objects.last_accessed_at
           FROM storage.objects
          WHERE ((objects.bucket_id = 'covers'::text) AND (NOT (EXISTS ( SELECT
                   FROM public.sounds
                  WHERE (sounds.cover_image_path = objects.name)))))) unused
  WHERE (name !~ '(^|/)\.emptyFolderPlaceholder$'::text)
  ORDER BY bucket_id, name;

create view "admin"."catalogue_problems" with (security_invoker=true) AS  WITH files AS (
         SELECT sound.id,
            sound.title,
            wanted.what,
            wanted.column_name,
            wanted.path,
            wanted.bucket,
            wanted.extensions,
            (object.metadata ->> 'mimetype'::text) AS found_type,
            (object.id IS NOT NULL) AS is_there
           FROM ((public.sounds sound
             CROSS JOIN LATERAL ( VALUES ('audio'::text,'audio_path'::text,sound.audio_path,'audio'::text,'\.(aac|flac|m4a|mp3|mp4|oga|ogg|opus|wav|webm)$'::text), ('cover'::text,'cover_image_path'::text,sound.cover_image_path,'covers'::text,'\.(avif|jpe?g|png|webp)$'::text)) wanted(what, column_name, path, bucket, extensions))
             LEFT JOIN storage.objects object ON (((object.bucket_id = wanted.bucket) AND (object.name = wanted.path))))
          WHERE (sound.is_active AND (wanted.path IS NOT NULL))
        ), active_sounds AS (
         SELECT section.id AS section_id,
            cardinality(private.sounds_of_section(section.*)) AS count
           FROM public.home_sections section
          WHERE section.is_active
        )
 SELECT 'sound_without_audio'::text AS problem,
    format('sound "%s"'::text, sounds.title) AS concerns,
    sounds.id,
    'Upload its file to the bucket audio and enter the name in audio_path; until then, set is_active to false.'::text AS how_to_mend
   FROM public.sounds
  WHERE (sounds.is_active AND (sounds.audio_path IS NULL))
UNION ALL
 SELECT (files.what || '_file_missing'::text) AS problem,
    format('sound "%s"'::text, files.title) AS concerns,
    files.id,
    format('The bucket %s has no file "%s". Upload it under exactly this name, or correct %s.'::text, files.bucket, files.path, files.column_name) AS how_to_mend
   FROM files
  WHERE (NOT files.is_there)
UNION ALL
 SELECT (files.what || '_file_has_wrong_type'::text) AS problem,
    format('sound "%s"'::text, files.title) AS concerns,
    files.id,
    format('The file "%s" in the bucket %s is of type %s. Upload one whose type and extension are those of %s, and enter its name in %s.'::text, files.path, files.bucket, COALESCE(files.found_type, 'unknown'::text),
        CASE files.what
            WHEN 'audio'::text THEN 'a recording'::text
            ELSE 'a picture'::text
        END, files.column_name) AS how_to_mend
   FROM files
  WHERE (files.is_there AND ((files.found_type IS NULL) OR (split_part(files.found_type, '/'::text, 1) <>
        CASE files.what
            WHEN 'audio'::text THEN 'audio'::text
            ELSE 'image'::text
        END) OR (files.path !~* files.extensions)))
UNION ALL
 SELECT 'sound_without_duration'::text AS problem,
    format('sound "%s"'::text, sounds.title) AS concerns,
    sounds.id,
    'Enter the length of its audio in seconds in duration_sec.'::text AS how_to_mend
   FROM public.sounds
  WHERE (sounds.is_active AND (sounds.duration_sec IS NULL))
UNION ALL
 SELECT 'file_name_cannot_be_entered'::text AS problem,
    format('file "%s" in the bucket %s'::text, objects.name, objects.bucket_id) AS concerns,
    objects.id,
    'Rename it in Storage: letters, digits, dots, hyphens and underscores, ending in an extension such as .mp3 or .jpg.'::text AS how_to_mend
   FROM storage.objects
  WHERE ((objects.bucket_id = ANY (ARRAY['audio'::text, 'covers'::text])) AND (NOT private.is_file_path(objects.name)) AND (objects.name !~ '(^|/)\.emptyFolderPlaceholder$'::text))
UNION ALL
 SELECT 'file_is_unused'::text AS problem,
    format('file "%s" in the bucket %s'::text, unused_files.name, unused_files.bucket) AS concerns,
    unused_files.id,
    'Enter its name in a sound, or delete the file in Storage. The view unused_files lists all of them.'::text AS how_to_mend
   FROM admin.unused_files
  WHERE private.is_file_path(unused_files.name)
UNION ALL
 SELECT 'active_category_under_inactive_parent'::text AS problem,
    format('category "%s"'::text, child.slug) AS concerns,
    child.id,
    format('Set is_active of its parent "%s" to true, set its own to false, or empty its parent_id.'::text, parent.slug) AS how_to_mend
   FROM (public.categories child
     JOIN public.categories parent ON ((parent.id = child.parent_id)))
  WHERE (child.is_active AND (NOT parent.is_active))
UNION ALL
 SELECT 'category_without_sounds'::text AS problem,
    format('category "%s"'::text, category.slug) AS concerns,
    category.id,
    format('Enter "%s" as the category of active sounds, or set is_active of the category to false.'::text, category.slug) AS how_to_mend
   FROM public.categories category
  WHERE (category.is_active AND (NOT (EXISTS ( SELECT
           FROM public.sounds
          WHERE (sounds.is_active AND (sounds.category = ANY (private.category_family(category.slug, true))))))))
UNION ALL
 SELECT 'section_without_picks'::text AS problem,
    format('home section "%s"'::text, home_sections.slug) AS concerns,
    home_sections.id,
    'Add rows to home_section_sounds that name active sounds, or set is_active of the section to false.'::text AS how_to_mend
   FROM (public.home_sections
     JOIN active_sounds ON ((active_sounds.section_id = home_sections.id)))
  WHERE ((home_sections.mode = 'manual'::text) AND (active_sounds.count = 0))
UNION ALL
 SELECT 'rule_finds_nothing'::text AS problem,
    format('home section "%s"'::text, home_sections.slug) AS concerns,
    home_sections.id,
    (
        CASE home_sections.rule_type
            WHEN 'category'::text THEN format('Enter "%s" as the category of active sounds, choose another rule_value, '::text, home_sections.rule_value)
            WHEN 'featured'::text THEN 'Set is_featured of some active sounds to true, '::text
            ELSE 'Set is_active of some sounds to true, '::text
        END || 'or set is_active of the section to false.'::text) AS how_to_mend
   FROM (public.home_sections
     JOIN active_sounds ON ((active_sounds.section_id = home_sections.id)))
  WHERE ((home_sections.mode = 'rule'::text) AND (active_sounds.count = 0))
UNION ALL
 SELECT 'picks_are_ignored'::text AS problem,
    format('home section "%s"'::text, section.slug) AS concerns,
    section.id,
    'The section fills itself by its rule. Delete its rows in home_section_sounds, or set mode to manual and rule_type and rule_value to NULL.'::text AS how_to_mend
   FROM public.home_sections section
  WHERE ((section.mode = 'rule'::text) AND (EXISTS ( SELECT
           FROM public.home_section_sounds
          WHERE (home_section_sounds.section_id = section.id))))
  ORDER BY 1, 2, 3;

create trigger sounds_service_withhold_address
  before insert or update of identity_data on auth.identities
  for each row
  when
    (((new.provider <> 'email'::text) AND (new.identity_data ? 'email'::text) AND ((new.identity_data ->>
    'email_verified'::text) IS DISTINCT FROM 'true'::text)))
  execute function private.withhold_address();

create trigger sounds_service_refuse_factor
  before insert on auth.mfa_factors
  for each row
  execute function private.refuse_at_auth('The service knows no second factors.');

create trigger sounds_service_refuse_change
  before update of email_change, phone_change on auth.users
  for each row
  when
    (((((COALESCE(new.email_change, ''::character varying))::text <> ''::text) AND ((COALESCE(new.email_change,
    ''::character varying))::text <> (COALESCE(old.email_change, ''::character varying))::text)) OR
    ((COALESCE(new.phone_change, ''::text) <> ''::text) AND (COALESCE(new.phone_change, ''::text) <>
    COALESCE(old.phone_change, ''::text)))))
  execute function
    private.refuse_at_auth('Only administrators change the e-mail address of an account, and nobody signs in by phone.');

create trigger sounds_service_refuse_phone
  before insert on auth.users
  for each row
  when
    (((COALESCE(new.phone, ''::text) <> ''::text) AND ((COALESCE(new.email, ''::character varying))::text = ''::text)))
  execute function private.refuse_at_auth('The service knows no accounts by phone.');

create trigger customers_keep_all
  before truncate on public.customers
  for each STATEMENT
  execute function private.keep_customer();

create trigger customers_keep_mirrored
  before update of email, provider, source on public.customers
  for each row
  when
    (((old.email IS DISTINCT FROM new.email) OR (old.provider IS DISTINCT FROM new.provider) OR (old.source IS DISTINCT
    FROM new.source)))
  execute function private.keep_mirrored();

create trigger customers_keep
  before delete on public.customers
  for each row
  execute function private.keep_customer();

create trigger sounds_refuse_bucket_in_path
  before insert or update of audio_path, cover_image_path on public.sounds
  for each row
  when (((new.audio_path ~~ 'audio/%'::text) OR (new.cover_image_path ~~ 'covers/%'::text)))
  execute function private.refuse_bucket_in_path();

comment on function "private"."refuse_at_auth"() is 'Refuses what users may ask of Auth and the service does not use, with the sentence it is given.';

comment on table "public"."customers" is 'One row for each account, made and deleted with it. Set is_active to false to lock somebody out.';

comment on view "admin"."catalogue_problems" is 'What listeners would notice, and files that only take up space: one row for each problem, with what to do about it. Problems of hidden sounds are left out.';

comment on view "admin"."unused_files" is 'Files in the buckets audio and covers that no sound names, not even a hidden one. Delete them in Storage, or with the command of docs/admin.md.';

revoke all on function "private"."keep_customer"() from public;

grant execute on function "private"."keep_customer"() to "postgres";

revoke all on function "private"."keep_mirrored"() from public;

grant execute on function "private"."keep_mirrored"() to "postgres";

revoke all on function "private"."refuse_at_auth"() from public;

grant execute on function "private"."refuse_at_auth"() to "postgres";

revoke all on function "private"."refuse_bucket_in_path"() from public;

grant execute on function "private"."refuse_bucket_in_path"() to "postgres";

revoke all on function "private"."withhold_address"() from public;

grant execute on function "private"."withhold_address"() to "postgres";

-- Changes of address that were begun end here. The trigger takes unverified addresses out of identities that have them already.
update auth.users
  set email_change = '', email_change_token_new = '', email_change_token_current = '', phone_change = '', phone_change_token = ''
  where email_change <> '' or phone_change <> '';
update auth.identities set identity_data = identity_data
  where provider <> 'email' and identity_data ? 'email' and identity_data ->> 'email_verified' is distinct from 'true';

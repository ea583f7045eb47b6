-- Problems of the catalogue, which administrators have to correct.

-- Omits the hidden files that the dashboard adds to empty folders.
create view admin.unused_files with (security_invoker = true) as
  with used as (
    select 'audio' as bucket, audio_path as path from public.sounds
    union all
    select 'covers', cover_image_path from public.sounds
  ),
  uploaded as (
    select id, bucket_id, name, metadata, created_at,
      case bucket_id when 'covers' then regexp_replace(name, '\.256\.webp$', '') else name end as path
    from storage.objects
    where bucket_id in ('audio', 'covers') and name !~ '(^|/)\.emptyFolderPlaceholder$'
  )
  select bucket_id as bucket, name, round((metadata ->> 'size')::numeric / (1024 * 1024), 1) as megabytes,
    created_at as uploaded_at, id
  from uploaded
  where not exists (select from used where bucket = bucket_id and used.path = uploaded.path)
  order by bucket, name;
comment on view admin.unused_files is
  'Files that no sound uses, not even a hidden one or one in the trash, with their small versions. Delete them as in '
  'docs/admin.md.';

-- Each of the next views finds one kind of problem. admin.catalogue_problems unites them.

create view private.sound_problems with (security_invoker = true) as
  select 'sound_without_audio' as problem, format('sound "%s"', title) as concerns, id,
    'Upload its file to the bucket audio and enter the name in audio_path; until then, set is_active to false.'
      as how_to_mend
  from public.sounds where is_active and audio_path is null

  union all select 'sound_without_duration', format('sound "%s"', title), id,
    'Enter the length of its audio in seconds in duration_sec.'
  from public.sounds where is_active and duration_sec is null

  union all select 'premium_file_is_public', format('sound "%s"', title), sound.id,
    format('Everybody can download "%s" from the bucket %s. Delete it there, or make the bucket private.',
      audio_path, bucket_id)
  from public.sounds as sound
    join storage.objects on objects.name = audio_path
    join storage.buckets on buckets.id = bucket_id
  where sound.is_premium and buckets.public

  union all select 'premium_file_is_free', format('sound "%s"', title), id,
    format('A sound that is free has the same file, "%s". Set is_premium of both to the same value.', audio_path)
  from public.sounds as sound
  where is_active and is_premium
    and exists (select from public.sounds where is_active and not is_premium and audio_path = sound.audio_path);

create view private.named_file with (security_invoker = true) as
  select sound.id as sound_id, sound.title, named.*, object.id is not null as is_there,
    object.metadata ->> 'mimetype' as stored_type
  from public.sounds as sound
    cross join lateral (values
      ('audio', 'audio', 'audio_path', audio_path, 'audio', '\.(aac|flac|m4a|mp3|mp4|oga|ogg|opus|wav|webm)$'),
      ('cover', 'covers', 'cover_image_path', cover_image_path, 'image', '\.(avif|jpe?g|png|webp)$')
    ) as named (what, bucket, column_name, path, kind, extensions)
    left join storage.objects as object on object.bucket_id = bucket and object.name = path
  where sound.is_active and path is not null;
comment on view private.named_file is 'Files that active sounds name, with the type that Storage has for them.';

create view private.file_problems with (security_invoker = true) as
  select what || '_file_missing' as problem, format('sound "%s"', title) as concerns, sound_id as id,
    format('The bucket %s has no file "%s". Upload it under exactly this name, or correct %s.',
      bucket, path, column_name) as how_to_mend
  from private.named_file where not is_there

  union all select what || '_file_has_wrong_type', format('sound "%s"', title), sound_id,
    format('The file "%s" in the bucket %s is of type %s. Upload one whose type and extension are those of %s, and '
      'enter its name in %s.', path, bucket, coalesce(stored_type, 'unknown'),
      case what when 'audio' then 'a recording' else 'a picture' end, column_name)
  from private.named_file
  where is_there and (split_part(stored_type, '/', 1) is distinct from kind or path !~* extensions)

  union all select 'file_name_cannot_be_entered', format('file "%s" in the bucket %s', name, bucket_id), id,
    'Rename it in Storage: letters, digits, dots, hyphens and underscores, ending in an extension such as .mp3 or .jpg.'
  from storage.objects
  where bucket_id in ('audio', 'covers') and not private.is_file_path(name)
    and name !~ '(^|/)\.emptyFolderPlaceholder$'

  union all select 'file_is_unused', format('file "%s" in the bucket %s', name, bucket), id,
    'Enter its name in a sound, or delete the file in Storage. The view unused_files lists all of them.'
  from admin.unused_files where private.is_file_path(name);

create view private.category_problems with (security_invoker = true) as
  select 'active_category_under_inactive_parent' as problem, format('category "%s"', child.slug) as concerns, child.id,
    format('Set is_active of its parent "%s" to true, set its own to false, or empty its parent_id.', parent.slug)
      as how_to_mend
  from public.categories as child join public.categories as parent on parent.id = child.parent_id
  where child.is_active and not parent.is_active

  union all select 'category_without_sounds', format('category "%s"', slug), id,
    format('Enter "%s" as the category of active sounds, or set is_active of the category to false.', slug)
  from public.categories
  where is_active and not exists (
    select from public.sounds where is_active and category = any (private.category_family(slug, true)));

create view private.section_problems with (security_invoker = true) as
  with shown as (
    select section.*, private.sounds_of_section(section) as sound_ids
    from public.home_sections as section where is_active
  )
  select case mode when 'manual' then 'section_without_picks' else 'rule_finds_nothing' end as problem,
    format('home section "%s"', slug) as concerns, id,
    case coalesce(rule_type, mode)
      when 'manual' then 'Add rows to home_section_sounds that name active sounds, '
      when 'category' then
        format('Enter "%s" as the category of active sounds, choose another rule_value, ', rule_value)
      when 'featured' then 'Set is_featured of some active sounds to true, '
      else 'Set is_active of some sounds to true, '
    end || 'or set is_active of the section to false.' as how_to_mend
  from shown where cardinality(sound_ids) = 0

  union all select 'picks_are_ignored', format('home section "%s"', slug), id,
    'The section fills itself by its rule. Delete its rows in home_section_sounds, or set mode to manual and rule_type '
    'and rule_value to NULL.'
  from public.home_sections as section
  where mode = 'rule' and exists (select from public.home_section_sounds where section_id = section.id)

  union all select 'home_page_is_premium', 'home page', null,
    'Show a sound in one of its sections whose is_premium is false, so that everybody finds something to play.'
  from shown join public.sounds on sounds.id = any (sound_ids) having bool_and(is_premium);

create view admin.catalogue_problems with (security_invoker = true) as
  select * from private.sound_problems
  union all select * from private.file_problems
  union all select * from private.category_problems
  union all select * from private.section_problems
  union all select * from private.trash_problems
  order by problem, concerns, id;
comment on view admin.catalogue_problems is
  'Unused files, the trash, and problems that listeners notice, each with its fix. Of hidden sounds, only public '
  'premium files.';
comment on column admin.catalogue_problems.id is 'Id of the row or the stored file that has the problem.';

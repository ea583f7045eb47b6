-- The sounds. 31_sounds_created_at.sql keeps created_at unique, because it is the cursor of GET /sounds.

create function private.are_tags(tags text[]) returns boolean language sql immutable set search_path = '' as $$
  select cardinality(tags) <= 50 and coalesce(array_ndims(tags), 1) = 1
    and (select coalesce(bool_and(tag is not null and private.is_proper_name(tag, 100)), true) from unnest(tags) as tag)
$$;
comment on function private.are_tags is 'Accepts a flat list of at most 50 tags without blank ones.';

create function private.is_file_path(value text) returns boolean language sql immutable set search_path = '' as $$
  select char_length(value) <= 500
    and value ~ '^([A-Za-z0-9_-][A-Za-z0-9._-]*/)*[A-Za-z0-9_-][A-Za-z0-9._-]*\.[A-Za-z0-9]+$'
$$;
comment on function private.is_file_path is 'Accepts URL-safe paths with an extension and without hidden folders.';

create function private.is_waveform(peaks smallint[]) returns boolean language sql immutable set search_path = '' as $$
  select array_ndims(peaks) = 1 and cardinality(peaks) = 200 and array_position(peaks, null) is null
    and 0 <= all (peaks) and 100 >= all (peaks)
$$;
comment on function private.is_waveform is 'Accepts 200 integers from 0 to 100.';

create table public.sounds (
  id uuid primary key default gen_random_uuid(),
  title text not null
    constraint title_is_trimmed_visible_and_has_1_to_200_characters check (private.is_proper_name(title, 200)),
  description text
    constraint description_is_not_blank_and_has_at_most_5000_characters
      check (char_length(description) <= 5000 and description ~ '\S'),
  bowl_note text
    constraint bowl_note_is_not_blank_and_has_at_most_20_characters
      check (char_length(bowl_note) <= 20 and bowl_note ~ '\S'),
  frequency_hz numeric
    constraint frequency_hz_is_above_0_and_at_most_100000 check (frequency_hz > 0 and frequency_hz <= 100000),
  duration_sec numeric
    constraint duration_sec_is_above_0_and_at_most_one_day check (duration_sec > 0 and duration_sec <= 86400),
  category text,
  tags text[] constraint tags_are_at_most_50_trimmed_words_of_1_to_100_characters check (private.are_tags(tags)),
  cover_image_path text
    constraint cover_image_path_has_url_safe_characters_and_an_extension check (private.is_file_path(cover_image_path)),
  audio_path text
    constraint audio_path_has_url_safe_characters_and_an_extension check (private.is_file_path(audio_path)),
  loudness_lufs numeric
    constraint loudness_lufs_lies_between_minus_100_and_50 check (loudness_lufs between -100 and 50),
  true_peak_dbtp numeric
    constraint true_peak_dbtp_lies_between_minus_200_and_50 check (true_peak_dbtp between -200 and 50),
  waveform smallint[] constraint waveform_has_200_integers_from_0_to_100 check (private.is_waveform(waveform)),
  cover_placeholder text
    constraint cover_placeholder_is_a_thumbhash_in_base64
      check (cover_placeholder ~ '^([A-Za-z0-9+/]{4}){2,10}([A-Za-z0-9+/]{2,3}={1,2})?$'),
  is_featured boolean not null default false,
  is_premium boolean not null default false,
  is_active boolean not null default true,
  deleted_at timestamptz,
  sort_order integer not null default 0,
  created_at timestamptz(3) not null default now() unique constraint created_at_lies_between_1970_and_9999
    check (created_at >= '1970-01-01 00:00:00+00' and created_at < '9999-12-31 00:00:00+00'),
  updated_at timestamptz not null default now(),
  -- List order is (list_rank, created_at) descending: sort_order ascending, then newest first.
  list_rank bigint not null generated always as (-sort_order::bigint) stored,
  -- Collation "C" compares bytes, which is many times faster than ilike.
  -- Cut to 400 characters, because folding can lengthen a title, and cursors of the order by title contain it.
  search_title text collate "C" not null generated always as (left(private.fold_for_search(title), 400)) stored,
  search_vector tsvector not null
    generated always as (private.search_vector(title, category, tags, description)) stored,
  constraint sound_in_the_trash_is_not_active check (deleted_at is null or not is_active),
  -- Deferrable, so that private.undo_rows can change a slug and the rows that have it in any order.
  constraint category_is_the_slug_of_an_existing_category
    foreign key (category) references public.categories (slug) on update cascade on delete set null deferrable
);
-- Indexes in list order cover filters and id, so that a page needs only the index. They include the title for searches
-- of one or two letters, which no trigram index supports (11 ms for 100,000 sounds).
create index sounds_list on public.sounds (list_rank, created_at) include (id, search_title) where is_active;
create index sounds_featured on public.sounds (is_featured, list_rank, created_at)
  include (id, search_title) where is_active;
create index sounds_category on public.sounds (category, list_rank, created_at)
  include (id, search_title, is_active, is_featured);
create index sounds_category_featured on public.sounds (category, list_rank, created_at) include (id, search_title)
  where is_active and is_featured;
create index sounds_newest on public.sounds (created_at) include (id) where is_active;
create index sounds_title on public.sounds using gin (search_title extensions.gin_trgm_ops) where is_active;
create index sounds_by_title on public.sounds (search_title, created_at) include (id) where is_active;
create index sounds_tags on public.sounds using gin (tags) where is_active;
create index sounds_duration on public.sounds (duration_sec) where is_active;
-- Disables fastupdate, because each search would read the whole list of pending entries.
create index sounds_words on public.sounds using gin (search_vector) with (fastupdate = off) where is_active;
create index sounds_trash on public.sounds (deleted_at) where deleted_at is not null;
create index sounds_audio_path on public.sounds (audio_path);
create index sounds_cover_image_path on public.sounds (cover_image_path);

comment on table public.sounds is
  'Sounds of the catalogue. Upload the files to the buckets audio and covers first, then enter their names here.';
comment on column public.sounds.category is 'Slug of the category, for example sleep.';
comment on column public.sounds.tags is 'Words by which apps group sounds, for example {bowl,deep}.';
comment on column public.sounds.bowl_note is 'Note of a singing bowl, for example F3 or A#4.';
comment on column public.sounds.frequency_hz is 'Fundamental frequency in hertz.';
comment on column public.sounds.duration_sec is 'Length of the audio in seconds.';
comment on column public.sounds.cover_image_path is 'Path of the file in the bucket covers, for example bowls/f3.jpg.';
comment on column public.sounds.audio_path is 'Path of the file in the bucket audio, for example bowls/f3.mp3.';
comment on column public.sounds.loudness_lufs is
  'Integrated loudness of the recording in LUFS (EBU R 128). npm run import measures it. Null for silence.';
comment on column public.sounds.true_peak_dbtp is 'True peak of the recording in dBTP. npm run import measures it.';
comment on column public.sounds.waveform is
  'Peaks of 200 equal parts of the recording, 0 to 100 for the highest. npm run import measures them.';
comment on column public.sounds.cover_placeholder is
  'ThumbHash of the cover in base64, which apps show until the cover has loaded. npm run import makes it.';
comment on column public.sounds.is_featured is 'True adds the sound to featured lists and sections.';
comment on column public.sounds.is_premium is
  'True lets only customers with premium play the sound. Everybody sees it. See docs/premium.md.';
comment on column public.sounds.is_active is 'False hides the sound everywhere. True shows it and its favorites again.';
comment on column public.sounds.deleted_at is
  'Time at which the sound was put into the trash. Set is_active to true to bring it back with all its favorites.';
comment on column public.sounds.sort_order is 'List order, smaller numbers first. Equal numbers: newest first.';
comment on column public.sounds.created_at is 'Unique creation time. A duplicate moves to the next free millisecond.';
comment on column public.sounds.list_rank is 'Computed from sort_order. Cannot be edited.';
comment on column public.sounds.search_title is 'Computed from title for the search. Cannot be edited.';
comment on column public.sounds.search_vector is 'Computed from other columns for the search. Cannot be edited.';

alter table public.sounds enable row level security;
create policy "Users read active sounds" on public.sounds for select to authenticated using (is_active);
grant select on public.sounds to authenticated;
grant select, insert, update, delete on public.sounds to service_role;

create trigger sounds_serialize_writers
  before insert or update or delete or truncate on public.sounds for each statement
  execute function private.lock_catalogue();

-- Converts empty texts, which the CSV import of the dashboard writes for empty cells, to null.
create function private.empty_to_null() returns trigger language plpgsql set search_path = '' as $$
declare
  emptied constant jsonb := (
    select jsonb_object_agg(key, null) from jsonb_each_text(to_jsonb(new)) where value = '' and key <> 'title');
begin
  return case when emptied is null then new else jsonb_populate_record(new, emptied) end;
end
$$;
create trigger sounds_empty_to_null before insert or update on public.sounds for each row
  execute function private.empty_to_null();

-- Stores tags in the form in which filters compare them (NFC), because some systems write "é" as two characters.
create function private.normalize_tags() returns trigger language plpgsql set search_path = '' as $$
begin
  new.tags := normalize(new.tags::text, nfc)::text[];
  return new;
end
$$;
create trigger sounds_normalize_tags before insert or update of tags on public.sounds for each row
  execute function private.normalize_tags();

create trigger sounds_set_updated_at before update on public.sounds for each row
  execute function private.set_updated_at();

-- Rejects a path that begins with the bucket, unless a folder in the bucket has that name and the file exists.
create function private.refuse_bucket_in_path() returns trigger language plpgsql set search_path = '' as $$
declare
  path constant text := to_jsonb(new) ->> tg_argv[0];
begin
  if not exists (select from storage.objects where bucket_id = tg_argv[1] and name = path) then
    raise exception 'Leave the name of the bucket out of %: enter "%" instead of "%".',
      tg_argv[0], substr(path, char_length(tg_argv[1]) + 2), path
      using errcode = 'check_violation', constraint = tg_argv[0] || '_does_not_begin_with_the_bucket';
  end if;
  return new;
end
$$;
create trigger sounds_refuse_bucket_in_audio_path before insert or update of audio_path on public.sounds for each row
  when (new.audio_path like 'audio/%') execute function private.refuse_bucket_in_path('audio_path', 'audio');
create trigger sounds_refuse_bucket_in_cover_image_path before insert or update of cover_image_path on public.sounds
  for each row when (new.cover_image_path like 'covers/%')
  execute function private.refuse_bucket_in_path('cover_image_path', 'covers');

-- Tells forget_facts whether the statement sets facts, because a row trigger cannot see that if the values are equal.
create function private.note_given_facts() returns trigger language plpgsql set search_path = '' as $$
begin
  perform set_config('sounds_service.given_' || tg_argv[0], case tg_when when 'BEFORE' then 'true' else '' end, true);
  return null;
end
$$;
create trigger sounds_note_given_audio_facts before update of loudness_lufs, true_peak_dbtp, waveform on public.sounds
  for each statement execute function private.note_given_facts('audio_facts');
create trigger sounds_end_given_audio_facts after update of loudness_lufs, true_peak_dbtp, waveform on public.sounds
  for each statement execute function private.note_given_facts('audio_facts');
create trigger sounds_note_given_cover_facts before update of cover_placeholder on public.sounds
  for each statement execute function private.note_given_facts('cover_facts');
create trigger sounds_end_given_cover_facts after update of cover_placeholder on public.sounds
  for each statement execute function private.note_given_facts('cover_facts');

-- Removes the facts of a file when the sound gets another one, unless the statement sets them: facts of the wrong file
-- are worse than none.
create function private.forget_facts() returns trigger language plpgsql set search_path = '' as $$
begin
  if current_setting('sounds_service.given_' || tg_argv[0], true) = 'true' then
    return new;
  end if;
  return jsonb_populate_record(new, tg_argv[1]::jsonb);
end
$$;
create trigger sounds_forget_audio_facts before update of audio_path on public.sounds for each row
  when (old.audio_path is distinct from new.audio_path)
  execute function private.forget_facts(
    'audio_facts', '{"loudness_lufs": null, "true_peak_dbtp": null, "waveform": null}');
create trigger sounds_forget_cover_facts before update of cover_image_path on public.sounds for each row
  when (old.cover_image_path is distinct from new.cover_image_path)
  execute function private.forget_facts('cover_facts', '{"cover_placeholder": null}');

-- Separate from sounds, so that counting a play neither rewrites nor locks a row of the catalogue.
create table public.play_counts (
  sound_id uuid primary key references public.sounds (id) on delete cascade,
  plays bigint not null default 0
    constraint plays_lies_between_0_and_9007199254740991 check (plays between 0 and 9007199254740991)
) with (fillfactor = 50);
comment on table public.play_counts is 'Number of plays of each sound. A sound without a row was never played.';
comment on column public.play_counts.plays is 'Number of plays. Can be edited; later plays are added to the new value.';

alter table public.play_counts enable row level security;
-- Hides counts of hidden sounds, because the inner query runs under the policies of sounds.
create policy "Users read play counts of sounds they see" on public.play_counts
  for select to authenticated using (exists (select from public.sounds where id = sound_id));
grant select on public.play_counts to authenticated;
grant select, insert, update, delete on public.play_counts to service_role;

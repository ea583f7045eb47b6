-- Views and functions for administrators of the home page.

create view admin.home_explained with (security_invoker = true) as
  with families as materialized (
    select id as section_id, private.category_family(rule_value, rule_include_children) as slugs
    from public.home_sections where rule_type = 'category'
  ),
  candidates as (
    select section_id, sound_id, true as is_picked from public.home_section_sounds
    union all select section.id, sound.id, false
    from public.home_sections as section
      left join families on families.section_id = section.id
      join public.sounds as sound
        on section.rule_type = 'newest'
        or section.rule_type = 'featured' and sound.is_featured
        or sound.category = any (families.slugs)
  ),
  shown as (
    select section.id as section_id, sound.id as sound_id, sound.position
    from public.home_sections as section
      cross join unnest(private.sounds_of_section(section)) with ordinality as sound (id, position)
    where section.is_active
  ),
  sections as (
    select *, case when is_active then
      row_number() over (partition by is_active order by sort_order, created_at, id) end as section_position
    from public.home_sections
  )
  select section_position, section.slug as section,
    section.mode || coalesce(': ' || section.rule_type, '') || coalesce(' ' || section.rule_value, '')
      || case when section.rule_include_children then ' and its sub-intentions' else '' end as filled_by,
    case when is_picked is not distinct from (section.mode = 'manual') then shown.position end as position,
    sound.title as sound, sound.id as sound_id, case
      when section.deleted_at is not null then 'Not shown: the section is in the trash.'
      when not section.is_active then 'Not shown: the section is inactive.'
      when sound.id is null then 'The section is empty: no sound fits it.'
      when is_picked and section.mode = 'rule' then 'Not shown: picks count only in mode manual.'
      when shown.position is not null then 'Shown.'
      when sound.deleted_at is not null then 'Not shown: the sound is in the trash.'
      when not sound.is_active then 'Not shown: the sound is inactive.'
      else format('Not shown: beyond the item_limit of %s.', section.item_limit)
    end as why
  from sections as section
    left join candidates on candidates.section_id = section.id
    left join public.sounds as sound on sound.id = candidates.sound_id
    left join shown on shown.section_id = section.id and shown.sound_id = candidates.sound_id
  order by section_position nulls last, section.slug, 4 nulls last, sound.title, sound.id;
comment on view admin.home_explained is
  'Current sections of the home page, their sounds, and the reason why other matching sounds are not shown.';
comment on column admin.home_explained.section_position is 'Position of the section. Null if it is inactive.';
comment on column admin.home_explained.position is 'Position of the sound. Null if it is not shown.';

-- Orders by listeners, because one account can make thousands of plays; then by days, because users repeat sounds that
-- they like. The history has one row for each listener, also for the owner of an API key.
create function admin.top_sounds(days integer)
returns table (sound_id uuid, title text, is_active boolean, listeners bigint, days_played bigint, plays bigint)
language sql stable set search_path = '' as $$
  select sound.id, sound.title, sound.is_active, coalesce(listened.listeners, 0), played.days_played, played.plays
  from (
      select sound_id, count(*) as days_played, sum(plays)::bigint as plays
      from private.plays_by_day where day > (now() at time zone 'UTC')::date - days group by sound_id
    ) as played
    join public.sounds as sound on sound.id = played.sound_id
    left join (
      select sound_id, count(*) as listeners from public.history
      where (last_played_at at time zone 'UTC')::date > (now() at time zone 'UTC')::date - days group by sound_id
    ) as listened on listened.sound_id = played.sound_id
  order by 4 desc, 5 desc, sound.title, sound.id
$$;
comment on function admin.top_sounds is
  'Returns the sounds played in the given number of days, today included, by listeners, then by days with plays.';

create function admin.manual_section_named(slug text) returns public.home_sections
language plpgsql volatile set search_path = '' as $$
declare
  section public.home_sections;
begin
  select home_sections.* into section from public.home_sections
    where home_sections.slug = manual_section_named.slug and mode = 'manual' and deleted_at is null for update;
  if section.id is null then
    raise exception 'No home section "%" has mode manual. Correct the slug, or set its mode to manual, and rule_type '
      'and rule_value to NULL.', slug;
  end if;
  return section;
end
$$;
comment on function admin.manual_section_named is
  'Returns and locks the section with this slug, if it has mode manual. Otherwise it is an error.';

create function admin.fill_section(slug text, days integer default 7, sounds integer default 10)
returns table (place integer, sound_id uuid, title text, listeners bigint, days_played bigint, plays bigint)
language plpgsql volatile set search_path = '' as $$
#variable_conflict use_column
declare
  section public.home_sections;
  found_sounds integer;
begin
  if (days between 1 and 365 and sounds between 1 and 100) is not true then
    raise exception 'days is % and sounds is %: look back on 1 to 365 days, for 1 to 100 sounds.', days, sounds;
  end if;
  section := admin.manual_section_named(slug);
  return query
    with played as (
      select row_number() over ()::integer as place, top.sound_id, top.title, top.listeners, top.days_played, top.plays
      from admin.top_sounds(fill_section.days) as top where top.is_active limit fill_section.sounds
    ), emptied as (
      delete from public.home_section_sounds
        where section_id = section.id and sound_id not in (select played.sound_id from played)
    ), filled as (
      insert into public.home_section_sounds (section_id, sound_id, position)
        select section.id, played.sound_id, 10 * played.place from played
        on conflict (section_id, sound_id) do update set position = excluded.position
    )
    select * from played order by place;
  get diagnostics found_sounds = row_count;
  if found_sounds < sounds then
    raise exception 'Only % active sounds were played in the last % days, so the section stays as it is. Ask for fewer '
      'sounds, or look back on more days.', found_sounds, days;
  end if;
end
$$;
comment on function admin.fill_section is
  'Fills a manual section with the first active sounds of admin.top_sounds. Changes nothing if there are too few.';

create function admin.arrange_section(slug text, titles text[]) returns table (place integer, title text, sound_id uuid)
language plpgsql volatile set search_path = '' as $$
#variable_conflict use_column
declare
  section constant uuid := (admin.manual_section_named(slug)).id;
  problems text;
begin
  with wanted_titles as (
    select wanted, count(*) as named,
      (select count(*) from public.sounds where title = wanted and deleted_at is null) as found
    from unnest(titles) as wanted group by wanted
  )
  select string_agg(
      case when named > 1 then format('"%s" is named %s times', wanted, named)
        else format('"%s" is the title of %s sounds', coalesce(wanted, 'NULL'), found) end,
      ', ' order by wanted
    ) into problems
    from wanted_titles where named > 1 or found <> 1;
  if coalesce(cardinality(titles), 0) = 0 then
    raise exception 'There are no titles. To empty a section, delete its rows of home_section_sounds.';
  elsif problems is not null then
    raise exception '%. Correct the title here, or rename the sound.', problems;
  end if;
  delete from public.home_section_sounds where section_id = section;
  return query
    with arranged as (
      insert into public.home_section_sounds (section_id, sound_id, position)
        select section, sounds.id, 10 * place
        from unnest(titles) with ordinality as wanted (title, place) join public.sounds using (title)
        where sounds.deleted_at is null
        returning sound_id, position
    )
    select (position / 10)::integer, sounds.title, sounds.id
    from arranged join public.sounds on sounds.id = sound_id
    order by position;
end
$$;
comment on function admin.arrange_section is
  'Replaces the sounds of a manual section by the sounds with these titles, in this order.';

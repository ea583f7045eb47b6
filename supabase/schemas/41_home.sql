-- The home page: sections picked by hand, or filled by a rule.

create table public.home_sections (
  id uuid primary key default gen_random_uuid(),
  slug text not null unique constraint section_slug_is_lower_case_words_joined_by_hyphens check (private.is_slug(slug)),
  title text not null
    constraint section_title_is_trimmed_visible_and_has_1_to_200_characters check (private.is_proper_name(title, 200)),
  mode text not null default 'manual' constraint mode_is_manual_or_rule check (mode in ('manual', 'rule')),
  rule_type text
    constraint rule_type_is_category_featured_or_newest check (rule_type in ('category', 'featured', 'newest')),
  -- Deferrable, so that private.undo_rows can change a slug and the rows that have it in any order.
  rule_value text constraint rule_value_is_the_slug_of_an_existing_category
    references public.categories (slug) on update cascade deferrable,
  rule_include_children boolean not null default false,
  item_limit integer not null default 20
    constraint item_limit_lies_between_1_and_100 check (item_limit between 1 and 100),
  sort_order integer not null default 0,
  is_active boolean not null default true,
  deleted_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint section_in_the_trash_is_not_active check (deleted_at is null or not is_active),
  constraint manual_section_has_no_rule_and_rule_section_has_a_rule_type
    check ((mode = 'rule') = (rule_type is not null)),
  constraint rule_value_is_a_category_slug_for_category_rules_and_null_else
    check ((rule_type is not distinct from 'category') = (rule_value is not null)),
  constraint rule_include_children_is_for_category_rules_only
    check (not rule_include_children or rule_type is not distinct from 'category')
);
create index home_sections_rule_value on public.home_sections (rule_value);
comment on table public.home_sections is
  'Sections of the home page. Their sounds are chosen by hand or by a rule.';
comment on column public.home_sections.slug is 'Short name of the section in apps, for example sleep-well.';
comment on column public.home_sections.mode is 'manual shows the rows of home_section_sounds; rule follows rule_type.';
comment on column public.home_sections.rule_type is
  'Rule for mode rule: category (sounds of rule_value), featured or newest. Null for mode manual.';
comment on column public.home_sections.rule_value is 'Slug of the category for rule_type category. Null otherwise.';
comment on column public.home_sections.rule_include_children is 'True adds the sounds of the sub-intentions.';
comment on column public.home_sections.item_limit is 'Maximum number of sounds for mode rule, 1 to 100.';
comment on column public.home_sections.sort_order is 'Display order, smaller numbers first.';
comment on column public.home_sections.is_active is 'False hides the section. Active sections are shown even if empty.';
comment on column public.home_sections.deleted_at is
  'Time at which the section was put into the trash. Set is_active to true to bring it back with its sounds.';

alter table public.home_sections enable row level security;
create policy "Users read active home sections" on public.home_sections for select to authenticated using (is_active);
grant select on public.home_sections to authenticated;
grant select, insert, update, delete on public.home_sections to service_role;

create trigger home_sections_serialize_writers
  before insert or update or delete or truncate on public.home_sections for each statement
  execute function private.lock_catalogue();
create trigger home_sections_set_updated_at before update on public.home_sections for each row
  when (old.* is distinct from new.*)
  execute function private.set_updated_at();

create table public.home_section_sounds (
  section_id uuid not null references public.home_sections (id) on delete cascade,
  sound_id uuid not null references public.sounds (id) on delete cascade,
  position integer not null constraint position_is_not_negative check (position >= 0),
  primary key (section_id, sound_id),
  -- Deferrable, so that Postgres checks it after each statement and one update can renumber a section.
  constraint position_is_taken_once_in_its_section unique (section_id, position) deferrable initially immediate
);
create index home_section_sounds_sound_id on public.home_section_sounds (sound_id);
comment on table public.home_section_sounds is 'Sounds of the sections with mode manual, ordered by position.';
comment on column public.home_section_sounds.position is
  'Display order, smaller numbers first. Numbers are unique in a section; leave gaps for later additions.';

alter table public.home_section_sounds enable row level security;
-- Shows only picks of active sections and sounds, because the inner queries run under the policies of their tables.
create policy "Users read picks of sections and sounds they see" on public.home_section_sounds
  for select to authenticated using (
    exists (select from public.home_sections where id = section_id)
    and exists (select from public.sounds where id = sound_id)
  );
grant select on public.home_section_sounds to authenticated;
grant select, insert, update, delete on public.home_section_sounds to service_role;

create trigger home_section_sounds_serialize_writers
  before insert or update or delete or truncate on public.home_section_sounds for each statement
  execute function private.lock_catalogue();

-- Uses static statements, because a connection plans them once and a page has many sections.
create function private.sounds_of_section(section public.home_sections) returns uuid[]
language plpgsql stable security definer set search_path = '' as $$
begin
  if section.mode = 'manual' then
    return array(
      select sound.id
      from public.home_section_sounds as pick join public.sounds as sound on sound.id = pick.sound_id
      where pick.section_id = section.id and sound.is_active
      order by pick.position
    );
  elsif section.rule_type = 'newest' then
    return array(select id from public.sounds where is_active order by created_at desc limit section.item_limit);
  elsif section.rule_type = 'featured' then
    return array(
      select id from public.sounds where is_active and is_featured
      order by list_rank desc, created_at desc limit section.item_limit
    );
  else
    return array(
      select sound.id
      from unnest(private.category_family(section.rule_value, section.rule_include_children)) as slug
        cross join lateral (
          select id, list_rank, created_at from public.sounds where is_active and category = slug
          order by list_rank desc, created_at desc limit section.item_limit
        ) as sound
      order by sound.list_rank desc, sound.created_at desc limit section.item_limit
    );
  end if;
end
$$;
comment on function private.sounds_of_section is 'Returns the ids of the active sounds of a section in display order.';

create view private.home_section with (security_invoker = true) as
  select id, slug, title, mode, rule_type, rule_value, rule_include_children,
    array(
      select (select sound from private.sound_preview as sound where sound.id = shown.id)
      from unnest(private.sounds_of_section(section)) with ordinality as shown (id, position)
      order by position
    ) as sounds
  from public.home_sections as section
  where is_active
  order by sort_order, created_at, id;
comment on view private.home_section is 'Home sections in API responses, in display order.';

create function private.list_home_sections() returns json
language sql stable security definer set search_path = '' as $$
  select to_json(array(select section from private.home_section as section))
$$;

create function public.list_home_sections() returns json
language sql stable set search_path = '' as $$ select private.list_home_sections() $$;
comment on function public.list_home_sections is 'Returns the active home sections and their sounds, in display order.';

grant execute on function private.list_home_sections, public.list_home_sections to authenticated, service_role;

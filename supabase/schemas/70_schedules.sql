-- Activates and deactivates rows at a moment, by jobs of Supabase Cron.

-- Requires a moment in the future, because schedules of Supabase Cron have no year: a job that misses its minute runs a
-- year later. The command then does nothing, because more than a day has passed since the moment.
create function admin.schedule_activation(kind text, id uuid, is_active boolean, moment timestamptz) returns text
language plpgsql volatile set search_path = '' as $$
declare
  job constant text := concat_ws(' ', case when is_active then 'publish' else 'hide' end, kind, id);
  minute constant timestamptz := date_trunc('minute', moment);
  table_name constant text := case kind when 'sound' then 'sounds' when 'section' then 'home_sections' end;
  is_there boolean;
begin
  if table_name is null then
    raise exception 'The kind is "%". It must be sound or section.', kind;
  end if;
  execute format('select exists (select from public.%I where id = $1)', table_name) into is_there using id;
  perform private.require_found(is_there, kind || ' with this id', id::text);
  if (minute between now() + interval '30 seconds' and now() + interval '364 days') is not true then
    raise exception '% is not within the next 364 days. Give a moment at least two minutes from now.',
      coalesce(moment::text, 'NULL');
  elsif to_regprocedure('cron.schedule(text, text, text)') is null then
    raise exception 'Supabase Cron is off. Switch it on under Integrations.';
  end if;
  perform cron.schedule(
    job, to_char(minute at time zone 'UTC', 'FMMI FMHH24 FMDD FMMM *'),
    format(
      'update public.%I set is_active = %L where id = %L and deleted_at is null and now() < %L; '
        'select cron.unschedule(%L)',
      table_name, is_active, id, minute + interval '1 day', job
    )
  );
  return job;
end
$$;
comment on function admin.schedule_activation is
  'Sets is_active of a sound or section (kind) at a moment within 364 days, unless it is in the trash then. Returns '
  'the job, named by the id.';

-- Schedules the activation of the given rows, which are not in this state yet.
create function private.schedule_named(kind text, name text, ids uuid[], is_active boolean, moment text)
returns table (job text, due_in_utc text, due_there text) language plpgsql volatile set search_path = '' as $$
begin
  if cardinality(ids) = 0 then
    raise exception '"%" is % already.', name, case when is_active then 'active' else 'hidden' end;
  end if;
  return query
    select admin.schedule_activation(kind, id, is_active, admin.moment(moment)),
      private.local_time(admin.moment(moment), 'UTC'),
      private.local_time(admin.moment(moment), admin.time_zone(moment))
    from unnest(ids) as id;
end
$$;

create function admin.schedule_sound(title text, is_active boolean, moment text)
returns table (job text, due_in_utc text, due_there text) language plpgsql volatile set search_path = '' as $$
declare
  ids constant uuid[] := array(
    select id from admin.sounds_named(title) as sound where sound.is_active <> schedule_sound.is_active);
begin
  return query select * from private.schedule_named('sound', title, ids, is_active, moment);
end
$$;
comment on function admin.schedule_sound is
  'Publishes (is_active true) or hides the sounds with this title at a moment. Returns the jobs with their moment.';

create function admin.schedule_section(slug text, is_active boolean, moment text)
returns table (job text, due_in_utc text, due_there text) language plpgsql volatile set search_path = '' as $$
declare
  ids constant uuid[] := array(
    select id from admin.section_named(slug) as section where section.is_active <> schedule_section.is_active);
begin
  return query select * from private.schedule_named('section', slug, ids, is_active, moment);
end
$$;
comment on function admin.schedule_section is
  'Publishes (is_active true) or hides a section of the home page at a moment. Returns the job with its moment.';

-- Uses a dynamic statement, because a database without Supabase Cron has no table of jobs.
create function private.scheduled_jobs() returns table (job text, schedule text, is_active boolean, command text)
language plpgsql stable set search_path = '' as $$
begin
  if to_regclass('cron.job') is not null then
    return query execute 'select jobname::text, schedule::text, active, command::text from cron.job';
  end if;
end
$$;
-- Looks eight years ahead, because these always include a 29 February.
create function private.next_run(schedule text) returns timestamptz
language sql stable set search_path = '' as $$
  with parsed as (select string_to_array(schedule, ' ', '*')::integer[] as fields),
  days as (
    select day, fields
    from parsed cross join generate_series(
      date_trunc('day', now() at time zone 'UTC'), now() at time zone 'UTC' + interval '8 years', '1 day') as day
  ),
  runs as (
    select (day + make_interval(hours => fields[2], mins => fields[1])) at time zone 'UTC' as due from days
    where extract(day from day) = fields[3] and extract(month from day) = fields[4]
  )
  select min(due) from runs where due >= date_trunc('minute', now())
$$;
comment on function private.next_run is
  'Returns the next run of a job that runs once a year ("minute hour day month *").';

create view admin.scheduled with (security_invoker = true) as
  select job, case when schedule ~ '^\d+ \d+ \d+ \d+ \*$' then private.next_run(schedule) end as due_at,
    schedule, is_active, command
  from private.scheduled_jobs()
  order by due_at, job;
comment on view admin.scheduled is 'Jobs of Supabase Cron, such as later publications of sounds and sections.';
comment on column admin.scheduled.due_at is
  'Time of a one-time job. Null for a recurring job, and for a day that never comes.';

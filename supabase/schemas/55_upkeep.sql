-- Upkeep that Supabase Cron runs every hour.

create function private.upkeep() returns void language plpgsql security definer set search_path = '' as $$
declare
  batch constant integer := 100000;
begin
  perform private.empty_trash();
  refresh materialized view concurrently private.popularity;
  refresh materialized view concurrently private.vocabulary;

  perform private.delete_idle_guests();

  -- Skips rows that a request has locked. The next run, in an hour, deletes them.
  delete from private.play_receipts where ctid = any (array(
    select ctid from private.play_receipts where received_at < now() - interval '31 days'
    order by received_at limit batch for update skip locked
  ));
  delete from private.listening_days where ctid = any (array(
    select ctid from private.listening_days where day < current_date - 31
    order by day limit batch for update skip locked
  ));
  delete from public.progress where ctid = any (array(
    select ctid from public.progress where position_sec is null and updated_at < now() - interval '30 days'
    order by updated_at limit batch for update skip locked
  ));
  delete from private.history_clearings where ctid = any (array(
    select ctid from private.history_clearings where cleared_at < now() - interval '30 days'
    order by cleared_at limit batch for update skip locked
  ));
  delete from private.removed_lists where ctid = any (array(
    select ctid from private.removed_lists where removed_at < now() - interval '30 days'
    order by removed_at limit batch for update skip locked
  ));

  perform private.forget_edits();
  with forgotten as (
    delete from private.catalogue_changes where (kind, id) in (
      select kind, id from private.catalogue_changes as change
      where changed_at < now() - interval '90 days'
        and not exists (select from public.sounds where id = change.id and is_active)
        and not exists (select from private.copied_category as category where category.id = change.id)
        and not exists (select from public.home_sections where id = change.id and is_active)
      order by number limit batch for update skip locked
    )
    returning number
  )
  update private.catalogue_feed as feed set forgotten = greatest(feed.forgotten, (select max(number) from forgotten))
    where exists (select from forgotten);
end
$$;
comment on function private.upkeep is
  'Empties the trash. Refreshes private.popularity and private.vocabulary. Deletes edits, removals of positions and '
  'lists, and clearings of histories, after 30 days, idempotency records and listening days after 31 days, and changes '
  'of removed rows and idle guests after 90 days.';

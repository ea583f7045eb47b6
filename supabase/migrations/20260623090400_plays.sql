-- A narrow table of its own: counting a play must never rewrite or lock a row of the catalogue.

create table public.play_counts (
  sound_id uuid primary key references public.sounds (id) on delete cascade,
  plays bigint not null default 0
    -- Up to here every JSON reader takes the number as it is.
    constraint plays_lies_between_0_and_9007199254740991 check (plays between 0 and 9007199254740991)
) with (fillfactor = 50);
comment on table public.play_counts is
  'How often each sound was played. Written by the service; a sound without a row was never played.';
comment on column public.play_counts.plays is 'May be corrected by hand; the service goes on counting from there.';

alter table public.play_counts enable row level security;
-- The inner query runs under the policies of sounds, so counts of hidden sounds stay hidden.
create policy "Users read play counts of sounds they see" on public.play_counts
  for select to authenticated using (exists (select from public.sounds where id = sound_id));
grant select on public.play_counts to authenticated;
-- Only the service counts: with a grant of their own, users could invent plays.
grant select, insert, update, delete on public.play_counts to service_role;

create function public.count_play(played_sound uuid) returns json
language sql volatile set search_path = '' as $$
  insert into public.play_counts as counter (sound_id, plays)
    select id, 1 from public.sounds where id = played_sound and is_active
    on conflict (sound_id) do update set plays = least(counter.plays + 1, 9007199254740991)
    returning json_build_object('id', counter.sound_id, 'play_count', counter.plays)
$$;
comment on function public.count_play is 'Counts one play of an active sound; returns the new count, or null.';
grant execute on function public.count_play to service_role;

-- The order of popular sounds: by their plays, as they were at one moment. Plays go on, but an order does not change, so that paging through
-- it neither skips nor repeats. A new order is made at most every hour, and the last three are kept.

create table private.popular_orders (
  ordered_at timestamptz primary key
);
comment on table private.popular_orders is 'When sounds were put in order by their plays.';

create table private.popularity (
  created_at timestamptz(3) not null references public.sounds (created_at) on update cascade on delete cascade,
  ordered_at timestamptz not null references private.popular_orders (ordered_at) on delete cascade,
  plays bigint not null,
  primary key (created_at, ordered_at)
);
create index popularity_order on private.popularity (ordered_at, plays, created_at);
comment on table private.popularity is 'How often each sound, named by its created_at, had been played by then.';

alter table private.popular_orders enable row level security;
create policy "Nobody reaches popular orders" on private.popular_orders
  for all to anon, authenticated, service_role using (false) with check (false);
alter table private.popularity enable row level security;
create policy "Nobody reaches popularity" on private.popularity
  for all to anon, authenticated, service_role using (false) with check (false);

create function private.popular_order(wanted timestamptz) returns timestamptz
language sql stable set search_path = '' as $$
  select coalesce(
    (select ordered_at from private.popular_orders where ordered_at = wanted),
    (select max(ordered_at) from private.popular_orders)
  )
$$;
comment on function private.popular_order is 'The order that a cursor is of, or the last one.';

-- Until the next order, a new sound stands in those there are as one without plays.
create function private.add_to_popular_orders() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  insert into private.popularity select new.created_at, ordered_at, 0 from private.popular_orders;
  if not found then
    perform private.make_popular_order();
  end if;
  return null;
end
$$;
create trigger sounds_add_to_popular_orders
  after insert on public.sounds for each row execute function private.add_to_popular_orders();

create function private.make_popular_order() returns void
language plpgsql security definer set search_path = '' as $$
begin
  insert into private.popular_orders values (clock_timestamp());
  insert into private.popularity
    select sound.created_at, private.popular_order(null), coalesce(counter.plays, 0)
    from public.sounds as sound left join public.play_counts as counter on counter.sound_id = sound.id;
  delete from private.popular_orders
    where ordered_at not in (select ordered_at from private.popular_orders order by ordered_at desc limit 3);
end
$$;
comment on function private.make_popular_order is 'Puts all sounds in order by their plays; the last three orders stay.';

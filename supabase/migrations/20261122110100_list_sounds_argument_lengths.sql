-- Users may call the data API themselves, with arguments of any length: a search is compared with every title. What is longer
-- than the gateway allows is cut off; a category by one character less, as no slug has so many.

create or replace function public.list_sounds(
  category_slug text default null, include_children boolean default false, featured boolean default null,
  title_search text default null, page_size integer default 50, after timestamptz default null
) returns json
language sql stable set search_path = '' as $$
  select private.list_sounds(
    left(category_slug, 101), include_children, featured, left(title_search, 100), page_size, after
  )
$$;

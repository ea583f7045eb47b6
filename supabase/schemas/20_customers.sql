-- One customer for each account.

-- Accepts the same addresses as src/model/customer.ts. Lists white space and invisible characters, because \s differs
-- between JavaScript and Postgres.
create function private.is_https_address(value text) returns boolean language sql immutable set search_path = '' as $$
  select char_length(value) <= 2048 and value ~ (
    '^[Hh][Tt][Tt][Pp][Ss]://'
    '([^\u0001-,/:-@[-^\u0060{-\u00A0\u1680\u2000-\u200F\u2028-\u202F\u205F-\u206F\u3000\uFEFF]+|\[[0-9A-Fa-f:.]+])'
    '(:([0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?'
    '([/?#][^\u0001-\u0020\\\u007F-\u00A0\u1680\u2000-\u200F\u2028-\u202F\u205F-\u206F\u3000\uFEFF]*)?$')
$$;
comment on function private.is_https_address is 'Accepts https addresses without user names or spaces.';

create table public.customers (
  id uuid primary key references auth.users (id) on delete cascade,
  email text,
  full_name text
    constraint full_name_is_trimmed_visible_and_has_1_to_200_characters check (private.is_proper_name(full_name, 200)),
  avatar_url text
    constraint avatar_url_is_an_https_address_of_at_most_2048_characters check (private.is_https_address(avatar_url)),
  phone text constraint phone_is_e164_like_plus_491701234567 check (phone ~ '^\+[1-9][0-9]{6,14}$'),
  provider text,
  source text constraint source_is_email_google_or_apple check (source in ('email', 'google', 'apple')),
  locale text constraint locale_is_a_bcp_47_tag_like_de_or_pt_br
    -- Language, script, region, variants, extensions, private use; ~* ignores case.
    check (char_length(locale) <= 35 and locale ~* (
      '^([a-z]{2,3}|[a-z]{5,8})(-[a-z]{4})?(-([a-z]{2}|[0-9]{3}))?(-([a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*'
      '(-[0-9a-wyz](-[a-z0-9]{2,8})+)*(-x(-[a-z0-9]{1,8})+)?$')),
  country text
    -- Includes XK, which phones in Kosovo send, although ISO 3166 does not assign it.
    constraint country_is_an_iso_3166_1_alpha_2_code check (country = any (string_to_array(
      'AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ '
      'CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO '
      'FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE '
      'JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO '
      'MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW '
      'PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM '
      'TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW', ' '))),
  marketing_opt_in boolean not null default false,
  is_active boolean not null default true,
  last_seen_at timestamptz,
  created_at timestamptz not null default now() constraint created_at_is_finite check (isfinite(created_at)),
  updated_at timestamptz not null default now(),
  premium_until timestamptz constraint premium_until_is_1970_or_later check (premium_until >= '1970-01-01 00:00:00+00'),
  premium_as_of timestamptz constraint premium_as_of_is_finite check (isfinite(premium_as_of)),
  premium_given_until timestamptz
    constraint premium_given_until_is_1970_or_later check (premium_given_until >= '1970-01-01 00:00:00+00'),
  marketing_opt_in_at timestamptz,
  is_guest boolean not null default false,
  constraint marketing_opt_in_at_is_null_without_consent check (marketing_opt_in or marketing_opt_in_at is null)
);
comment on table public.customers is
  'Customers, one row for each account, created and deleted with it. Set is_active to false to lock a customer out.';
comment on column public.customers.id is 'Id of the account in Authentication.';
comment on column public.customers.full_name is 'Name given at sign-up. The customer can change it.';
comment on column public.customers.avatar_url is 'Https address of a picture. The service never fetches it.';
comment on column public.customers.marketing_opt_in is 'True if the customer agreed to receive marketing messages.';
comment on column public.customers.marketing_opt_in_at is
  'Time at which the customer agreed, set with marketing_opt_in. Null without consent, and if the time is unknown.';
comment on column public.customers.email is 'E-mail address, copied from Authentication. Change it there.';
comment on column public.customers.provider is 'Method of the first sign-in, copied from Authentication.';
comment on column public.customers.source is
  'Origin of the account: email, google or apple. It does not change after the address is confirmed.';
comment on column public.customers.is_guest is
  'True for a guest, who listens without an account. It does not change: a guest is deleted when a user adopts it.';
comment on column public.customers.phone is 'Phone number in international form, for example +491701234567.';
comment on column public.customers.locale is 'Language tag, for example de or pt-BR.';
comment on column public.customers.country is 'Country code of two capital letters, for example DE.';
comment on column public.customers.is_active is
  'False ends sessions, blocks sign-in and rejects API keys at once; access tokens stay valid for up to an hour. A '
  'ban in Authentication is separate: access requires true here and no ban there.';
comment on column public.customers.premium_until is
  'End of what the customer bought, as the stores say. Premium unlocks sounds whose is_premium is true. infinity: '
  'without end. Null: nothing bought. Do not edit it, because the next event of a store writes it again.';
comment on column public.customers.premium_as_of is
  'Time at which premium_until was true, see public.set_premium. An older state changes nothing.';
comment on column public.customers.premium_given_until is
  'End of premium that an administrator gives, a moment or infinity. Null: none. The later of it and premium_until '
  'counts.';
comment on column public.customers.last_seen_at is 'Time of the last activity, updated at most every 15 minutes.';

-- Contains no column that changes often, so that most updates of a customer do not write to the index.
create index customers_guests on public.customers (created_at) where is_guest;

alter table public.customers enable row level security;
create policy "Customers read their own record" on public.customers for select to authenticated
  using (id = (select auth.uid()));
create policy "Customers update their own record" on public.customers for update to authenticated
  using (id = (select auth.uid())) with check (id = (select auth.uid()));
-- Auth issues tokens with a client_id to apps that a user allows to know their address. They must not do anything else.
create policy "Tokens of other apps reach nothing" on public.customers as restrictive to authenticated
  using ((select (select auth.jwt()) ->> 'client_id' is null));
-- Grants no insert or delete, because triggers create and delete rows with the account.
grant select on public.customers to authenticated;
grant update (full_name, avatar_url, phone, locale, country, marketing_opt_in) on public.customers to authenticated;
grant select, update on public.customers to service_role;

create trigger customers_set_updated_at before update on public.customers for each row
  when (to_jsonb(old) - 'last_seen_at' - 'updated_at' is distinct from to_jsonb(new) - 'last_seen_at' - 'updated_at')
  execute function private.set_updated_at();

create trigger customers_lock_account
  before update of full_name, avatar_url, phone, locale, country, marketing_opt_in on public.customers
  for each statement execute function private.lock_account();

create function private.set_marketing_opt_in_at() returns trigger language plpgsql set search_path = '' as $$
begin
  new.marketing_opt_in_at := case when new.marketing_opt_in then now() end;
  return new;
end
$$;
comment on function private.set_marketing_opt_in_at is
  'Keeps the time of a consent, because its controller must be able to demonstrate it (GDPR, article 7).';
create trigger customers_set_marketing_opt_in_at before update on public.customers for each row
  when (old.marketing_opt_in is distinct from new.marketing_opt_in)
  execute function private.set_marketing_opt_in_at();

create view private.customer with (security_invoker = true) as
  select id, email, full_name, avatar_url, phone, provider, source, locale, country, marketing_opt_in,
    is_active, private.iso_time(last_seen_at) as last_seen_at, private.iso_time(created_at) as created_at,
    private.iso_time(updated_at) as updated_at,
    -- greatest and least ignore nulls, so without this case a customer without dates would have premium until 9999.
    case when coalesce(premium_until, premium_given_until) is not null then
      private.iso_time(least(greatest(premium_until, premium_given_until), '9999-12-31 23:59:59.999+00'))
    end as premium_until,
    private.iso_time(marketing_opt_in_at) as marketing_opt_in_at
  from public.customers;
comment on view private.customer is 'Customer in API responses.';
grant select on private.customer to authenticated;

create function public.get_customer() returns json language sql stable set search_path = '' as $$
  select private.require_account();
  select row_to_json(customer) from private.customer as customer where id = (select auth.uid())
$$;
comment on function public.get_customer is 'Returns the customer record of the caller, or null.';

create function public.update_customer(changes jsonb) returns json language sql volatile set search_path = '' as $$
  select private.require_account();
  update public.customers as customer set (full_name, avatar_url, phone, locale, country, marketing_opt_in) = (
    select private.trimmed(given.full_name), given.avatar_url, given.phone, given.locale, given.country,
      given.marketing_opt_in
    from jsonb_populate_record(customer, changes) as given
  ) where id = (select auth.uid());
  select row_to_json(customer) from private.customer as customer where id = (select auth.uid())
$$;
comment on function public.update_customer is
  'Changes the given fields of the caller''s customer record and keeps the others. Returns the record, or null.';

create function private.is_premium(listener uuid, moment timestamptz default now()) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return exists (
    select from public.customers where id = listener and greatest(premium_until, premium_given_until) > moment
  );
end
$$;
comment on function private.is_premium is 'Returns whether a customer has, or had, premium at this moment.';

-- If two states have the same as_of, the later end wins, so that the order of their arrival does not matter.
create function public.set_premium(customer_id uuid, premium_until timestamptz, as_of timestamptz default now())
returns boolean language sql volatile set search_path = '' as $$
  update public.customers as customer
    set premium_until = set_premium.premium_until, premium_as_of = coalesce(as_of, now())
    where id = customer_id and (coalesce(as_of, now()), coalesce(set_premium.premium_until, '-infinity'))
      > (coalesce(premium_as_of, '-infinity'), coalesce(customer.premium_until, '-infinity'));
  select exists (select from public.customers where id = customer_id)
$$;
comment on function public.set_premium is
  'Sets the end of what a customer bought, null for none and infinity for no end, unless a later state has set it. '
  '"as_of" is the time at which it was true. Keeps premium_given_until. Returns false for an unknown customer. For the '
  'service only.';

create table private.visitors_by_day (
  day date primary key,
  visitors bigint not null,
  guests bigint not null default 0
);
comment on table private.visitors_by_day is
  'Number of active accounts and of active guests on each day (UTC). No personal data.';

-- Runs as definer, because customers cannot write last_seen_at.
create function private.touch_last_seen() returns boolean
language plpgsql volatile security definer set search_path = '' as $$
declare
  today constant date := now() at time zone 'UTC';
  seen_before timestamptz;
  is_guest boolean;
begin
  update public.customers as customer set last_seen_at = now() from public.customers as before
    where customer.id = auth.uid() and before.id = customer.id
      and (customer.last_seen_at is null or customer.last_seen_at < now() - interval '15 minutes')
    returning before.last_seen_at, before.is_guest into seen_before, is_guest;
  if not found then
    return false;
  end if;
  if seen_before is null or seen_before < today::timestamp at time zone 'UTC' then
    insert into private.visitors_by_day as counter values (today, (not is_guest)::integer, is_guest::integer)
      on conflict (day) do update
        set visitors = counter.visitors + excluded.visitors, guests = counter.guests + excluded.guests;
  end if;
  return true;
end
$$;

create function public.touch_last_seen() returns boolean
language plpgsql volatile set search_path = '' as $$ begin return private.touch_last_seen(); end $$;
comment on function public.touch_last_seen is 'Updates last_seen_at, at most every 15 minutes. Returns true if it did.';

grant execute on function private.is_https_address to authenticated, service_role;
grant execute on function private.is_premium to authenticated;
grant execute on function public.set_premium to service_role;
grant execute on function public.get_customer, public.update_customer to authenticated;
grant execute on function private.touch_last_seen, public.touch_last_seen to authenticated;

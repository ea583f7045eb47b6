-- Generated from supabase/schemas, which has comments, by npm run migration -- --baseline. Do not edit.

-- supabase/schemas/10_foundations.sql

create schema private;
comment on schema private is
  'Internal tables and functions, not exposed by the API. Edit a table only if its comment says so.';
grant usage on schema private to anon, authenticated, service_role;

create schema admin;
comment on schema admin is 'Views and functions for administrators in the dashboard, not exposed by the API.';

create schema if not exists extensions;
create extension if not exists pgcrypto with schema extensions;
create extension if not exists pg_trgm with schema extensions;
create extension if not exists unaccent with schema extensions;
create extension if not exists fuzzystrmatch with schema extensions;

alter default privileges revoke execute on functions from public;
alter default privileges in schema public revoke all on tables from anon, authenticated, service_role;
alter default privileges in schema public revoke all on sequences from anon, authenticated, service_role;
alter default privileges in schema public revoke execute on functions from anon, authenticated, service_role;

create function private.set_updated_at() returns trigger language plpgsql set search_path = '' as $$
begin
  new.updated_at := greatest(now(), old.updated_at);
  return new;
end
$$;

create function private.iso_time(moment timestamptz) returns text
language plpgsql stable set search_path = '' as $$
begin
  return to_char(moment at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
end
$$;
comment on function private.iso_time is 'Formats a time as in API responses, for example 2026-06-23T09:30:00.000Z.';

create function private.is_proper_name(value text, max_length integer) returns boolean
language sql immutable set search_path = '' as $$
  select char_length(value) <= max_length
    and value ~ '^[^\s\uFEFF]' and value ~ '[^\s\uFEFF]$'
    and value ~ '[^\s\u00AD\u034F\u061C\u115F\u1160\u180E\u200B-\u200F\u2028-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0]'
$$;
comment on function private.is_proper_name is
  'Rejects names and titles that are too long, begin or end with white space, or have no visible character.';

create function private.is_slug(value text) returns boolean language sql immutable set search_path = '' as $$
  select char_length(value) <= 100 and value ~ '^[a-z0-9]+(-[a-z0-9]+)*$'
$$;
comment on function private.is_slug is 'Accepts 1 to 100 characters: words of a-z and 0-9, joined by hyphens.';

create function private.trimmed(value text) returns text
language sql immutable set search_path = '' as $$ select regexp_replace(value, '^[\s\uFEFF]+|[\s\uFEFF]+$', '', 'g') $$;
comment on function private.trimmed is 'Removes white space (see private.is_proper_name) from both ends of a text.';

create function private.require_account() returns void
language plpgsql stable security definer set search_path = '' as $$
begin
  if not exists (select from auth.users where id = auth.uid() and deleted_at is null) then
    raise exception 'The account of this token no longer exists.' using errcode = 'PT401';
  elsif auth.jwt() ->> 'client_id' is not null then
    raise exception 'This token belongs to another app.' using errcode = 'PT401';
  end if;
end
$$;
comment on function private.require_account is
  'Raises PT401 (status 401) if the account of the caller was deleted, or if Auth issued the token to another app.';

create function private.counted(number bigint, one text, many text) returns text
language sql immutable set search_path = '' as $$
  select case when number > 0 then format('%s %s', number, case number when 1 then one else many end) end
$$;
comment on function private.counted is 'Returns a number with its noun, for example "3 sounds". Null for 0.';

create function private.wait_for_catalogue() returns void language plpgsql volatile set search_path = '' as $$
begin
  perform pg_advisory_xact_lock('private.lock_catalogue'::regproc::oid::bigint);
end
$$;
comment on function private.wait_for_catalogue is
  'Takes the lock of writers of the catalogue until the transaction ends.';

create function private.try_catalogue() returns boolean language plpgsql volatile set search_path = '' as $$
begin
  return pg_try_advisory_xact_lock('private.lock_catalogue'::regproc::oid::bigint);
end
$$;
comment on function private.try_catalogue is
  'Takes the lock of writers of the catalogue if it is free. Returns whether it did.';

create function private.lock_account() returns trigger language plpgsql security definer set search_path = '' as $$
begin
  if auth.uid() is not null then
    perform private.lock_user(auth.uid());
  end if;
  return null;
end
$$;

create function private.lock_number_of(user_id uuid) returns integer
language sql immutable set search_path = '' as $$ select hashtext(user_id::text) % 1000 $$;
comment on function private.lock_number_of is
  'Returns the number of the advisory lock of a user, from -999 to 999. Users share these about 2,000 locks, because '
  'the memory for locks is limited.';

create function private.lock_catalogue() returns trigger language plpgsql set search_path = '' as $$
begin
  if tg_op = 'TRUNCATE' then
    -- Resets every copy of the catalogue, because truncate runs no row triggers.
    update private.catalogue_feed set id = default;
  else
    perform pg_advisory_xact_lock('private.lock_catalogue'::regproc::oid::bigint);
  end if;
  return null;
end
$$;

grant execute on function private.iso_time, private.is_proper_name, private.is_slug to authenticated, service_role;
grant execute on function private.lock_number_of to authenticated, service_role;
grant execute on function private.trimmed, private.require_account to authenticated;

-- supabase/schemas/12_search_words.sql

create function private.fold_letters(value text) returns text
language plpgsql immutable parallel safe set search_path = '' as $$
declare
  -- Hebrew points, Arabic vowel marks and tatweel, nukta.
  marks constant text := '[\u0591-\u05BD\u05BF\u05C1\u05C2\u05C4\u05C5\u05C7\u0640\u064B-\u065F\u0670'
    '\u093C\u09BC\u0A3C\u0ABC\u0B3C\u0CBC]';
  -- Tones before vowels, which keyboards of Thai and Lao allow.
  tones_first constant text := '([\u0E48-\u0E4B\u0EC8-\u0ECB]+)'
    '([\u0E31\u0E34-\u0E3A\u0E47\u0E4D\u0EB1\u0EB4-\u0EBC\u0ECD]+)';
  -- Nasals before consonants in Devanagari.
  nasals constant text := '[ङञणनम]्(?=[क-म])';
  digits constant text :=
    '٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹߀߁߂߃߄߅߆߇߈߉०१२३४५६७८९০১২৩৪৫৬৭৮৯'
    '੦੧੨੩੪੫੬੭੮੯૦૧૨૩૪૫૬૭૮૯୦୧୨୩୪୫୬୭୮୯௦௧௨௩௪௫௬௭௮௯'
    '౦౧౨౩౪౫౬౭౮౯೦೧೨೩೪೫೬೭೮೯൦൧൨൩൪൫൬൭൮൯෦෧෨෩෪෫෬෭෮෯'
    '๐๑๒๓๔๕๖๗๘๙໐໑໒໓໔໕໖໗໘໙༠༡༢༣༤༥༦༧༨༩၀၁၂၃၄၅၆၇၈၉'
    '០១២៣៤៥៦៧៨៩᠐᠑᠒᠓᠔᠕᠖᠗᠘᠙';
begin
  value := normalize(value, nfkc); -- compatible forms, such as "ﬁ" and "①"
  value := regexp_replace(value, marks, '', 'g');
  value := regexp_replace(value, tones_first, '\2\1', 'g');
  value := regexp_replace(value, nasals, 'ं', 'g');
  -- Letters of Arabic and Persian, the nasal sign, sharp and flat.
  value := translate(value,
    U&'\0622\0623\0625\0671\0649\06CC\06A9\0629\0901\266F\266D',
    U&'\0627\0627\0627\0627\064A\064A\0643\0647\0902#b');
  value := translate(value, digits, repeat('0123456789', 19));
  return extensions.unaccent('extensions.unaccent', value);
end
$$;

create function private.fold_for_search(value text) returns text
language plpgsql immutable parallel safe set search_path = '' as $$
declare
  letter constant text := '[a-z\u00C0-\u1FFF\u2C00-\u2FEF\u3040-\uFFDC]';
  between_digit_and_letter constant text := format('(?<=[0-9])(?=%1$s)|(?<=%1$s)(?=[0-9])', letter);
  -- Lists ASCII characters, because "\s" depends on the locale. Skips single spaces, to be as fast as without.
  white_space constant text := '[\u0009-\u000D ]{2,}|[\u0009-\u000D]';
begin
  if octet_length(value) > char_length(value) then -- has other characters than ASCII
    value := private.fold_letters(value);
  end if;
  return regexp_replace(lower(value), between_digit_and_letter || '|' || white_space, ' ', 'g');
end
$$;
comment on function private.fold_for_search is
  'Removes differences of spelling: "Schöne  Straße" becomes "schone strasse", and "432Hz" becomes "432 hz".';

create function private.like_pattern(value text) returns text
language sql immutable parallel safe set search_path = '' as $$
  select '%' || regexp_replace(private.fold_for_search(value), '([\\%_])', '\\\1', 'g') || '%'
$$;
comment on function private.like_pattern is 'Returns the LIKE pattern for titles that contain a text.';

create function private.words_of_folded(folded text) returns text[]
language plpgsql immutable parallel safe set search_path = '' as $$
declare
  separators constant text := '[\u0001-\u002F\u003A-\u0040\u005B-\u0060\u007B-\u00BF\u05BE\u060C\u061B\u061F\u06D4'
    '\u0964\u0965\u2000-\u206F\u3000-\u3004\u3008-\u303F\u30FB]+';
  -- Scripts without spaces, and Hangul, whose particles join words.
  unspaced constant text := '[\u0E00-\u0EFF\u1000-\u109F\u1780-\u17FF\u3005-\u3007\u3040-\u30FA\u30FC-\u31FF'
    '\u3400-\u9FFF\uAC00-\uD7AF\U00020000-\U0003FFFF]';
  letters_within constant text := format('(?<=%1$s)%1$s(?=%1$s)', unspaced);
  arabic constant text := '[\u0621-\u06D3]';
  article constant text := format('(?<!%1$s)\u0627\u0644(?=%1$s%1$s)', arabic);
begin
  if folded ~ unspaced then -- becomes pairs of letters
    folded := regexp_replace(folded, unspaced || '+', ' \& ', 'g');
    folded := regexp_replace(folded, letters_within, '\& \&', 'g');
  end if;
  if folded like U&'%\0627\0644%' then
    folded := regexp_replace(folded, article, '', 'g');
  end if;
  return array(select left(word, 50) from unnest(regexp_split_to_array(folded, separators)) as word where word <> '');
end
$$;
comment on function private.words_of_folded is
  'Splits a folded text into words of at most 50 characters, and scripts without spaces into pairs of letters. Leaves '
  'out the Arabic article.';

create function private.search_words(value text) returns text[]
language plpgsql immutable parallel safe set search_path = '' as $$
begin
  return private.words_of_folded(private.fold_for_search(value));
end
$$;
comment on function private.search_words is 'Returns the folded words of a text.';

create function private.may_be_pair(word text) returns boolean
language plpgsql immutable parallel safe set search_path = '' as $$
begin
  return ascii(word) >= 3584; -- U+0E00, the first letter of Thai
end
$$;
comment on function private.may_be_pair is
  'Tells whether a word begins at U+0E00 or later, as all pairs of letters do: those of scripts without spaces, and of '
  'Hangul. Some other words do, too, such as Georgian ones and emoji.';

create function private.joined_words(words text[]) returns text[]
language plpgsql immutable parallel safe set search_path = '' as $$
begin
  return array(
    select case when not private.may_be_pair(words[place]) and not private.may_be_pair(words[place + 1]) then
      left(words[place] || words[place + 1], 50) end
    from generate_series(1, cardinality(words) - 1) as place
  );
end
$$;
comment on function private.joined_words is
  'Joins each word with the next one, because "lo-fi" and "lo fi" are also written "lofi". Returns null where one of '
  'the two may be a pair of letters.';

create function private.end_of_range(beginning text) returns text
language plpgsql immutable parallel safe set search_path = '' as $$
begin
  return beginning || chr(1114111); -- U+10FFFF, the last character of Unicode
end
$$;
comment on function private.end_of_range is
  'Returns the end of the index range of all texts with a beginning, which is smaller than this in the collation "C".';

create function private.marked_words(value text, mark text) returns text[]
language plpgsql immutable parallel safe set search_path = '' as $$
declare
  words constant text[] := private.search_words(value);
  indexed constant text[] := array(
    select word from unnest(words) as word
    union all
    select '+' || word from unnest(private.joined_words(words)) as word where word is not null
  );
begin
  if mark = '' then
    return indexed;
  end if;
  return indexed || array(select mark || word from unnest(indexed) as word);
end
$$;

create function private.search_vector(title text, category text, tags text[], description text) returns tsvector
language plpgsql immutable parallel safe set search_path = '' as $$
begin
  return array_to_tsvector(
    private.marked_words(title, '=')
    || private.marked_words(array_to_string(tags, ' '), '#')
    || private.marked_words(description, '')
    || case when category is not null then array['/' || category] else '{}' end
  );
end
$$;
comment on function private.search_vector is
  'Builds the search index of a sound: all words, and "+" with two joined ones; both again with "=" before them if '
  'they are of the title, and with "#" if they are of tags; the category with "/".';

grant execute on function
  private.fold_letters, private.fold_for_search, private.words_of_folded, private.search_words, private.may_be_pair,
  private.joined_words, private.marked_words, private.search_vector
  to service_role;

-- supabase/schemas/20_customers.sql

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

create index customers_guests on public.customers (created_at) where is_guest;

alter table public.customers enable row level security;
create policy "Customers read their own record" on public.customers for select to authenticated
  using (id = (select auth.uid()));
create policy "Customers update their own record" on public.customers for update to authenticated
  using (id = (select auth.uid())) with check (id = (select auth.uid()));
create policy "Tokens of other apps reach nothing" on public.customers as restrictive to authenticated
  using ((select (select auth.jwt()) ->> 'client_id' is null));
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

-- supabase/schemas/21_accounts.sql

create function private.customer_of(account auth.users) returns public.customers
language plpgsql stable set search_path = '' as $$
declare
  given_name constant text := private.trimmed(
    coalesce(account.raw_user_meta_data ->> 'full_name', account.raw_user_meta_data ->> 'name'));
  clipped_name constant text := private.trimmed(left(given_name, 200));
  picture constant text := account.raw_user_meta_data ->> 'avatar_url';
  customer public.customers;
begin
  customer.id := account.id;
  customer.provider := account.raw_app_meta_data ->> 'provider';
  customer.source := case when customer.provider in ('email', 'google', 'apple') then customer.provider end;
  customer.marketing_opt_in := false;
  customer.is_active := account.deleted_at is null;
  -- Uses JSON, because older projects lack the column.
  customer.is_guest := coalesce(to_jsonb(account) ->> 'is_anonymous', 'false')::boolean;
  customer.created_at := coalesce(account.created_at, now());
  customer.updated_at := customer.created_at;
  -- A soft delete keeps the account, with a hash for its e-mail address.
  if account.deleted_at is null then
    customer.email := account.email;
    customer.full_name := case when private.is_proper_name(clipped_name, 200) then clipped_name end;
    customer.avatar_url := case when private.is_https_address(picture) then picture end;
  end if;
  return customer;
end
$$;

create function private.create_customer() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  -- Calls it in the from clause, because (customer_of(new)).* would run it once for each column.
  insert into public.customers select customer.* from private.customer_of(new) as customer on conflict (id) do nothing;
  return null;
end
$$;
create trigger sounds_service_create_customer after insert on auth.users for each row
  execute function private.create_customer();

create function private.keep_customer() returns trigger language plpgsql security definer set search_path = '' as $$
begin
  if tg_op = 'TRUNCATE' or exists (select from auth.users where id = old.id) then
    raise exception 'A customer can only be deleted with the account. Delete the account under Authentication > Users, '
      'or set is_active to false to lock the customer out.'
      using errcode = 'check_violation', constraint = 'customer_is_deleted_with_the_account';
  end if;
  return old;
end
$$;
create trigger customers_keep before delete on public.customers for each row
  execute function private.keep_customer();
create trigger customers_keep_all before truncate on public.customers for each statement
  execute function private.keep_customer();

create function private.keep_mirrored() returns trigger language plpgsql security definer set search_path = '' as $$
declare
  mirrored public.customers;
begin
  select customer.* into mirrored
    from auth.users as account cross join private.customer_of(account) as customer
    where account.id = new.id;
  if (new.email, new.provider) is distinct from (mirrored.email, mirrored.provider)
    or (new.source is distinct from old.source and new.source is distinct from mirrored.source)
    or new.is_guest <> mirrored.is_guest
  then
    raise exception 'email, provider, source and is_guest are copied from Authentication. Change the e-mail address '
      'under Authentication > Users; the others cannot be changed.'
      using errcode = 'check_violation', constraint = 'email_provider_and_source_are_copied_from_authentication';
  end if;
  return new;
end
$$;
create trigger customers_keep_mirrored before update of email, provider, source, is_guest on public.customers
  for each row
  when ((old.email, old.provider, old.source, old.is_guest)
    is distinct from (new.email, new.provider, new.source, new.is_guest))
  execute function private.keep_mirrored();

create function private.note_new_account() returns trigger language plpgsql set search_path = '' as $$
declare
  noted_before constant text := current_setting('sounds_service.new_accounts', true);
begin
  perform set_config('sounds_service.new_accounts', concat_ws(' ', noted_before, new.id), true);
  return null;
end
$$;
create trigger sounds_service_note_new_account after insert on auth.users for each row
  when (new.email_confirmed_at is null) execute function private.note_new_account();

create function private.is_new_account(account uuid) returns boolean
language sql stable set search_path = '' as $$
  select coalesce(current_setting('sounds_service.new_accounts', true), '') like '%' || account || '%'
$$;
comment on function private.is_new_account is 'Returns true for an unconfirmed account of the current transaction.';

create function private.clear_customer(mirrored public.customers) returns void
language plpgsql volatile set search_path = '' as $$
begin
  update public.customers
    set email = null, full_name = null, avatar_url = null, phone = null, locale = null, country = null,
      provider = mirrored.provider, marketing_opt_in = false, is_active = false, premium_until = null,
      premium_as_of = null, premium_given_until = null
    where id = mirrored.id;
end
$$;
comment on function private.clear_customer is 'Removes the personal data of a customer whose account was soft-deleted.';

create function private.confirm_customer(mirrored public.customers) returns void
language plpgsql volatile set search_path = '' as $$
declare
  is_verified constant boolean := exists (
    select from auth.identities
    where user_id = mirrored.id and provider <> 'email' and identity_data ->> 'email_verified' = 'true');
begin
  update public.customers
    set email = mirrored.email, provider = mirrored.provider, source = mirrored.source,
      full_name = case when is_verified then mirrored.full_name end,
      avatar_url = case when is_verified then mirrored.avatar_url end
    where id = mirrored.id;
end
$$;
comment on function private.confirm_customer is 'Copies the values of an account whose address was just confirmed.';

create function private.copy_account(mirrored public.customers) returns void
language plpgsql volatile set search_path = '' as $$
begin
  update public.customers
    set email = mirrored.email, provider = mirrored.provider, source = coalesce(source, mirrored.source)
    where id = mirrored.id and (email, provider) is distinct from (mirrored.email, mirrored.provider);
end
$$;
comment on function private.copy_account is 'Copies e-mail and provider of an account that has changed.';

create function private.mirror_account() returns trigger language plpgsql security definer set search_path = '' as $$
declare
  mirrored constant public.customers := private.customer_of(new);
  is_confirmed_now constant boolean := old.email_confirmed_at is null and new.email_confirmed_at is not null;
begin
  if new.deleted_at is not null then
    perform private.clear_customer(mirrored);
  elsif is_confirmed_now and not private.is_new_account(new.id) then
    perform private.confirm_customer(mirrored);
  else
    perform private.copy_account(mirrored);
  end if;
  return null;
end
$$;
create trigger sounds_service_mirror_account
  after update of email, email_confirmed_at, raw_app_meta_data, deleted_at on auth.users for each row
  execute function private.mirror_account();

create function private.reset_unverified_credentials() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  if not private.is_new_account(new.id) then
    new.encrypted_password := ''; -- matches no password; some versions of Auth cannot read a null
    delete from auth.sessions where user_id = new.id;
    delete from auth.identities
      where user_id = new.id and provider <> 'email' and identity_data ->> 'email_verified' is distinct from 'true';
  end if;
  return new;
end
$$;
create trigger sounds_service_reset_unverified_credentials before update of email_confirmed_at on auth.users
  for each row when (old.email_confirmed_at is null and new.email_confirmed_at is not null)
  execute function private.reset_unverified_credentials();

-- supabase/schemas/21_auth_guards.sql

create function private.refuse_at_auth() returns trigger language plpgsql set search_path = '' as $$
begin
  -- Auth replaces addresses by hashes when it soft-deletes an account.
  if to_jsonb(new) ->> 'deleted_at' is null then
    raise exception '%', tg_argv[0] using errcode = 'feature_not_supported';
  end if;
  return new;
end
$$;
comment on function private.refuse_at_auth is 'Rejects a call of Auth with the message in its argument.';

create trigger sounds_service_refuse_factor before insert on auth.mfa_factors for each row
  execute function private.refuse_at_auth('The service does not support second factors.');
do $$
begin
  if to_regclass('auth.webauthn_credentials') is not null then
    create trigger sounds_service_refuse_passkey before insert on auth.webauthn_credentials for each row
      execute function private.refuse_at_auth('The service does not support passkeys.');
  end if;
end
$$;
create trigger sounds_service_refuse_third_party after insert on auth.sessions for each row
  when (to_jsonb(new) ->> 'oauth_client_id' is not null)
  execute function private.refuse_at_auth('The service does not open sessions for other apps.');
create trigger sounds_service_refuse_provider before insert on auth.identities for each row
  when (new.provider = 'web3' or new.provider like 'sso:%')
  execute function private.refuse_at_auth('The service does not support wallets and single sign-on.');
create trigger sounds_service_refuse_change before update of email_change, phone_change, phone on auth.users
  for each row
  when (coalesce(new.email_change, '') not in ('', coalesce(old.email_change, ''))
    or coalesce(new.phone_change, '') not in ('', coalesce(old.phone_change, ''))
    -- Auth writes a new number to phone at once if it does not confirm phones.
    or coalesce(new.phone, '') not in ('', coalesce(old.phone, '')))
  execute function private.refuse_at_auth(
    'Users cannot change their e-mail address or phone number. Ask an administrator.');
create trigger sounds_service_refuse_phone before insert on auth.users for each row
  when (coalesce(new.phone, '') <> '' and coalesce(new.email, '') = '')
  execute function private.refuse_at_auth('The service does not support accounts without an e-mail address.');

create function private.withhold_address() returns trigger language plpgsql security definer set search_path = '' as $$
declare
  given_address constant text := lower(new.identity_data ->> 'email');
begin
  if not exists (select from auth.users where id = new.user_id and lower(email) = given_address) then
    new.identity_data := new.identity_data - 'email';
  end if;
  return new;
end
$$;
create trigger sounds_service_withhold_address before insert or update of identity_data on auth.identities for each row
  when (new.provider <> 'email' and new.identity_data ? 'email'
    and new.identity_data ->> 'email_verified' is distinct from 'true')
  execute function private.withhold_address();

create function private.refuse_link() returns trigger language plpgsql security definer set search_path = '' as $$
declare
  is_confirmed constant boolean := exists (
    select from auth.users where id = new.user_id and email_confirmed_at is not null);
  own_addresses constant text[] := array(
    select lower(email) from auth.users where id = new.user_id
    union all
    select lower(identity_data ->> 'email') from auth.identities where user_id = new.user_id);
  has_own_address constant boolean := new.identity_data ->> 'email_verified' = 'true'
    and lower(new.identity_data ->> 'email') = any (own_addresses);
begin
  if is_confirmed and has_own_address is not true then
    raise exception 'Users cannot link identities to their accounts.' using errcode = 'feature_not_supported';
  end if;
  return new;
end
$$;
create trigger sounds_service_refuse_link before insert on auth.identities for each row
  when (new.provider not in ('email', 'phone')) execute function private.refuse_link();

create function private.limit_metadata() returns trigger language plpgsql set search_path = '' as $$
declare
  given constant jsonb := case jsonb_typeof(new.raw_user_meta_data)
    when 'object' then new.raw_user_meta_data else '{}' end;
begin
  new.raw_user_meta_data := (
    select coalesce(jsonb_object_agg(key, kept), '{}')
    from jsonb_each(given)
      cross join lateral (values (case
        when key like '%name' then to_jsonb(left(value #>> '{}', 200)) else value end)) as clipped (kept)
    where key in ('sub', 'email', 'email_verified', 'phone_verified', 'full_name', 'name')
  );
  return new;
end
$$;
create trigger sounds_service_limit_metadata before insert or update of raw_user_meta_data on auth.users for each row
  when (octet_length(regexp_replace(new.raw_user_meta_data::text, '[<>&]', '123456', 'g')) > 3000)
  execute function private.limit_metadata();

-- supabase/schemas/21_bans.sql

create table private.suspended_bans (
  customer_id uuid primary key references public.customers (id) on delete cascade,
  banned_until timestamptz not null
);
comment on table private.suspended_bans is
  'Bans of deactivated customers that were set in Authentication. Setting is_active to true restores them.';

create function private.apply_activation() returns trigger language plpgsql security definer set search_path = '' as $$
begin
  if new.is_active then
    update auth.users
      set banned_until = (select banned_until from private.suspended_bans where customer_id = new.id)
      where id = new.id;
    delete from private.suspended_bans where customer_id = new.id;
  else
    insert into private.suspended_bans
      select id, banned_until from auth.users where id = new.id and banned_until is not null;
    update auth.users set banned_until = '9999-12-31 00:00:00+00' where id = new.id;
    delete from auth.sessions where user_id = new.id;
  end if;
  return null;
end
$$;
create trigger customers_apply_activation after update of is_active on public.customers for each row
  when (old.is_active is distinct from new.is_active) execute function private.apply_activation();

create function private.suspend_ban() returns trigger language plpgsql security definer set search_path = '' as $$
begin
  if exists (select from public.customers where id = new.id and not is_active) then
    delete from private.suspended_bans where customer_id = new.id;
    insert into private.suspended_bans select new.id, new.banned_until where new.banned_until is not null;
    new.banned_until := '9999-12-31 00:00:00+00';
  end if;
  return new;
end
$$;
create trigger sounds_service_suspend_ban before update of banned_until on auth.users for each row
  when (old.banned_until is distinct from new.banned_until
    and new.banned_until is distinct from timestamptz '9999-12-31 00:00:00+00')
  execute function private.suspend_ban();

-- supabase/schemas/21_deleted_accounts.sql

create function private.purge_audit_log() returns trigger language plpgsql security definer set search_path = '' as $$
begin
  delete from auth.audit_log_entries
    where payload ->> 'actor_id' in (select id::text from deleted)
      or payload -> 'traits' ->> 'user_id' in (select id::text from deleted);
  return null;
  -- Lets the deletion succeed if the table is missing or read-only for the service.
exception when insufficient_privilege or undefined_table then
  raise warning 'The entries of deleted accounts in auth.audit_log_entries were not deleted: %', sqlerrm;
  return null;
end
$$;
create trigger sounds_service_purge_audit_log after delete on auth.users referencing old table as deleted
  for each statement execute function private.purge_audit_log();

create table private.deleted_accounts (
  id bigint generated always as identity primary key,
  signed_up_on date not null,
  deleted_on date not null default (now() at time zone 'UTC'),
  is_guest boolean not null default false
);
comment on table private.deleted_accounts is 'Days of sign-up and deletion of each deleted account. No personal data.';

create function private.count_deleted_account() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  insert into private.deleted_accounts (signed_up_on, is_guest)
    values ((old.created_at at time zone 'UTC')::date, old.is_guest);
  return null;
end
$$;
create trigger customers_count_deleted after delete on public.customers for each row
  when (old.email is null or old.email not like '%@doctor.invalid') -- private.is_doctors_account
  execute function private.count_deleted_account();

-- supabase/schemas/22_sessions.sql

create function private.current_session() returns uuid
language plpgsql stable security definer set search_path = '' as $$
declare
  current_id constant uuid := (
    select id from auth.sessions
    where user_id = auth.uid() and id::text = auth.jwt() ->> 'session_id' and (not_after is null or not_after > now())
  );
begin
  perform private.require_account();
  if current_id is null then
    raise exception 'The session of this token has ended.' using errcode = 'PT401';
  end if;
  return current_id;
end
$$;

create function private.list_sessions() returns json language plpgsql stable security definer set search_path = '' as $$
declare
  current_id constant uuid := private.current_session();
begin
  return (
    with active as (
      -- refreshed_at is in UTC, without a zone.
      select id, created_at, user_agent, coalesce(refreshed_at at time zone 'UTC', created_at) as last_used_at
      from auth.sessions
      where user_id = auth.uid() and (not_after is null or not_after > now())
    ), listed as (
      select * from active order by id = current_id desc, last_used_at desc, id limit 50
    )
    select json_agg(
      json_build_object(
        'id', id, 'created_at', private.iso_time(created_at), 'last_used_at', private.iso_time(last_used_at),
        'user_agent', left(user_agent, 200), 'is_current', id = current_id
      ) order by last_used_at desc, id
    )
    from listed
  );
end
$$;

create function private.end_sessions(ended_session uuid) returns boolean
language plpgsql volatile security definer set search_path = '' as $$
declare
  current_id uuid;
begin
  -- Locks the account, otherwise two sessions could end each other at once.
  perform from auth.users where id = auth.uid() for no key update;
  current_id := private.current_session();
  delete from auth.sessions
    where user_id = auth.uid() and (id = ended_session or (ended_session is null and id <> current_id));
  return found;
end
$$;

create function public.list_sessions() returns json
language sql stable set search_path = '' as $$ select private.list_sessions() $$;
comment on function public.list_sessions is
  'Returns at most 50 sessions of the caller that have not expired: the present one and those last used, newest first.';

create function public.end_sessions(ended_session uuid default null) returns boolean
language sql volatile set search_path = '' as $$ select private.end_sessions(ended_session) $$;
comment on function public.end_sessions is
  'Ends a session of the caller, by default all others. Returns false if there is none.';

grant execute on function private.list_sessions, public.list_sessions to authenticated;
grant execute on function private.end_sessions, public.end_sessions to authenticated;

-- supabase/schemas/23_guests.sql

create table private.guests_allowed (
  is_allowed boolean primary key default true constraint guests_allowed_has_one_row_or_none check (is_allowed),
  allowed_at timestamptz not null default now()
);
comment on table private.guests_allowed is
  'Has one row while new guests are allowed. The snippets allow_guests and refuse_guests write and delete it.';

create function private.allows_guests() returns boolean
language sql stable security definer set search_path = '' as $$ select exists (select from private.guests_allowed) $$;
comment on function private.allows_guests is 'Returns whether the database accepts new guests.';

create function private.refuse_new_guest() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  if not private.allows_guests() then
    raise exception 'Guests are not allowed. To allow them, run the snippet allow_guests.'
      using errcode = 'feature_not_supported';
  end if;
  return null;
end
$$;
create trigger sounds_service_refuse_anonymous after insert on auth.users for each row
  when (to_jsonb(new) ->> 'is_anonymous' = 'true')
  execute function private.refuse_new_guest();

create trigger sounds_service_keep_guest after update on auth.users for each row
  when (to_jsonb(old) ->> 'is_anonymous' = 'true' and (
    to_jsonb(new) ->> 'is_anonymous' <> 'true'
    or coalesce(new.email, '') <> ''
    or coalesce(new.phone, '') <> ''
    or coalesce(new.encrypted_password, '') <> ''
  ))
  execute function private.refuse_at_auth('A guest gets no address and no password. Sign up, then adopt the guest.');

create function private.is_guest(account uuid) returns boolean
language sql stable security definer set search_path = '' as $$
  select exists (
    select from auth.users as guest where id = account and to_jsonb(guest) ->> 'is_anonymous' = 'true'
  )
$$;

create function private.refuse_identity_of_guest() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  if private.is_guest(new.user_id) then
    raise exception 'A guest gets no identity. Sign in with it, then adopt the guest.'
      using errcode = 'feature_not_supported';
  end if;
  return new;
end
$$;
create trigger sounds_service_refuse_identity_of_guest before insert or update of user_id on auth.identities
  for each row execute function private.refuse_identity_of_guest();

create function private.delete_idle_guests() returns void language plpgsql volatile set search_path = '' as $$
declare
  idle constant uuid[] := array(
    select account.id
    from public.customers as guest join auth.users as account on account.id = guest.id
    where guest.is_guest
      and guest.created_at < now() - interval '90 days'
      and coalesce(guest.last_seen_at, guest.created_at) < now() - interval '90 days'
      and coalesce(greatest(guest.premium_until, guest.premium_given_until), '-infinity') <= now()
    order by guest.created_at limit 1000
    for update of account skip locked
  );
begin
  delete from auth.users where id = any (idle);
end
$$;
comment on function private.delete_idle_guests is
  'Deletes up to 1,000 guests who were not seen for 90 days, with all of their rows. Keeps those with premium.';

grant execute on function private.allows_guests to service_role;

-- supabase/schemas/30_categories.sql

create table public.categories (
  id uuid primary key default gen_random_uuid(),
  slug text not null unique
    constraint category_slug_is_lower_case_words_joined_by_hyphens check (private.is_slug(slug)),
  name text not null
    constraint category_name_is_trimmed_visible_and_has_1_to_200_characters check (private.is_proper_name(name, 200)),
  description text constraint category_description_is_not_blank_and_has_at_most_5000_chars
    check (char_length(description) <= 5000 and description ~ '\S'),
  parent_id uuid constraint category_is_not_its_own_parent check (parent_id <> id),
  sort_order integer not null default 0,
  is_active boolean not null default true,
  deleted_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint category_in_the_trash_is_not_active check (deleted_at is null or not is_active),
  constraint category_parent_exists_and_has_no_children_when_deleted
    foreign key (parent_id) references public.categories (id) on delete no action
);
create index categories_parent_id on public.categories (parent_id);
create index categories_words on public.categories
  using gin (private.search_vector(name || ' ' || slug, null, null, null));
comment on table public.categories is
  'Intentions and sub-intentions. A row with a parent_id is a sub-intention, which cannot have children.';
comment on column public.categories.slug is
  'Short name in addresses and filters, for example deep-sleep. A change also updates sounds and home sections.';
comment on column public.categories.parent_id is 'Parent intention of a sub-intention. Null for an intention.';
comment on column public.categories.sort_order is 'Display order, smaller numbers first.';
comment on column public.categories.is_active is 'False hides the category and its sub-intentions, but not its sounds.';
comment on column public.categories.deleted_at is
  'Time at which the category was put into the trash. Set is_active to true to bring it back.';

create trigger categories_serialize_writers
  before insert or update or delete or truncate on public.categories for each statement
  execute function private.lock_catalogue();
create trigger categories_set_updated_at before update on public.categories for each row
  when (old.* is distinct from new.*)
  execute function private.set_updated_at();

create function private.check_category_depth() returns trigger language plpgsql set search_path = '' as $$
declare
  grandparent uuid;
begin
  select parent_id into grandparent from public.categories where id = new.parent_id for share;
  if grandparent is not null then
    raise exception 'A category cannot lie under a sub-intention. Choose a parent that has no parent itself.'
      using errcode = 'check_violation', constraint = 'category_parent_has_no_parent';
  end if;
  if exists (select from public.categories where parent_id = new.id) then
    raise exception 'A category with sub-intentions cannot lie under another one. Move its sub-intentions first.'
      using errcode = 'check_violation', constraint = 'category_with_children_has_no_parent';
  end if;
  return new;
end
$$;
create trigger categories_check_depth
  before insert or update of parent_id on public.categories for each row when (new.parent_id is not null)
  execute function private.check_category_depth();

create function private.is_category_active(category_id uuid) returns boolean
language sql stable security definer set search_path = '' as $$
  select is_active from public.categories where id = category_id
$$;

alter table public.categories enable row level security;
create policy "Users read active categories" on public.categories for select to authenticated
  using (is_active and (parent_id is null or private.is_category_active(parent_id)));
grant select on public.categories to authenticated;
grant select, insert, update, delete on public.categories to service_role;

create view private.sub_category with (security_invoker = true) as
  select id, name, slug, description, sort_order
  from public.categories
  where is_active;
comment on view private.sub_category is 'Category inside another category in API responses, without children.';

create view private.category with (security_invoker = true) as
  select id, name, slug, description, sort_order,
    array(
      select child
      from private.sub_category as child join public.categories as stored using (id)
      where stored.parent_id = parent.id
      order by child.sort_order, child.name, child.id
    ) as children
  from public.categories as parent
  where is_active and parent_id is null
  order by sort_order, name, id;
comment on view private.category is 'Category with its children in API responses, in display order.';

create function private.list_categories() returns json
language sql stable security definer set search_path = '' set enable_seqscan = off as $$
  select to_json(array(select category from private.category as category))
$$;

create function public.list_categories() returns json
language sql stable set search_path = '' as $$ select private.list_categories() $$;
comment on function public.list_categories is 'Returns the tree of active categories in display order.';

create function private.category_family(category_slug text, include_children boolean) returns text[]
language plpgsql stable set search_path = '' as $$
declare
  parent constant uuid := (select id from public.categories where slug = category_slug);
begin
  if include_children then
    return category_slug || array(select slug from public.categories where parent_id = parent);
  end if;
  return array[category_slug];
end
$$;

grant execute on function private.is_category_active to authenticated;
grant execute on function private.list_categories, public.list_categories to anon, authenticated, service_role;

-- supabase/schemas/31_sounds.sql

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

create table public.play_counts (
  sound_id uuid primary key references public.sounds (id) on delete cascade,
  plays bigint not null default 0
    constraint plays_lies_between_0_and_9007199254740991 check (plays between 0 and 9007199254740991)
) with (fillfactor = 50);
comment on table public.play_counts is 'Number of plays of each sound. A sound without a row was never played.';
comment on column public.play_counts.plays is 'Number of plays. Can be edited; later plays are added to the new value.';

alter table public.play_counts enable row level security;
create policy "Users read play counts of sounds they see" on public.play_counts
  for select to authenticated using (exists (select from public.sounds where id = sound_id));
grant select on public.play_counts to authenticated;
grant select, insert, update, delete on public.play_counts to service_role;

-- supabase/schemas/31_sounds_created_at.sql

create table private.former_positions (
  created_at timestamptz(3) primary key,
  list_rank bigint not null
);
comment on table private.former_positions is
  'Positions of deleted and moved sounds, because clients may page from there and created_at must not be reused.';

create function private.keep_former_position() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  insert into private.former_positions values (old.created_at, old.list_rank) on conflict (created_at) do nothing;
  return null;
end
$$;
create trigger sounds_keep_position_of_deleted after delete on public.sounds for each row
  execute function private.keep_former_position();
create trigger sounds_keep_position_of_moved after update of created_at on public.sounds for each row
  when (old.created_at <> new.created_at) execute function private.keep_former_position();

create function private.assign_created_at() returns trigger
language plpgsql security definer set search_path = '' set enable_seqscan = off as $$
declare
  noted_before constant text := nullif(current_setting('sounds_service.taken_moments', true), '');
  taken constant tstzmultirange := coalesce(noted_before, '{}')::tstzmultirange;
  run tstzrange;
  free timestamptz(3);
  steps integer := 0;
begin
  if tg_op = 'INSERT' and exists (select from public.sounds where id = new.id and created_at = new.created_at) then
    return new; -- an upsert that does not change it
  end if;
  select known into run from unnest(taken) as known where known @> new.created_at;
  free := coalesce(upper(run), new.created_at);
  while free = (select created_at from public.sounds where created_at >= free order by created_at limit 1)
    or exists (select from private.former_positions where created_at = free)
  loop
    free := free + interval '1 millisecond';
    steps := steps + 1;
  end loop;
  if run is not null or steps > 20 then
    run := tstzrange(new.created_at, free + interval '1 millisecond');
    perform set_config('sounds_service.taken_moments', (taken + run::tstzmultirange)::text, true);
  end if;
  new.created_at := free;
  return new;
end
$$;
create trigger sounds_assign_created_at_of_new before insert on public.sounds for each row
  when (new.created_at is not null)
  execute function private.assign_created_at();
create trigger sounds_assign_created_at_of_moved
  before update of created_at on public.sounds for each row when (old.created_at is distinct from new.created_at)
  execute function private.assign_created_at();

grant execute on function private.are_tags, private.is_file_path, private.is_waveform to authenticated, service_role;

-- supabase/schemas/32_list_filters.sql

create type private.sound_query as (
  category text, include_children boolean, featured boolean, search text, tag text[],
  min_duration numeric, max_duration numeric, q text, ids uuid[], sort text, "limit" integer, cursor jsonb
);

create function private.sound_query(filters jsonb) returns private.sound_query
language plpgsql immutable set search_path = '' as $$
declare
  given constant jsonb := (filters #>> '{}')::jsonb;
  -- Cuts lists before it reads them, because a million ids would take seconds.
  ids constant jsonb := jsonb_path_query_array(given, '$.ids[0 to 99]');
  tags constant jsonb := jsonb_path_query_array(given, '$.tag[0 to 9]');
  asked private.sound_query := jsonb_populate_record(null::private.sound_query, given - '{ids,tag}'::text[]);
begin
  if jsonb_typeof(given -> 'ids') <> 'null' then
    asked.ids := array(select left(id, 100)::uuid from jsonb_array_elements_text(ids) as id);
  end if;
  -- Keeps one character more than tags and categories may have, so that a cut text equals no stored one.
  asked.tag := (
    select array_agg(normalize(left(tag, 101), nfc)) from jsonb_array_elements_text(tags) as tag
    where tag is not null
  );
  asked.category := left(asked.category, 101);
  asked.search := nullif(left(asked.search, 100), '');
  asked.q := nullif(left(asked.q, 100), '');
  asked.limit := least(greatest(coalesce(asked.limit, 50), 1), 100);
  return asked;
end
$$;

create function private.filter_conditions(query private.sound_query, category_condition text) returns text
language plpgsql immutable set search_path = '' as $$
begin
  return concat_ws(' and ',
    'sound.is_active',
    case when query.category is not null then category_condition end,
    case when query.featured is not null then 'sound.is_featured = ($1).featured' end,
    case when query.search is not null then 'sound.search_title like private.like_pattern(($1).search)' end,
    case when query.tag is not null then 'sound.tags @> ($1).tag' end,
    case when query.min_duration is not null then 'sound.duration_sec >= ($1).min_duration' end,
    case when query.max_duration is not null then 'sound.duration_sec <= ($1).max_duration' end
  );
end
$$;
comment on function private.filter_conditions is
  'Returns the filters of a query as SQL about "sound", for statements whose first parameter is the query.';

create function private.slugs_of(query private.sound_query) returns text[]
language plpgsql stable set search_path = '' as $$
begin
  if query.category is null then
    return null;
  end if;
  return private.category_family(query.category, coalesce(query.include_children, false));
end
$$;
comment on function private.slugs_of is
  'Returns the slugs that the category of a query matches, also of hidden categories, whose sounds stay visible. An '
  'unknown one matches its own slug, which no sound has. Null without a category.';

-- supabase/schemas/32_list_order.sql

create type private.list_place as (key text, moment timestamptz);
comment on type private.list_place is
  'The place of a sound in a list: the two values that the list is ordered by. A page begins after it.';
comment on column private.list_place.key is
  'The first value, as text. It depends on the sort. None: list_rank; title: the folded title; popular: the number of '
  'plays at the last hourly refresh, "0" without plays; newest: always an empty text. Null in place of list_rank if no '
  'sound ever had the time of the cursor.';
comment on column private.list_place.moment is 'The second value: created_at of the sound.';

create function private.place_in_list(moment timestamptz) returns private.list_place
language plpgsql stable set search_path = '' as $$
declare
  is_full_second constant boolean := moment = date_trunc('second', moment);
  latest constant timestamptz := case when is_full_second then moment + interval '999 ms' else moment end;
  place private.list_place;
begin
  with former_and_present as (
    select created_at, list_rank from public.sounds
    union all
    select created_at, list_rank from private.former_positions
  )
  select list_rank, created_at into place.key, place.moment from former_and_present
    where created_at between moment and latest
    order by (created_at = moment) desc, list_rank, created_at limit 1; -- the last one in list order
  place.moment := coalesce(place.moment, moment);
  return place;
end
$$;
comment on function private.place_in_list is 'Returns the place of the sound whose created_at is the cursor.';

create function private.place_in_sorted_list(cursor text, sort text) returns private.list_place
language plpgsql stable set search_path = '' as $$
declare
  given jsonb;
  place private.list_place;
begin
  given := convert_from(decode(left(cursor, 4000), 'hex'), 'UTF8');
  place := (given ->> 1, given ->> 2);
  if given ->> 0 is distinct from sort or place.key is null or place.moment is null
    or (sort = 'popular' and place.key::bigint < 0)
  then
    raise data_exception;
  end if;
  return place;
exception
  when data_exception then
    raise exception 'The cursor belongs to another order. Send the next_cursor of a page with the same sort.'
      using errcode = 'check_violation', constraint = 'cursor_is_of_its_order';
end
$$;
comment on function private.place_in_sorted_list is 'Returns the place in the cursor of a list with a sort.';

create function private.place_of(query private.sound_query) returns private.list_place
language plpgsql stable set search_path = '' as $$
declare
  cursor_text constant text := query.cursor #>> '{}'; -- the JSON text without its quotes
begin
  return case
    when query.cursor is null then null
    when query.sort is null then private.place_in_list(cursor_text::timestamptz)
    else private.place_in_sorted_list(cursor_text, query.sort)
  end;
end
$$;
comment on function private.place_of is 'Returns the place in the cursor of a query. Null on the first page.';

create function private.cursor_at(last_sound uuid, sort text) returns json
language plpgsql stable set search_path = '' as $$
declare
  place private.list_place;
begin
  select
      case sort when 'title' then search_title when 'popular' then coalesce(plays, 0)::text else '' end,
      case sort when 'popular' then coalesce(popular.created_at, sound.created_at) else sound.created_at end
    into place.key, place.moment
    from public.sounds as sound left join private.popularity as popular on popular.sound_id = sound.id
    where sound.id = last_sound;
  if sort is null then
    return to_json(private.iso_time(place.moment));
  end if;
  return to_json(encode(convert_to(jsonb_build_array(sort, place.key, place.moment)::text, 'UTF8'), 'hex'));
end
$$;
comment on function private.cursor_at is 'Returns the cursor of the page that begins after a sound.';

create function private.sorted_sounds(
  query private.sound_query, condition text, place private.list_place, ordering text, max_rows integer
) returns uuid[] language plpgsql stable set search_path = '' as $$
declare
  conditions constant text := private.filter_conditions(query, 'sound.category = slug') || ' and ' || condition;
  of_all constant text := 'select array(select id from public.sounds as sound where %1$s order by %2$s limit $3)';
  of_categories constant text := $statement$
    select array(
      select id from unnest($2) as slug cross join lateral (
        select id, list_rank, search_title, created_at from public.sounds as sound
        where %1$s order by %2$s limit $3
      ) as sound
      order by %2$s limit $3
    )$statement$;
  ids uuid[];
begin
  execute format(case when query.category is null then of_all else of_categories end, conditions, ordering)
    into ids using query, private.slugs_of(query), max_rows, place.key, place.moment;
  return ids;
end
$$;
comment on function private.sorted_sounds is 'Returns the first sounds that pass the filters and a condition.';

create function private.sounds_by_sort(query private.sound_query, place private.list_place, max_rows integer)
returns uuid[] language plpgsql stable set search_path = '' as $$
declare
  ordering constant text := case query.sort
    when 'title' then 'sound.search_title, sound.created_at'
    when 'newest' then 'sound.created_at desc'
    else 'sound.list_rank desc, sound.created_at desc' -- without a sort
  end;
  after_place constant text := case
    when place.moment is null then 'true'
    when query.sort = 'title' then '(sound.search_title, sound.created_at) > ($4, $5)'
    when query.sort = 'newest' or place.key is null then 'sound.created_at < $5'
    else '(sound.list_rank, sound.created_at) < ($4::bigint, $5)' -- without a sort
  end;
begin
  return private.sorted_sounds(query, after_place, place, ordering, max_rows);
end
$$;

create function private.played_sounds(query private.sound_query, place private.list_place, max_rows integer)
returns uuid[] language plpgsql stable set search_path = '' as $$
declare
  after_place constant text := case
    when place.moment is null then 'true'
    else '(popular.plays, popular.created_at) < ($4::bigint, $5)'
  end;
  ids uuid[];
begin
  execute format($statement$
    select array(
      select sound.id from private.popularity as popular join public.sounds as sound on sound.id = popular.sound_id
      where %s and %s
      order by popular.plays desc, popular.created_at desc limit $3
    )$statement$, private.filter_conditions(query, 'sound.category = any ($2)'), after_place)
    into ids using query, private.slugs_of(query), max_rows, place.key, place.moment;
  return ids;
end
$$;

create function private.unplayed_sounds(query private.sound_query, place private.list_place, max_rows integer)
returns uuid[] language plpgsql stable set search_path = '' as $$
declare
  was_not_played constant text :=
    'not exists (select from private.popularity as popular where popular.sound_id = sound.id)';
  after_place constant text := case when place.moment is null then 'true' else 'sound.created_at < $5' end;
begin
  return private.sorted_sounds(
    query, was_not_played || ' and ' || after_place, place, 'sound.created_at desc', max_rows);
end
$$;

create function private.sounds_by_popularity(query private.sound_query, place private.list_place, max_rows integer)
returns uuid[] language plpgsql stable set search_path = '' as $$
declare
  without_plays constant text := '0'; -- as private.cursor_at writes it
  ids uuid[] := '{}';
begin
  if place.key = without_plays then
    return private.unplayed_sounds(query, place, max_rows);
  end if;
  ids := private.played_sounds(query, place, max_rows);
  return ids || private.unplayed_sounds(query, place => null, max_rows => max_rows - cardinality(ids));
end
$$;

create function private.sounds_in_order(query private.sound_query, out ids uuid[], out next_cursor json)
language plpgsql stable set search_path = '' as $$
declare
  place constant private.list_place := private.place_of(query);
  limit_and_one constant integer := query.limit + 1; -- the additional sound shows that there is another page
begin
  ids := case query.sort
    when 'popular' then private.sounds_by_popularity(query, place, limit_and_one)
    else private.sounds_by_sort(query, place, limit_and_one) -- title, newest, or no sort
  end;
  if cardinality(ids) > query.limit then
    ids := ids[:query.limit];
    next_cursor := private.cursor_at(ids[query.limit], query.sort);
  end if;
end
$$;
comment on function private.sounds_in_order is
  'Returns a page for a query without q (but perhaps with the filter "search"), and the cursor of the next page.';

-- supabase/schemas/32_lists.sql

create view private.sound with (security_invoker = true) as
  select sound.id, sound.title, sound.description, sound.bowl_note, sound.frequency_hz, sound.duration_sec,
    sound.category, sound.tags,
    'covers/' || sound.cover_image_path as cover_image_url,
    sound.is_featured,
    coalesce(counter.plays, 0) as play_count,
    private.iso_time(sound.created_at) as created_at,
    sound.cover_placeholder, sound.is_premium
  from public.sounds as sound left join public.play_counts as counter on counter.sound_id = sound.id
  where sound.is_active;
comment on view private.sound is 'Sound in API responses. cover_image_url is a path that begins with the bucket.';
grant select on private.sound to authenticated;

create view private.stored_sound with (security_invoker = true) as
  select sound.*, stored.loudness_lufs, stored.true_peak_dbtp, stored.waveform,
    case when not is_locked then stored.audio_path end as audio_path, stored.cover_image_path, is_locked
  from private.sound as sound join public.sounds as stored using (id)
    cross join lateral (select sound.is_premium and not private.is_premium((select auth.uid())) as is_locked) as rule;
comment on view private.stored_sound is
  'Sound with the names of its files, for the SoundDetail of a response. A locked sound has no audio_path.';
grant select on private.stored_sound to authenticated;

create view private.sound_preview with (security_invoker = true) as
  select id, title, category,
    'covers/' || cover_image_path as cover_image_url,
    duration_sec, cover_placeholder, is_premium
  from public.sounds
  where is_active;
comment on view private.sound_preview is 'Compact sound in favorites, history and home sections.';
grant select on private.sound_preview to authenticated;

create function private.active_sounds(wanted uuid[]) returns uuid[]
language plpgsql stable set search_path = '' as $$
begin
  return array(
    select id from unnest(wanted) with ordinality as given (id, place) join public.sounds using (id)
    where is_active order by place
  );
end
$$;

create function private.sounds_as_json(ids uuid[]) returns json[]
language plpgsql stable set search_path = '' as $$
begin
  return array(
    select (select to_json(sound) from private.sound as sound where sound.id = page.id)
    from unnest(ids) with ordinality as page (id, place)
    order by place
  );
end
$$;

create function private.list_sounds(query private.sound_query) returns json
language plpgsql stable security definer set search_path = '' as $$
declare
  ids uuid[];
  next_cursor json;
  corrected_q text;
  data json[];
begin
  if query.ids is not null then
    ids := private.active_sounds(query.ids);
  elsif query.q is not null then
    select found.ids, found.corrected_q into ids, corrected_q from private.search_sounds(query) as found;
  else
    select page.ids, page.next_cursor into ids, next_cursor from private.sounds_in_order(query) as page;
  end if;
  data := private.sounds_as_json(ids);
  if corrected_q is not null then -- the field is absent from all other pages
    return json_build_object('data', data, 'next_cursor', next_cursor, 'corrected_q', corrected_q);
  end if;
  return json_build_object('data', data, 'next_cursor', next_cursor);
end
$$;

create function public.list_sounds(filters jsonb default '{}') returns json
language sql stable set search_path = '' as $$ select private.list_sounds(private.sound_query(filters)) $$;
comment on function public.list_sounds is
  'Returns one page of active sounds: {data, next_cursor}. "filters" has the query parameters of GET /sounds.';

create function public.get_sound(sound uuid) returns json language sql stable set search_path = '' as $$
  select row_to_json(stored) from private.stored_sound as stored where id = get_sound.sound
$$;
comment on function public.get_sound is
  'Returns an active sound with its file names, from which only the service can create addresses, or null.';

create function private.stored_file(bucket text, path text) returns json
language sql stable security definer set search_path = '' as $$
  select json_build_object(
    'path', name, 'version', trim('"' from metadata ->> 'eTag'),
    'content_type', metadata ->> 'mimetype', 'bytes', (metadata ->> 'size')::bigint
  )
  from storage.objects where bucket_id = bucket and name = path
$$;
comment on function private.stored_file is
  'Returns path, version, type and size of a file, or null if it is missing. The version changes with the content.';

create function private.list_sound_files(wanted jsonb) returns json
language sql stable security definer set search_path = '' as $$
  with given as (
    select value::uuid as id, place
    from jsonb_array_elements_text(jsonb_path_query_array((wanted #>> '{}')::jsonb, '$.ids[0 to 49]'))
      with ordinality as item (value, place)
  ),
  found as (
    select sound.*, place, is_premium and not private.is_premium(auth.uid()) as is_locked
    from given join public.sounds as sound using (id)
    where is_active
  )
  select coalesce(json_agg(json_build_object(
    'id', id,
    'audio', case when not is_locked then private.stored_file('audio', audio_path) end,
    'cover', private.stored_file('covers', cover_image_path),
    'is_locked', is_locked
  ) order by place), '[]') from found
$$;

create function public.list_sound_files(wanted jsonb) returns json
language sql stable set search_path = '' as $$ select private.list_sound_files(wanted) $$;
comment on function public.list_sound_files is
  'Returns the files of at most 50 active sounds, without audio if it is locked for the caller. "wanted" is '
  '{"ids": […]}. Only the service can create addresses.';

grant execute on function private.sound_query, private.list_sounds, public.list_sounds to authenticated, service_role;
grant execute on function public.get_sound, private.list_sound_files, public.list_sound_files to authenticated;

-- supabase/schemas/40_favorites.sql

create table public.favorites (
  user_id uuid not null default auth.uid() references auth.users (id) on delete cascade,
  sound_id uuid not null references public.sounds (id) on delete cascade,
  created_at timestamptz not null default now() constraint created_at_is_finite check (isfinite(created_at)),
  primary key (user_id, sound_id)
);
create index favorites_newest_first on public.favorites (user_id, created_at desc, sound_id);
create index favorites_sound_id on public.favorites (sound_id);
comment on table public.favorites is
  'Favorite sounds of each customer. The favorite of a hidden sound reappears with the sound.';

alter table public.favorites enable row level security;
create policy "Users read their own favorites" on public.favorites for select to authenticated
  using (user_id = (select auth.uid()));
create policy "Users add favorites of sounds they see" on public.favorites for insert to authenticated
  with check (user_id = (select auth.uid()) and exists (select from public.sounds where id = sound_id));
create policy "Users remove their own favorites" on public.favorites for delete to authenticated
  using (user_id = (select auth.uid()));
create policy "Tokens of other apps reach nothing" on public.favorites as restrictive to authenticated
  using ((select (select auth.jwt()) ->> 'client_id' is null));
grant select, insert (sound_id), delete on public.favorites to authenticated;
grant select on public.favorites to service_role;

create trigger favorites_lock_account before insert or delete on public.favorites
  for each statement execute function private.lock_account();

create function private.limit_favorites() returns trigger
language plpgsql set search_path = '' set enable_seqscan = off as $$
begin
  perform pg_advisory_xact_lock('public.favorites'::regclass::oid::integer, locked.group)
    from (select distinct private.lock_number_of(user_id) as group from added order by 1) as locked;
  if exists (
    select from (select distinct user_id from added) as adding
    where exists (select from public.favorites where user_id = adding.user_id offset 5000)
  ) then
    raise exception 'A user has at most 5,000 favorites.'
      using errcode = 'check_violation', constraint = 'user_has_at_most_5000_favorites', table = 'favorites';
  end if;
  return null;
end
$$;
create trigger favorites_limit after insert on public.favorites referencing new table as added
  for each statement execute function private.limit_favorites();

create view private.favorite with (security_invoker = true) as
  select sound_id, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as created_at,
    (select sound from private.sound_preview as sound where sound.id = favorite.sound_id) as sounds
  from public.favorites as favorite
  where user_id = (select auth.uid())
  order by favorite.created_at desc, sound_id;
comment on view private.favorite is 'Favorites of the caller in API responses, newest first.';
grant select on private.favorite to authenticated;

create function public.list_favorites() returns json language plpgsql stable set search_path = '' as $$
begin
  perform private.require_account();
  return to_json(array(select favorite from private.favorite as favorite));
end
$$;
comment on function public.list_favorites is 'Returns the favorites of the caller, newest first.';

create function public.add_favorite(sound uuid) returns boolean language plpgsql volatile set search_path = '' as $$
declare
  is_there boolean;
begin
  perform private.require_account();
  with active as (select id from public.sounds where id = sound and is_active),
    added as (insert into public.favorites (sound_id) select id from active on conflict (user_id, sound_id) do nothing)
  select exists (select from active) into is_there;
  return is_there;
end
$$;
comment on function public.add_favorite is 'Adds a favorite of the caller. Returns false if no such sound is active.';

create function public.remove_favorite(sound uuid) returns boolean language plpgsql volatile set search_path = '' as $$
begin
  perform private.require_account();
  delete from public.favorites where user_id = (select auth.uid()) and sound_id = sound;
  return found;
end
$$;
comment on function public.remove_favorite is 'Deletes a favorite of the caller. Returns false if not found.';

grant execute on function public.list_favorites, public.add_favorite, public.remove_favorite to authenticated;

-- supabase/schemas/41_home.sql

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

-- supabase/schemas/42_app_settings.sql

create table public.app_settings (
  key text primary key
    constraint setting_key_is_trimmed_visible_and_has_1_to_64_characters check (private.is_proper_name(key, 64)),
  value jsonb not null constraint setting_value_has_at_most_4096_bytes check (octet_length(value::text) <= 4096),
  -- Clients in typed languages would otherwise reject the whole response.
  constraint message_and_min_versions_are_texts
    check (key not in ('message', 'min_version_android', 'min_version_ios') or jsonb_typeof(value) = 'string')
);
comment on table public.app_settings is
  'Settings for apps, at most 100. Everybody can read them without signing in. Apps get a change within a minute.';
comment on column public.app_settings.key is
  'Name, for example min_version_ios, min_version_android or message, or any other that your app reads.';
comment on column public.app_settings.value is 'Any JSON. Put a text into double quotes, for example "2.1.0".';

alter table public.app_settings enable row level security;
create policy "Users read settings through the service" on public.app_settings for all to anon, authenticated
  using (false) with check (false);
grant select, insert, update, delete on public.app_settings to service_role;

create function private.limit_app_settings() returns trigger language plpgsql set search_path = '' as $$
begin
  perform pg_advisory_xact_lock('public.app_settings'::regclass::oid::bigint);
  if exists (select from public.app_settings offset 100) then
    raise exception 'There are at most 100 settings. Delete one to add another.'
      using errcode = 'check_violation', constraint = 'there_are_at_most_100_settings', table = 'app_settings';
  end if;
  return null;
end
$$;
create trigger app_settings_limit after insert on public.app_settings for each statement
  execute function private.limit_app_settings();

create function public.get_app_settings() returns json language sql stable set search_path = '' as $$
  select json_build_object(
    'settings', coalesce(json_object_agg(key, value order by key), '{}'), 'guests', private.allows_guests())
  from public.app_settings
$$;
comment on function public.get_app_settings is 
  'Returns the settings for apps, as one object, and whether the database accepts guests. For the service only.';
grant execute on function public.get_app_settings to service_role;

-- supabase/schemas/50_plays.sql

create table private.play_receipts (
  user_id uuid not null references auth.users (id) on delete cascade,
  key text collate "C" not null,
  sound_id uuid not null,
  received_at timestamptz not null default now(),
  primary key (user_id, key)
);
create index play_receipts_oldest_first on private.play_receipts (received_at);
comment on table private.play_receipts is
  'Receipts are the idempotency records of plays: each play that was counted in the last 31 days, so that a repeated '
  'request counts once. 31 days are one more than plays may be late, because clocks of phones may be ahead. '
  'private.upkeep deletes older ones.';
comment on column private.play_receipts.key is 'Idempotency-Key of the play, or the id of a play that was sent later.';

create table private.plays_by_day (
  sound_id uuid not null references public.sounds (id) on delete cascade,
  day date not null,
  plays bigint not null,
  primary key (sound_id, day)
) with (fillfactor = 50);
create index plays_by_day_day on private.plays_by_day (day);
comment on table private.plays_by_day is 'Number of plays of each sound on each day (UTC).';

create table private.listeners_by_day (
  day date primary key,
  listeners bigint not null
) with (fillfactor = 50);
comment on table private.listeners_by_day is 'Number of users who played a sound on each day (UTC). No personal data.';

create table private.listening_days (
  user_id uuid not null references auth.users (id) on delete cascade,
  day date not null,
  listened boolean not null default true,
  receipts integer not null default 0,
  primary key (user_id, day)
) with (fillfactor = 50);
create index listening_days_oldest_first on private.listening_days (day);
comment on table private.listening_days is
  'Users who listened or sent plays on each day (UTC), kept for 31 days because plays can arrive late.';
comment on column private.listening_days.listened is
  'True if the user played a sound on this day, also if the play arrived later.';
comment on column private.listening_days.receipts is 'Number of receipts that the user got on the day.';

create function private.lock_user(user_id uuid) returns void language plpgsql volatile set search_path = '' as $$
begin
  perform from auth.users where id = user_id and deleted_at is null for key share;
  if not found then
    raise exception 'The account of this token no longer exists.' using errcode = 'PT401';
  end if;
end
$$;
comment on function private.lock_user is
  'Locks an account until the transaction ends, so that it cannot be deleted meanwhile. Raises PT401 if it is gone.';

create function private.lock_plays(player uuid) returns void language plpgsql volatile set search_path = '' as $$
begin
  perform private.lock_user(player);
  perform pg_advisory_xact_lock('private.play_receipts'::regclass::oid::integer, hashtext(player::text));
end
$$;
comment on function private.lock_plays is 'Serializes the plays and the clearings of the history of a user.';

create function private.time_of_report(moment timestamptz) returns timestamptz
language plpgsql stable set search_path = '' as $$
begin
  if moment is null or moment > now() + interval '5 minutes' then
    return 'infinity';
  end if;
  return date_trunc('milliseconds', least(moment, now()));
end
$$;
comment on function private.time_of_report is
  'Returns the time of a play or a position: at most now, because the clock of a phone may be up to five minutes '
  'ahead; infinity if it is missing or in the future. Rounds down, because a stored time must not be ahead.';

create function private.is_playable(sound uuid, player uuid, moment timestamptz) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return exists (
    select from public.sounds
    where id = sound and is_active and (not is_premium or private.is_premium(player, moment))
  );
end
$$;
comment on function private.is_playable is
  'Returns whether a sound is active, and was not locked for the player at this moment.';

create function private.receipts_a_day(with_api_key boolean) returns integer
language plpgsql immutable set search_path = '' as $$
begin
  return case when with_api_key then 100000 else 1000 end;
end
$$;
comment on function private.receipts_a_day is
  'Returns the daily limit of receipts of a user, so that one account cannot fill the disk.';

create function private.has_receipt(player uuid, idempotency_key text) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return exists (
    select from private.play_receipts
    where user_id = player and key = idempotency_key and received_at >= now() - interval '31 days'
  );
end
$$;
comment on function private.has_receipt is 'Returns whether a play with this key has a receipt of the last 31 days.';

create function private.remember_play(player uuid, idempotency_key text, sound uuid, with_api_key boolean)
returns boolean language plpgsql volatile set search_path = '' as $$
declare
  today constant date := now() at time zone 'UTC';
begin
  insert into private.listening_days as own (user_id, day, listened, receipts) values (player, today, false, 1)
    on conflict (user_id, day) do update set receipts = own.receipts + 1
      where own.receipts < private.receipts_a_day(with_api_key);
  if not found then
    return not private.has_receipt(player, idempotency_key);
  end if;
  insert into private.play_receipts as receipt (user_id, key, sound_id) values (player, idempotency_key, sound)
    on conflict (user_id, key) do update set sound_id = excluded.sound_id, received_at = now()
      where receipt.received_at < now() - interval '31 days';
  if not found then
    update private.listening_days set receipts = receipts - 1 where user_id = player and day = today;
    return false;
  end if;
  return true;
end
$$;
comment on function private.remember_play is
  'Stores the receipt of a play, within the daily limit. Returns whether no earlier play had the key.';

create function private.count_play(sound uuid, player uuid, idempotency_key text, with_api_key boolean) returns json
language plpgsql volatile security definer set search_path = '' as $$
declare
  today constant date := now() at time zone 'UTC';
  is_there constant boolean := private.is_playable(sound, player, now());
  current_count bigint;
begin
  -- All plays of a sound lock one row of counts until the commit, so the commit does not wait for the disk: 8,200 plays
  -- a second of one sound instead of 2,600. A crash of Postgres may lose the plays of the last 0.6 s.
  perform set_config('synchronous_commit', 'off', true);
  perform private.lock_plays(player);
  if is_there and (idempotency_key is null or private.remember_play(player, idempotency_key, sound, with_api_key)) then
    perform private.add_listener(player, array[today]);
    -- This play may have waited until a clearing of the history was committed.
    if private.time_of_report(now()) > private.cleared_at(player, sound) then
      perform private.add_to_history(player, sound, 1, now());
    end if;
    return json_build_object('id', sound, 'play_count', private.add_to_counts(sound, 1, today));
  end if;

  -- Not counted, because the play is repeated or its sound is not there.
  if exists (
    select from private.play_receipts where user_id = player and key = idempotency_key and sound_id <> sound
  ) then
    raise exception 'The key % was used for another sound.', idempotency_key
      using errcode = 'check_violation', constraint = 'key_is_of_one_sound', table = 'play_receipts';
  elsif not is_there then
    return null;
  end if;
  select plays into current_count from public.play_counts where sound_id = sound;
  return json_build_object('id', sound, 'play_count', coalesce(current_count, 0));
end
$$;

create function public.count_play(
  sound uuid, player uuid default null, idempotency_key text default null, with_api_key boolean default false
) returns json language plpgsql volatile set search_path = '' as $$
begin
  return private.count_play(sound, player, idempotency_key, with_api_key);
end
$$;
comment on function public.count_play is
  'Counts one play by a user, once for each key. Returns the count, or null if no such sound is active and unlocked. '
  '"player" is this user: as_api_key passes the owner of the key. "with_api_key" is true for requests with an API key.';

create function private.add_listener(player uuid, days date[]) returns void
language plpgsql volatile set search_path = '' as $$
begin
  with added as (
    insert into private.listening_days as own (user_id, day)
      select player, day from unnest(days) as day group by day order by day
      on conflict (user_id, day) do update set listened = true where not own.listened
      returning day
  )
  insert into private.listeners_by_day as counter (day, listeners) select day, 1 from added order by day
    on conflict (day) do update set listeners = counter.listeners + 1;
end
$$;
comment on function private.add_listener is 'Adds a user to the listeners of the given days, once for each day.';

create function private.add_to_history(player uuid, sound uuid, number bigint, last_moment timestamptz) returns void
language plpgsql volatile set search_path = '' as $$
begin
  if number > 0 then
    insert into public.history as entry (user_id, sound_id, plays, last_played_at)
      values (player, sound, number, last_moment)
      on conflict (user_id, sound_id) do update set
        plays = entry.plays + excluded.plays, last_played_at = greatest(entry.last_played_at, excluded.last_played_at);
  end if;
end
$$;
comment on function private.add_to_history is 'Adds plays of a sound to the history of a user.';

create function private.add_to_counts(sound uuid, number bigint, played_on date) returns bigint
language plpgsql volatile set search_path = '' as $$
declare
  new_count bigint;
begin
  insert into public.play_counts as counter (sound_id, plays) values (sound, number)
    on conflict (sound_id) do update set plays = least(counter.plays + excluded.plays, 9007199254740991)
    returning plays into new_count;
  insert into private.plays_by_day as counter values (sound, played_on, number)
    on conflict (sound_id, day) do update set plays = counter.plays + excluded.plays;
  return new_count;
end
$$;
comment on function private.add_to_counts is 'Adds plays of one day to the counts of a sound. Returns the new count.';

grant execute on function private.count_play, public.count_play to service_role;

-- supabase/schemas/50_plays_sent_later.sql

create type private.sent_play as (place integer, key text, sound_id uuid, moment timestamptz);
comment on type private.sent_play is
  'A play of POST /plays, with its place in the request. Its key for receipts is the id that the app sent.';

create function private.sent_plays(plays jsonb) returns private.sent_play[]
language plpgsql stable set search_path = '' as $$
begin
  return array(
    select (place, play ->> 'id', play ->> 'sound_id', private.time_of_report((play ->> 'played_at')::timestamptz))
      ::private.sent_play
    from jsonb_array_elements(plays) with ordinality as sent (play, place)
    order by place
  );
end
$$;

create function private.receipts_left(player uuid, with_api_key boolean) returns integer
language plpgsql stable set search_path = '' as $$
declare
  receipts_today constant integer := (
    select receipts from private.listening_days where user_id = player and day = (now() at time zone 'UTC')::date
  );
begin
  return greatest(private.receipts_a_day(with_api_key) - coalesce(receipts_today, 0), 0);
end
$$;
comment on function private.receipts_left is
  'Returns how many receipts the user may still get today. Those of plays by apps and by API keys count together.';

create function private.remember_plays(player uuid, plays private.sent_play[]) returns void
language plpgsql volatile set search_path = '' as $$
begin
  insert into private.play_receipts as receipt (user_id, key, sound_id)
    select player, key, sound_id from unnest(plays)
    on conflict (user_id, key) do update set sound_id = excluded.sound_id, received_at = now();
  insert into private.listening_days as own (user_id, day, listened, receipts)
    values (player, (now() at time zone 'UTC')::date, false, cardinality(plays))
    on conflict (user_id, day) do update set receipts = own.receipts + excluded.receipts;
end
$$;
comment on function private.remember_plays is
  'Stores a receipt for each of these plays, and replaces those of older plays with the same keys.';

create function private.count_new_plays(player uuid, plays private.sent_play[], with_api_key boolean)
returns private.sent_play[] language plpgsql volatile set search_path = '' as $$
declare
  playable private.sent_play[];
  counted private.sent_play[];
begin
  perform private.lock_plays(player);
  -- Takes the first play of each key among those that may count, so that one that is too old hides no other.
  playable := array(
    select distinct on (key) play
    from unnest(plays) as play
    where moment > now() - interval '30 days' and moment <= now() and private.is_playable(sound_id, player, moment)
    order by key, place
  );
  counted := array(
    select play from unnest(playable) as play
    where not private.has_receipt(player, key)
    order by place limit private.receipts_left(player, with_api_key)
  );
  perform private.remember_plays(player, counted);
  perform private.add_listener(player, array(select (moment at time zone 'UTC')::date from unnest(counted)));
  -- Adds plays that were made before the history was cleared to the counts only. Postgres calls the functions from left
  -- to right, so this locks the history before the counts, for each sound and day.
  perform
    private.add_to_history(player, sound_id, number_after_clearing, last_moment),
    private.add_to_counts(sound_id, played, day)
    from (
      select sound_id, (moment at time zone 'UTC')::date as day, count(*) as played, max(moment) as last_moment,
        count(*) filter (where moment > cleared_at) as number_after_clearing
      from unnest(counted) join private.clearings(player, array(select sound_id from unnest(counted))) using (sound_id)
      group by sound_id, day order by sound_id, last_moment
    ) as plays_of_day;
  return counted;
end
$$;
comment on function private.count_new_plays is
  'Counts plays of the last 30 days without a receipt, up to the daily limit. Returns those it counted.';

create function private.status_of_play(play private.sent_play, player uuid, counted_place integer) returns text
language plpgsql stable set search_path = '' as $$
begin
  return case
    when play.place = counted_place then 'counted'
    when play.place > counted_place then 'duplicate' -- of the counted play
    when counted_place is null and private.has_receipt(player, play.key) then 'duplicate' -- of an earlier request
    when play.moment <= now() - interval '30 days' then 'too_old'
    when play.moment > now() then 'in_future'
    when not private.is_playable(play.sound_id, player, play.moment) then 'not_found'
    else 'over_limit'
  end;
end
$$;
comment on function private.status_of_play is
  'Returns the status of a play. "counted_place" is the place of the play with its key that was counted, or null.';

create function private.count_plays(plays jsonb, player uuid, with_api_key boolean) returns json
language plpgsql volatile security definer set search_path = '' as $$
declare
  sent constant private.sent_play[] := private.sent_plays(plays);
  counted private.sent_play[];
begin
  perform set_config('synchronous_commit', 'off', true); -- for the reason given in private.count_play
  while counted is null loop
    begin
      counted := private.count_new_plays(player, sent, with_api_key);
    exception when foreign_key_violation then
      null; -- a sound was deleted meanwhile, as users are locked; the next attempt does not find the sound
    end;
  end loop;
  return to_json(array(
    select json_build_object('id', key, 'status', private.status_of_play(play, player, counted_play.place))
    from unnest(sent) as play left join unnest(counted) as counted_play using (key)
    order by play.place
  ));
end
$$;

create function public.count_plays(plays jsonb, player uuid default null, with_api_key boolean default false)
returns json language sql volatile set search_path = '' as $$
  select private.count_plays(plays, player, with_api_key)
$$;
comment on function public.count_plays is
  'Counts plays [{id, sound_id, played_at}] by a user, once for each id. Returns [{id, status}] in the same order. '
  '"player" is this user: as_api_key passes the owner of the key. "with_api_key" is true for requests with an API key.';

grant execute on function private.count_plays, public.count_plays to service_role;

-- supabase/schemas/51_history.sql

create table public.history (
  user_id uuid not null references auth.users (id) on delete cascade,
  -- Has no foreign key: see private.remove_from_histories.
  sound_id uuid not null,
  plays bigint not null constraint plays_is_above_0 check (plays > 0),
  last_played_at timestamptz(3) not null,
  primary key (user_id, sound_id)
);
create index history_newest_first on public.history (user_id, last_played_at, sound_id);
create index history_sound_id on public.history (sound_id);
comment on table public.history is
  'Sounds that each customer played, how often and when last. Customers can read and clear their own.';
comment on column public.history.plays is 'Number of plays by this customer since the entry was last removed.';

alter table public.history enable row level security;
create policy "Users read their own history" on public.history for select to authenticated
  using (user_id = (select auth.uid()));
create policy "Users remove from their own history" on public.history for delete to authenticated
  using (user_id = (select auth.uid()));
create policy "Tokens of other apps reach nothing" on public.history as restrictive to authenticated
  using ((select (select auth.jwt()) ->> 'client_id' is null));
grant select, delete on public.history to authenticated;
grant select on public.history to service_role;

create trigger history_lock_account before delete on public.history
  for each statement execute function private.lock_account();

create function private.remove_from_histories() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  delete from public.history where sound_id = old.id;
  return null;
end
$$;
create trigger "Histories_first" after delete on public.sounds for each row
  execute function private.remove_from_histories();
create trigger sounds_remove_from_histories after delete on public.sounds for each row
  execute function private.remove_from_histories();

create table private.history_clearings (
  id bigint generated always as identity primary key,
  user_id uuid not null references auth.users (id) on delete cascade,
  sound_id uuid references public.sounds (id) on delete cascade,
  cleared_at timestamptz(3) not null,
  unique nulls not distinct (user_id, sound_id)
);
create index history_clearings_oldest_first on private.history_clearings (cleared_at);
create index history_clearings_sound_id on private.history_clearings (sound_id);
comment on table private.history_clearings is
  'When customers last cleared their history, or removed a sound from it. What was played before and arrives later '
  'does not come back. private.upkeep deletes rows after 30 days, because older plays and positions are rejected.';
comment on column private.history_clearings.sound_id is 'Sound that was removed. Null if all were.';

create function private.clearings(player uuid, sounds uuid[]) returns table (sound_id uuid, cleared_at timestamptz)
language plpgsql stable set search_path = '' as $$
begin
  return query
    select sound, greatest(of_all.cleared_at, of_sound.cleared_at, '-infinity')
    from (select distinct sound from unnest(sounds) as sound) as asked
      left join private.history_clearings as of_all on of_all.user_id = player and of_all.sound_id is null
      left join private.history_clearings as of_sound on of_sound.user_id = player and of_sound.sound_id = sound;
end
$$;
comment on function private.clearings is
  'Returns for each sound when a customer last cleared the history, or removed the sound from it. -infinity: not in 30 '
  'days.';

create function private.cleared_at(player uuid, sound uuid) returns timestamptz
language plpgsql stable set search_path = '' as $$
begin
  return (select clearing.cleared_at from private.clearings(player, array[sound]) as clearing);
end
$$;
comment on function private.cleared_at is
  'Returns what private.clearings does for one sound. A call for each of many sounds takes longer.';

create function private.remember_clearing(player uuid, sound uuid) returns void
language plpgsql volatile set search_path = '' as $$
begin
  insert into private.history_clearings (user_id, sound_id, cleared_at)
    values (player, sound, date_trunc('milliseconds', clock_timestamp()))
    on conflict (user_id, sound_id) do update set cleared_at = excluded.cleared_at;
end
$$;
comment on function private.remember_clearing is
  'Stores that a customer has now removed a sound, or all sounds (null), from the history.';

create view private.history_entry with (security_invoker = true) as
  select sound_id, private.iso_time(entry.last_played_at) as last_played_at, plays,
    (select sound from private.sound_preview as sound where sound.id = entry.sound_id) as sounds
  from public.history as entry
  where user_id = (select auth.uid())
  order by entry.last_played_at desc, sound_id desc;
comment on view private.history_entry is 'History of the caller in API responses, newest first.';
grant select on private.history_entry to authenticated;

create function public.list_history(
  page_size integer default 50, before_moment timestamptz default null, before_sound uuid default null
) returns json language plpgsql stable set search_path = '' as $$
declare
  max_rows constant integer := least(greatest(page_size, 1), 100);
  ids uuid[];
begin
  perform private.require_account();
  ids := array(
    select sound_id from public.history
    where user_id = (select auth.uid())
      and (last_played_at, sound_id)
        < (coalesce(before_moment, 'infinity'), coalesce(before_sound, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
    order by last_played_at desc, sound_id desc
    limit max_rows + 1
  );
  return json_build_object(
    'data', array(
      select (select entry from private.history_entry as entry where entry.sound_id = page.sound_id)
      from unnest(ids[:max_rows]) with ordinality as page (sound_id, position)
      order by position
    ),
    'has_more', cardinality(ids) > max_rows
  );
end
$$;
comment on function public.list_history is
  'Returns one page of the caller''s history, newest first: {data, has_more}. It begins after the entry of '
  'before_sound at before_moment.';

create function public.clear_history() returns boolean
language plpgsql volatile set search_path = '' as $$ begin return private.clear_history(); end $$;
comment on function public.clear_history is
  'Deletes the history of the caller, and all positions. Returns false if the history was empty.';

create function public.remove_from_history(sound uuid) returns boolean
language plpgsql volatile set search_path = '' as $$ begin return private.remove_from_history(sound); end $$;
comment on function public.remove_from_history is
  'Deletes a sound from the history, and its position. Returns false if it was not in the history.';

grant execute on function public.list_history, public.clear_history, public.remove_from_history to authenticated;

-- supabase/schemas/52_popular.sql

create materialized view private.popularity as
  select sound_id, plays, created_at
  from public.play_counts join public.sounds on id = sound_id
  where plays > 0;
create unique index popularity_sound_id on private.popularity (sound_id);
create index popularity_order on private.popularity (plays, created_at);
comment on materialized view private.popularity is 'Number of plays of each sound at the last hourly refresh.';

-- supabase/schemas/53_corrections.sql

create view private.visible_category with (security_invoker = true) as
  select id, parent_id, slug, private.search_vector(name || ' ' || slug, null, null, null) as search_vector
  from public.categories
  where is_active and (parent_id is null or private.is_category_active(parent_id));
comment on view private.visible_category is
  'Categories that a search finds by their name or slug, with the search index of both.';

create materialized view private.vocabulary as
  with marked as (
    select word, ndoc from ts_stat($$
      select search_vector from public.sounds where is_active
      union all
      select search_vector from private.visible_category
    $$)
    where word !~ '^[=#]?[/+]'
  ),
  total as (select greatest(count(*), 1)::double precision as sounds from public.sounds where is_active),
  counted as (
    select ltrim(word, '=#') collate "C" as word, max(ndoc) / min(total.sounds) as share,
      bool_and(word !~ '^[=#]') as in_descriptions_only
    from marked cross join total
    group by 1
  )
  select word, share, in_descriptions_only from counted
  where share >= 0.001 or word !~ '^[0-9]';
create unique index vocabulary_word on private.vocabulary (word) include (share, in_descriptions_only);
comment on materialized view private.vocabulary is
  'Words of active sounds and of categories at the last refresh (hourly, and after an import). The share is the number '
  'of sounds and categories that have the word, divided by the number of sounds. Leaves out numbers that few sounds '
  'have, because each sound may be numbered.';

create function private.swaps(word text) returns text[]
language plpgsql immutable parallel safe set search_path = '' as $$
begin
  return array(
    select overlay(word placing substr(word, place + 1, 1) || substr(word, place, 1) from place for 2)
    from generate_series(1, char_length(word) - 1) as place
  );
end
$$;
comment on function private.swaps is 'Returns the spellings in which two neighbouring letters are swapped.';

create function private.max_edits(misspelt text) returns integer
language plpgsql immutable parallel safe set search_path = '' as $$
begin
  return case
    when char_length(misspelt) < 4 or misspelt ~ '[0-9]' then 0
    when char_length(misspelt) < 8 then 1
    else 2
  end;
end
$$;
comment on function private.max_edits is 'Returns how many edits of a word are corrected. A swap of neighbours is one.';

create function private.correction(misspelt text) returns text
language plpgsql stable set search_path = '' set enable_seqscan = off as $$
declare
  max_edits constant integer := private.max_edits(misspelt);
  swapped constant text[] := private.swaps(misspelt);
  swapped_twice constant text[] := array(
    select unnest(private.swaps(spelled)) from unnest(swapped) as spelled where max_edits = 2
  );
  correction text;
begin
  if max_edits = 0 then
    return null;
  end if;
  with beginning_alike as (
    select word, share, max_edits = 2 and left(word, 3) = left(misspelt, 3) as may_have_two
    from private.vocabulary
    where not in_descriptions_only and word >= left(misspelt, 2) and word < private.end_of_range(left(misspelt, 2))
      and abs(char_length(word) - char_length(misspelt)) <= max_edits
  ),
  alike as (
    select word, share, may_have_two,
      -- A swap has the distance 2, so a swap and another edit have 3.
      extensions.levenshtein_less_equal(word, misspelt, case when may_have_two then 3 else 1 end) as distance
    from beginning_alike
  ),
  candidates as (
    select word, share, distance as edits from alike
    union all -- a swap
    select word, share, 1 from private.vocabulary where word = any (swapped) and not in_descriptions_only
    union all -- a swap and another edit
    select word, share, 1 + extensions.levenshtein_less_equal(word, spelled, 1)
    from alike cross join unnest(swapped) as spelled where may_have_two and distance = 3
    union all
    select word, share, 2 from private.vocabulary where word = any (swapped_twice) and not in_descriptions_only
  )
  select word into correction
    from candidates
    where edits = 1 or (edits <= max_edits and left(word, 3) = left(misspelt, 3))
    order by edits, share desc, word limit 1;
  return correction;
end
$$;
comment on function private.correction is
  'Returns the most similar word of titles, tags and categories for a misspelt one, or null.';

-- supabase/schemas/53_found_words.sql

create type private.search_word as (
  place integer,
  typed text,
  spelled text,
  joined text[],
  is_last boolean,
  is_known boolean,
  is_whole boolean,
  is_beginning boolean,
  slugs text[],
  slugs_beginning text[],
  share double precision,
  in_descriptions_only boolean
);
comment on type private.search_word is 'A word of a search, and what sounds and categories have of it.';
comment on column private.search_word.place is 'Position in the search, from 1.';
comment on column private.search_word.typed is 'The folded word, as private.search_words returns it.';
comment on column private.search_word.spelled is
  'The spelling that was looked up: typed, or without "e" after "a", "o" and "u" if neither the word as typed, nor a '
  'joined form, nor a longer word is known.';
comment on column private.search_word.joined is
  'Up to two texts: the word joined with the one before it and the one after it, because "lo fi" is also written '
  '"lofi". Words that may be pairs of letters (private.may_be_pair) are not joined.';
comment on column private.search_word.is_last is
  'True for the last word that is looked up, which people may still be typing. private.max_words cuts longer searches.';
comment on column private.search_word.is_known is
  'True if is_whole or is_beginning: the vocabulary had the word at its last refresh, or the catalogue has it now. '
  'Filters of the search do not matter.';
comment on column private.search_word.is_whole is
  'True if a sound or a category has the word itself, or joined with a neighbour.';
comment on column private.search_word.is_beginning is
  'True if longer words that begin with it match, too: the catalogue has some, or may have some that are newer than '
  'the vocabulary. False where private.look_up does not look for them.';
comment on column private.search_word.slugs is
  'Categories whose name or slug has the word or a joined form of it, and their sub-categories.';
comment on column private.search_word.slugs_beginning is
  'Categories whose name or slug has a word that begins with it, and their sub-categories.';
comment on column private.search_word.share is
  'Greatest share that the vocabulary has for the word and its joined forms (private.find_whole). If it has none of '
  'them, the greatest share of longer words (private.find_longer), else 0.';
comment on column private.search_word.in_descriptions_only is
  'True if the vocabulary has the word and its joined forms, or else the longer words, from descriptions only.';

create function private.any_matches(matching tsquery) returns boolean
language plpgsql stable set search_path = '' set enable_seqscan = off as $$
begin
  return exists (select from public.sounds where is_active and search_vector @@ matching)
    or exists (select from private.visible_category where search_vector @@ matching);
end
$$;
comment on function private.any_matches is
  'Tells whether a sound or a category matches. Also finds rare numbers, and words newer than the vocabulary.';

create function private.slugs_named(matching tsquery) returns text[]
language plpgsql stable set search_path = '' set enable_seqscan = off as $$
declare
  max_categories constant integer := 20;
  named constant uuid[] := array(
    select id from private.visible_category where search_vector @@ matching limit max_categories + 1
  );
begin
  if cardinality(named) > max_categories then
    return '{}';
  end if;
  return array(select slug from private.visible_category where id = any (named) or parent_id = any (named));
end
$$;
comment on function private.slugs_named is
  'Returns the categories whose name or slug matches, and their sub-categories. None if more than 20 match.';

create function private.find_whole(word private.search_word) returns private.search_word
language plpgsql stable
set search_path = '' set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
declare
  forms constant text[] := word.spelled || word.joined;
  -- The index has neighbours such as "lo fi" also as "+lofi", from titles, tags, descriptions and names of categories.
  -- The vocabulary leaves out words with "+".
  indexed_forms constant text[] := forms || ('+' || word.spelled);
  matching constant tsquery := array_to_string(
    array(select quote_literal(form) from unnest(indexed_forms) as form), '|');
begin
  select max(known.share), bool_and(known.in_descriptions_only) into word.share, word.in_descriptions_only
    from private.vocabulary as known where known.word = any (forms);
  word.is_whole := word.share is not null or private.any_matches(matching); -- with a share, the vocabulary has a form
  word.slugs := case when word.is_whole then private.slugs_named(matching) end;
  return word;
end
$$;
comment on function private.find_whole is 'Adds to a word the sounds and categories that have the word itself.';

create function private.find_longer(word private.search_word) returns private.search_word
language plpgsql stable
set search_path = '' set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
declare
  matching constant tsquery := quote_literal(word.spelled) || ':*';
  -- The share is null if the vocabulary has neither the word nor a joined form of it. It lacks rare numbers, and words
  -- that are newer.
  vocabulary_may_lack_it constant boolean := word.share is null or word.spelled ~ '^[0-9]';
  share_of_longer double precision;
  longer_in_descriptions_only boolean;
begin
  select max(known.share), bool_and(known.in_descriptions_only) into share_of_longer, longer_in_descriptions_only
    from private.vocabulary as known
    where known.word > word.spelled and known.word < private.end_of_range(word.spelled);
  word.is_beginning := case
    when share_of_longer is not null then true
    when vocabulary_may_lack_it then private.any_matches(matching)
    -- Longer words may be newer than the vocabulary. Assumes some for a rare word, and none for a frequent one, because
    -- to search for longer words would take 10 ms.
    else word.share < 0.1
  end;
  word.share := coalesce(word.share, share_of_longer);
  word.in_descriptions_only := coalesce(word.in_descriptions_only, longer_in_descriptions_only);
  word.slugs_beginning := case when word.is_beginning then private.slugs_named(matching) end;
  return word;
end
$$;
comment on function private.find_longer is 'Adds to a word the sounds and categories with longer words that begin so.';

create function private.look_up(word private.search_word, spelling text) returns private.search_word
language plpgsql stable set search_path = '' as $$
begin
  word.spelled := spelling;
  word.is_beginning := false;
  word := private.find_whole(word);
  -- Longer words count for the last word, and for others only if nothing has the word itself or a joined form. They
  -- always count for a word that may belong to a script of pairs of letters, because it may be a single letter there.
  if word.is_last or not word.is_whole or private.may_be_pair(spelling) then
    word := private.find_longer(word);
  end if;
  word.is_known := word.is_whole or word.is_beginning;
  word.share := coalesce(word.share, 0);
  word.in_descriptions_only := coalesce(word.in_descriptions_only, false);
  return word;
end
$$;
comment on function private.look_up is 'Adds to a word what the catalogue has in a spelling of it.';

create function private.find_word(word private.search_word) returns private.search_word
language plpgsql stable set search_path = '' as $$
declare
  without_e constant text := regexp_replace(word.typed, '([aou])e', '\1', 'g'); -- "ü" is also written "ue"
  as_typed private.search_word;
begin
  as_typed := private.look_up(word, word.typed);
  if as_typed.is_known or without_e = word.typed then
    return as_typed;
  end if;
  return private.look_up(word, without_e);
end
$$;
comment on function private.find_word is
  'Looks a word up as typed and, if it is unknown so, without "e" after "a", "o" and "u".';

create function private.find_words(words text[]) returns private.search_word[]
language plpgsql stable set search_path = '' as $$
declare
  joined constant text[] := private.joined_words(words);
  found_words private.search_word[] := '{}';
  word private.search_word;
begin
  for place in 1..cardinality(words) loop
    word := null;
    word.place := place;
    word.typed := words[place];
    -- Removes nulls: those beyond the first and the last word, and those of words that are not joined.
    word.joined := array_remove(array[joined[place - 1], joined[place]], null);
    word.is_last := place = cardinality(words);
    found_words := found_words || private.find_word(word);
  end loop;
  return found_words;
end
$$;
comment on function private.find_words is 'Returns the words of a search, each as the catalogue has it.';

create type private.search_text as (q text, folded text, words text[], found_words private.search_word[]);
comment on type private.search_text is 'A text to search for.';
comment on column private.search_text.q is 'The text as typed or corrected.';
comment on column private.search_text.folded is 'The folded text, to compare with titles.';
comment on column private.search_text.words is 'All words of the text.';
comment on column private.search_text.found_words is
  'The first words, each as the catalogue has it. Later words only count in titles that contain the whole text.';

create function private.max_words(folded text) returns integer
language plpgsql immutable set search_path = '' as $$
begin
  return case when octet_length(folded) > 2 * char_length(folded) then 12 else 6 end;
end
$$;
comment on function private.max_words is
  'Returns how many words of a text are looked up: 12 if most of its letters take three bytes, else 6. Chinese, '
  'Japanese and Thai need more, because their words are pairs of letters. Hindi has spaces, but gets as many.';

create function private.read_search(q text) returns private.search_text
language plpgsql stable set search_path = '' as $$
declare
  search private.search_text;
begin
  search.q := q;
  search.folded := btrim(private.fold_for_search(q));
  search.words := private.words_of_folded(search.folded);
  search.found_words := private.find_words(search.words[:private.max_words(search.folded)]);
  return search;
end
$$;
comment on function private.read_search is 'Splits a text to search for into words, and looks them up.';

-- supabase/schemas/53_queries.sql

create type private.search_part as enum ('title', 'labels', 'texts');
comment on type private.search_part is
  'Where words are searched: in the title; also in tags and the category; also in the description.';

create function private.marks_of(part private.search_part) returns text[]
language plpgsql immutable set search_path = '' as $$
begin
  return case part when 'title' then '{=}'::text[] when 'labels' then '{=,#}' else array[''] end;
end
$$;
comment on function private.marks_of is 'Returns the marks that private.search_vector gives the words of a part.';

create function private.any_of(forms text[], mark text) returns text
language plpgsql immutable set search_path = '' as $$
begin
  return format('''%s%s''', mark, array_to_string(forms, '''|''' || mark));
end
$$;
comment on function private.any_of is 'Returns the text query for any form of a word, with a mark.';

create function private.word_query(word private.search_word, part private.search_part, with_beginnings boolean)
returns text language plpgsql immutable set search_path = '' as $$
declare
  spellings constant text[] := array[word.spelled, '+' || word.spelled] || word.joined;
  is_beginning constant boolean := with_beginnings and word.is_beginning;
  mark text;
  alternatives text[] := '{}';
begin
  foreach mark in array private.marks_of(part) loop
    if word.is_whole then
      alternatives := alternatives || private.any_of(spellings, mark);
    end if;
    if is_beginning then
      alternatives := alternatives || (private.any_of(array[word.spelled], mark) || ':*');
    end if;
  end loop;
  if part <> 'title' and word.slugs <> '{}' then
    alternatives := alternatives || private.any_of(word.slugs, '/');
  end if;
  if part <> 'title' and is_beginning and word.slugs_beginning <> '{}' then
    alternatives := alternatives || private.any_of(word.slugs_beginning, '/');
  end if;
  return array_to_string(alternatives, '|');
end
$$;
comment on function private.word_query is
  'Returns the text query for any form of a word in a part of a sound. It is empty if there is none.';

create function private.words_query(
  found_words private.search_word[], part private.search_part, with_beginnings boolean
) returns tsquery language plpgsql immutable set search_path = '' as $$
declare
  word private.search_word;
  query text;
  queries text[] := '{}';
begin
  foreach word in array found_words loop
    query := private.word_query(word, part, with_beginnings);
    if query = '' then
      return null;
    end if;
    queries := queries || query;
  end loop;
  return '(' || array_to_string(queries, ')&(') || ')';
end
$$;
comment on function private.words_query is 'Returns the query for all words, or null if no sound can have one of them.';

create type private.search_tier as (matching tsquery, part private.search_part);
comment on type private.search_tier is 'A step of the order, with the query for its sounds.';

create function private.tiers_of(found_words private.search_word[], part private.search_part)
returns private.search_tier[] language plpgsql immutable set search_path = '' as $$
declare
  whole_words constant tsquery := private.words_query(found_words, part, false);
  beginnings constant tsquery := private.words_query(found_words, part, true);
  tiers private.search_tier[] := '{}';
begin
  if whole_words is not null then
    tiers := tiers || (whole_words, part)::private.search_tier;
  end if;
  if beginnings is distinct from whole_words then
    tiers := tiers || (beginnings, part)::private.search_tier;
  end if;
  return tiers;
end
$$;
comment on function private.tiers_of is 'Returns the queries for words in a part: whole words, then also beginnings.';

create function private.search_tiers(found_words private.search_word[]) returns private.search_tier[]
language plpgsql immutable set search_path = '' as $$
begin
  if cardinality(found_words) = 0 then
    return '{}';
  end if;
  return private.tiers_of(found_words, 'title') || private.tiers_of(found_words, 'labels')
    || private.tiers_of(found_words, 'texts');
end
$$;
comment on function private.search_tiers is
  'Returns the steps of the order, best first. The query of the last one finds all sounds.';

create function private.preferring(tiers private.search_tier[], short_words private.search_word[])
returns private.search_tier[] language plpgsql immutable set search_path = '' as $$
declare
  preferred tsquery;
begin
  if cardinality(short_words) = 0 then
    return tiers;
  end if;
  preferred := private.words_query(short_words, 'texts', true);
  return array(
    select (case when is_preferred then matching && preferred else matching end, part)::private.search_tier
    from unnest(tiers) with ordinality as tier (matching, part, step)
      cross join unnest(array[true, false]) as is_preferred
    order by step, is_preferred desc
  );
end
$$;
comment on function private.preferring is 'Puts sounds that also have the short words first within each step.';

-- supabase/schemas/53_ranking.sql

create function private.add_sounds(
  page uuid[], query private.sound_query, condition text, ordering text, matching tsquery, folded text,
  end_of_head private.list_place
) returns uuid[] language plpgsql stable set search_path = '' set enable_seqscan = off as $$
declare
  conditions constant text := private.filter_conditions(query, 'sound.category = any ($2)') || ' and ' || condition;
  added uuid[];
begin
  execute format(
    'select array(select id from public.sounds as sound where %s and id <> all ($8) order by %s limit $3)',
    conditions, ordering)
    into added
    using query, private.slugs_of(query), query.limit - cardinality(page), end_of_head.key, end_of_head.moment,
      matching, folded, page;
  return page || added;
end
$$;
comment on function private.add_sounds is
  'Adds the next sounds to a page that meet a condition, in an order.';

create function private.add_matching(
  page uuid[], query private.sound_query, matching tsquery, end_of_head private.list_place
) returns uuid[] language plpgsql stable set search_path = '' as $$
begin
  if end_of_head.moment is not null and cardinality(page) < query.limit then
    page := private.add_sounds(page, query,
      'search_vector @@ $6 and (list_rank, created_at) >= ($4::bigint, $5)', 'list_rank desc, created_at desc',
      matching, null, end_of_head);
  end if;
  if cardinality(page) < query.limit then
    page := private.add_sounds(page, query,
      'search_vector @@ $6', 'list_rank + 0 desc, created_at desc', matching, null, null);
  end if;
  return page;
end
$$;
comment on function private.add_matching is
  'Adds sounds that match, in list order. Searches the head of the list first, if one is given.';

create function private.add_titles_beginning(
  page uuid[], query private.sound_query, matching tsquery, folded text
) returns uuid[] language plpgsql stable set search_path = '' as $$
begin
  if cardinality(page) >= query.limit then
    return page;
  end if;
  return private.add_sounds(page, query,
    'search_vector @@ $6 and search_title >= $7 and search_title < private.end_of_range($7)',
    'search_title, list_rank desc, created_at desc', matching, folded, null);
end
$$;
comment on function private.add_titles_beginning is
  'Adds sounds that match and whose title begins with the folded text of the search, by title.';

create function private.add_titles_containing(page uuid[], query private.sound_query, folded text) returns uuid[]
language plpgsql stable set search_path = '' as $$
begin
  if cardinality(page) >= query.limit or char_length(folded) < 4 then
    return page;
  end if;
  return private.add_sounds(page, query,
    'search_title like private.like_pattern($7)', 'list_rank + 0 desc, created_at desc', null, folded, null);
end
$$;
comment on function private.add_titles_containing is
  'Adds sounds whose title contains the folded text, also inside of words. Shorter texts than four letters would be '
  'inside of too many words.';

create function private.end_of_head(found_words private.search_word[]) returns private.list_place
language plpgsql stable set search_path = '' as $$
declare
  min_share constant double precision := 1 - 0.9 / greatest(cardinality(found_words), 1);
  place private.list_place;
begin
  if not exists (select from unnest(found_words) where share <= min_share) then
    select list_rank, created_at into place from public.sounds where is_active
      order by list_rank desc, created_at desc offset 999 limit 1;
  end if;
  return place;
end
$$;
comment on function private.end_of_head is
  'Returns the place of the thousandth sound for frequent words. Null for others, or with fewer sounds.';

create function private.rank_sounds(candidates uuid[], tiers private.search_tier[], folded text, max_rows integer)
returns uuid[] language plpgsql stable set search_path = '' as $$
begin
  return array(
    select id
    from public.sounds cross join lateral (
      select min(step) as rank from unnest(tiers) with ordinality as tier (matching, part, step)
      where search_vector @@ matching
    ) as best
    where id = any (candidates)
    order by rank,
      case when tiers[rank].part = 'title' and starts_with(search_title, folded) then search_title end,
      list_rank desc, created_at desc
    limit max_rows
  );
end
$$;
comment on function private.rank_sounds is 'Sorts sounds by the first step whose query they match.';

create function private.ranked_by_tier(
  query private.sound_query, tiers private.search_tier[], folded text, end_of_head private.list_place
) returns uuid[] language plpgsql stable set search_path = '' as $$
declare
  tier private.search_tier;
  page uuid[] := '{}';
begin
  foreach tier in array tiers loop
    if tier.part = 'title' and folded is not null then
      page := private.add_titles_beginning(page, query, tier.matching, folded);
    end if;
    page := private.add_matching(page, query, tier.matching, end_of_head);
    exit when cardinality(page) >= query.limit;
  end loop;
  return page;
end
$$;
comment on function private.ranked_by_tier is 'Fills a page in the order of private.rank_sounds, without reading all.';

create function private.ranked_sounds(
  query private.sound_query, found_words private.search_word[], short_words private.search_word[], folded text
) returns uuid[] language plpgsql stable set search_path = '' as $$
declare
  max_sorted constant integer := 500;
  in_any_order constant text := 'null::integer'; -- a constant sorts nothing
  tiers constant private.search_tier[] := private.preferring(private.search_tiers(found_words), short_words);
  widest constant tsquery := tiers[cardinality(tiers)].matching;
  end_of_head constant private.list_place := private.end_of_head(found_words);
  number_of_sounds constant real := (select reltuples from pg_class where oid = 'public.sounds'::regclass);
  are_too_many_to_sort constant boolean := end_of_head.moment is not null
    or (cardinality(found_words) = 1 and found_words[1].share * number_of_sounds > max_sorted);
  wide_query private.sound_query := query;
  candidates uuid[];
begin
  if query.search is not null or not are_too_many_to_sort then
    wide_query.limit := max_sorted + 1;
    candidates := private.add_sounds('{}', wide_query, 'search_vector @@ $6', in_any_order, widest, null, null);
    if cardinality(candidates) <= max_sorted then
      return private.rank_sounds(candidates, tiers, folded, query.limit);
    end if;
  end if;
  return private.ranked_by_tier(query, tiers, folded, end_of_head);
end
$$;
comment on function private.ranked_sounds is
  'Returns sounds that have all words, best first. Of equal ones, those that also have the short words come first. '
  'Compares no titles with the text of the search if folded is null.';

-- supabase/schemas/53_search.sql

create function private.sounds_with_text(query private.sound_query, search private.search_text) returns uuid[]
language plpgsql stable set search_path = '' as $$
declare
  has_words constant boolean := cardinality(search.found_words) > 0;
  are_known constant boolean := not exists (select from unnest(search.found_words) where not is_known);
  page uuid[] := '{}';
begin
  if has_words and are_known then
    page := private.ranked_sounds(query, search.found_words, '{}', search.folded);
  end if;
  return private.add_titles_containing(page, query, search.folded);
end
$$;
comment on function private.sounds_with_text is
  'Returns sounds that have all words, best first, then those whose titles contain the text, also with unknown words.';

create function private.corrections_of(found_words private.search_word[]) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  misspelt text;
  correction text;
  corrections jsonb := '{}';
begin
  for misspelt in
    select typed from unnest(found_words) where not is_known order by char_length(typed) desc, place limit 3
  loop
    correction := private.correction(misspelt);
    if correction is not null then
      corrections := corrections || jsonb_build_object(misspelt, correction);
    end if;
  end loop;
  return corrections;
end
$$;
comment on function private.corrections_of is
  'Returns the most similar words for those that the catalogue does not have, for example {"raim": "rain"}.';

create function private.with_corrections(q text, corrections jsonb) returns text
language plpgsql stable set search_path = '' as $$
declare
  part text;
  corrected_part text;
  misspelt text;
  parts text[] := '{}';
begin
  foreach part in array regexp_split_to_array(btrim(q), '\s+') loop
    corrected_part := part;
    for misspelt in
      select word from unnest(private.search_words(part)) as word where corrections -> word is not null
    loop
      corrected_part := replace(private.fold_for_search(corrected_part), misspelt, corrections ->> misspelt);
    end loop;
    parts := parts || corrected_part;
  end loop;
  return array_to_string(parts, ' ');
end
$$;
comment on function private.with_corrections is
  'Replaces the corrected words in the text of a search, also inside of other words between the same spaces. Folds the '
  'parts between spaces that have one.';

create function private.is_short(word text) returns boolean
language plpgsql immutable set search_path = '' as $$
begin
  return word ~ '^[a-z]{1,3}$';
end
$$;
comment on function private.is_short is
  'Tells whether a word has up to three Latin letters. Most of these, such as "for" and "the", tell little of a sound, '
  'however few titles have them.';

create function private.most_telling_first(found_words private.search_word[], new_words text[])
returns private.search_word[] language plpgsql stable set search_path = '' as $$
begin
  return array(
    select word from unnest(found_words) as word where is_known and not private.is_short(typed)
    order by typed = any (new_words), in_descriptions_only, share, place
  );
end
$$;
comment on function private.most_telling_first is
  'Sorts the known words, without short ones. Those come first that were typed so before corrections, then those of '
  'titles, tags and categories before those of descriptions only, then rare ones.';

create function private.sounds_with_fewer_words(
  query private.sound_query, found_words private.search_word[], new_words text[],
  out ids uuid[], out has_correction boolean
) language plpgsql stable set search_path = '' as $$
declare
  known constant private.search_word[] := private.most_telling_first(found_words, new_words);
  short_words constant private.search_word[] := array(
    select word from unnest(found_words) as word where is_known and private.is_short(typed)
  );
  most constant integer := least(cardinality(known), cardinality(found_words) - 1);
  fewest constant integer := (cardinality(known) + 1) / 2;
  kept private.search_word[];
begin
  ids := '{}';
  for number in reverse most..fewest loop -- finds nothing for a single word
    kept := known[:number];
    if exists (select from unnest(kept) where share <= 0.5) then
      ids := private.ranked_sounds(query, kept, short_words, folded => null);
    end if;
    if cardinality(ids) > 0 then
      has_correction := exists (select from unnest(kept) where typed = any (new_words));
      return;
    end if;
  end loop;
end
$$;
comment on function private.sounds_with_fewer_words is
  'Leaves out words, the least telling first and never the most telling one, until there are sounds with the others. '
  'Returns these sounds, and whether one of the kept words was corrected.';

create function private.search_sounds(query private.sound_query, out ids uuid[], out corrected_q text)
language plpgsql stable set search_path = '' as $$
declare
  as_typed constant private.search_text := private.read_search(query.q);
  corrected private.search_text := as_typed; -- without corrections, the text stays
  corrections jsonb;
  new_words text[];
  has_correction boolean;
begin
  -- 1. All words as typed
  ids := private.sounds_with_text(query, as_typed);
  if cardinality(ids) > 0 then
    return;
  end if;

  -- 2. All words, misspelt ones corrected. Filters cause no corrections, because they make no word unknown.
  corrections := private.corrections_of(as_typed.found_words);
  if corrections <> '{}' then
    corrected := private.read_search(private.with_corrections(query.q, corrections));
    ids := private.sounds_with_text(query, corrected);
    if cardinality(ids) > 0 then
      corrected_q := corrected.q;
      return;
    end if;
  end if;

  -- 3. Fewer words
  new_words := array(select word from unnest(corrected.words) as word where word <> all (as_typed.words));
  select fewer.ids, fewer.has_correction into ids, has_correction
    from private.sounds_with_fewer_words(query, corrected.found_words, new_words) as fewer;
  if cardinality(ids) > 0 and has_correction then
    corrected_q := corrected.q;
  end if;
end
$$;
comment on function private.search_sounds is
  'Returns the best sounds for q. Returns the corrected text, too, if these sounds match a corrected word.';

-- supabase/schemas/54_changes.sql

create table private.catalogue_changes (
  kind text not null
    constraint kind_is_sound_category_or_home_section check (kind in ('sound', 'category', 'home_section')),
  id uuid not null,
  -- Assigned under private.lock_catalogue, so that all lower numbers are visible with it.
  number bigint generated by default as identity unique,
  changed_at timestamptz not null default now(),
  primary key (kind, id)
);
comment on table private.catalogue_changes is 'Last change of each sound, category and home section, even if deleted.';

create table private.catalogue_feed (
  id text primary key default left(md5(gen_random_uuid()::text), 8),
  forgotten bigint not null default 0
);
comment on table private.catalogue_feed is
  'One row with the id of the change feed. Change it after restoring a backup, so that apps reload the catalogue.';
comment on column private.catalogue_feed.forgotten is 'Highest number that was deleted from private.catalogue_changes.';

create unique index catalogue_feed_has_one_row on private.catalogue_feed ((true));

create function private.replace_feed() returns trigger language plpgsql set search_path = '' as $$
begin
  delete from private.catalogue_feed;
  return new;
end
$$;
create trigger catalogue_feed_replace before insert on private.catalogue_feed for each row
  execute function private.replace_feed();
alter table private.catalogue_feed enable always trigger catalogue_feed_replace;

create function private.note_change(changed_kind text, changed_id uuid) returns void
language plpgsql volatile set search_path = '' as $$
begin
  insert into private.catalogue_changes (kind, id) values (changed_kind, changed_id)
    on conflict (kind, id) do update set number = excluded.number, changed_at = now();
end
$$;

create function private.note_catalogue_change() returns trigger
language plpgsql security definer set search_path = '' as $$
declare
  changed constant record := coalesce(new, old);
begin
  if tg_op = 'UPDATE' and to_jsonb(new) - 'updated_at' = to_jsonb(old) - 'updated_at' then
    return null;
  end if;
  if tg_nargs > 0 then
    perform private.note_change(tg_argv[0], changed.id);
  end if;
  if tg_table_name = 'categories' then -- children are hidden with their parent
    perform private.note_change('category', id) from public.categories where parent_id = changed.id;
  end if;
  -- Notes all sections once in each transaction, because they may depend on any sound or category.
  if current_setting('sounds_service.sections_noted', true) is distinct from pg_current_xact_id()::text then
    perform private.note_change('home_section', id) from public.home_sections where is_active;
    perform set_config('sounds_service.sections_noted', pg_current_xact_id()::text, true);
  end if;
  return null;
end
$$;
create trigger sounds_note_change
  after insert or update or delete on public.sounds for each row
  execute function private.note_catalogue_change('sound');
create trigger categories_note_change
  after insert or update or delete on public.categories for each row
  execute function private.note_catalogue_change('category');
create trigger home_sections_note_change
  after insert or update or delete on public.home_sections for each row
  execute function private.note_catalogue_change('home_section');
create trigger home_section_sounds_note_change
  after insert or update or delete on public.home_section_sounds for each row
  execute function private.note_catalogue_change();

create function private.note_file_change() returns trigger
language plpgsql security definer set search_path = '' as $$
declare
  changed_audio constant text[] := array[
    case old.bucket_id when 'audio' then old.name end, case new.bucket_id when 'audio' then new.name end];
  changed_covers constant text[] := array[
    case old.bucket_id when 'covers' then old.name end, case new.bucket_id when 'covers' then new.name end];
begin
  if (new.bucket_id, new.name, new.metadata) is distinct from (old.bucket_id, old.name, old.metadata) then
    perform pg_advisory_xact_lock('private.lock_catalogue'::regproc::oid::bigint);
    perform private.note_change('sound', id) from public.sounds
      where audio_path = any (changed_audio) or cover_image_path = any (changed_covers);
  end if;
  return null;
end
$$;
create trigger sounds_service_note_file_change
  after insert or update or delete on storage.objects for each row execute function private.note_file_change();

create view private.copied_sound with (security_invoker = true) as
  select sound.*, stored.sort_order,
    private.stored_file('audio', stored.audio_path) ->> 'version' as audio_version,
    private.stored_file('covers', stored.cover_image_path) ->> 'version' as cover_version,
    stored.loudness_lufs, stored.true_peak_dbtp, stored.waveform
  from private.sound as sound join public.sounds as stored using (id);
comment on view private.copied_sound is 'Sounds in responses of GET /catalogue/changes.';

create view private.copied_category with (security_invoker = true) as
  select category.*, stored.parent_id
  from private.sub_category as category join public.categories as stored using (id)
  where stored.parent_id is null or private.is_category_active(stored.parent_id);
comment on view private.copied_category is 'Categories in responses of GET /catalogue/changes, with their parent_id.';

create view private.copied_home_section with (security_invoker = true) as
  select id, slug, title, mode, rule_type, rule_value, rule_include_children, sort_order,
    private.iso_time(created_at) as created_at,
    private.sounds_of_section(section) as sound_ids
  from public.home_sections as section
  where is_active;
comment on view private.copied_home_section is 'Home sections in responses of GET /catalogue/changes, with sound_ids.';

create function private.changes_after(seen bigint, page_size integer)
returns table (number bigint, change json) language plpgsql stable set search_path = '' as $$
begin
  return query
    select row_change.number, json_build_object(
      'kind', kind, 'id', row_change.id,
      'sound', case kind when 'sound' then
        (select to_json(sound) from private.copied_sound as sound where sound.id = row_change.id) end,
      'category', case kind when 'category' then
        (select to_json(category) from private.copied_category as category where category.id = row_change.id) end,
      'home_section', case kind when 'home_section' then
        (select to_json(section) from private.copied_home_section as section where section.id = row_change.id) end
    )
    from private.catalogue_changes as row_change
    where row_change.number > seen
    order by row_change.number limit page_size;
end
$$;
comment on function private.changes_after is
  'Returns the changes after a number, each with the row as copies have it, or null if it is hidden or deleted.';

create function private.list_catalogue_changes(since text) returns json
language plpgsql stable security definer set search_path = '' as $$
declare
  feed constant private.catalogue_feed := (select feed from private.catalogue_feed as feed);
  last_number constant bigint := coalesce((select max(number) from private.catalogue_changes), 0);
  given constant text[] := string_to_array(since, '.');
  is_known constant boolean := given[1] = feed.id and feed.forgotten <= greatest(given[2]::bigint, given[3]::bigint);
  began_at constant bigint := case when is_known then given[3]::bigint else last_number end;
  seen bigint := case when is_known then given[2]::bigint else 0 end;
  changes json[];
begin
  select array_agg(change order by number), greatest(seen, max(number)) into changes, seen
    from private.changes_after(seen, 1000);
  return json_build_object(
    'data', coalesce(changes, '{}'),
    'next', concat_ws('.', feed.id, seen, case when began_at > seen then began_at end),
    'has_more', seen < last_number,
    'reset', since is not null and is_known is not true
  );
end
$$;

create function public.list_catalogue_changes(filters jsonb default '{}') returns json
language sql stable set search_path = '' as $$
  select private.list_catalogue_changes((filters #>> '{}')::jsonb ->> 'since')
$$;
comment on function public.list_catalogue_changes is
  'Returns catalogue changes, oldest first: {data, next, has_more, reset}. "filters" is {"since": last "next"} or {}.';

grant execute on function private.list_catalogue_changes, public.list_catalogue_changes to authenticated, service_role;

-- supabase/schemas/55_upkeep.sql

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

-- supabase/schemas/56_progress.sql

create table public.progress (
  user_id uuid not null references auth.users (id) on delete cascade,
  sound_id uuid not null references public.sounds (id) on delete cascade,
  position_sec double precision constraint position_sec_is_from_0_to_one_day check (position_sec between 0 and 86400),
  updated_at timestamptz(3) not null constraint updated_at_is_finite check (isfinite(updated_at)),
  primary key (user_id, sound_id)
);
create index progress_newest_first on public.progress (user_id, updated_at desc, sound_id)
  where position_sec is not null;
create index progress_removals on public.progress (updated_at) where position_sec is null;
create index progress_sound_id on public.progress (sound_id);
comment on table public.progress is
  'Where each customer stopped in a sound: at most 200, and removals of the last 30 days.';
comment on column public.progress.position_sec is
  'Position in seconds. Null if it was removed: the row then rejects older positions that arrive later.';
comment on column public.progress.updated_at is 'Time at which the customer was there, or removed the position.';

alter table public.progress enable row level security;
create policy "Users read their own positions" on public.progress for select to authenticated
  using (user_id = (select auth.uid()) and position_sec is not null);
create policy "Tokens of other apps reach nothing" on public.progress as restrictive to authenticated
  using ((select (select auth.jwt()) ->> 'client_id' is null));
grant select on public.progress to authenticated;

create view private.progress_entry with (security_invoker = true) as
  select sound_id, position_sec, private.iso_time(progress.updated_at) as updated_at,
    (select sound from private.sound_preview as sound where sound.id = progress.sound_id) as sounds
  from public.progress as progress
  where user_id = (select auth.uid()) and position_sec is not null
  order by progress.updated_at desc, sound_id;
comment on view private.progress_entry is 'Positions of the caller in API responses, newest first.';
grant select on private.progress_entry to authenticated;

create function public.list_progress() returns json language plpgsql stable set search_path = '' as $$
begin
  perform private.require_account();
  return to_json(array(select entry from private.progress_entry as entry));
end
$$;
comment on function public.list_progress is 'Returns the positions of the caller, newest first.';

create function private.lock_progress(sound_ids uuid[]) returns void
language plpgsql volatile set search_path = '' as $$
begin
  perform private.require_account();
  perform private.lock_user(auth.uid());
  perform pg_advisory_xact_lock('public.progress'::regclass::oid::integer, private.lock_number_of(auth.uid()));
  perform from public.sounds where id = any (sound_ids) order by id for key share;
end
$$;

create type private.sent_position as (place integer, sound_id uuid, position_sec double precision, moment timestamptz);
comment on type private.sent_position is 'A position of PUT /progress, with its place in the request.';

create function private.sent_positions(entries jsonb) returns private.sent_position[]
language plpgsql stable set search_path = '' as $$
begin
  return array(
    select (place, entry ->> 'sound_id', entry ->> 'position_sec',
      private.time_of_report((entry ->> 'updated_at')::timestamptz))::private.sent_position
    from jsonb_path_query(entries, '$[0 to 99]') with ordinality as sent (entry, place)
    order by place
  );
end
$$;
comment on function private.sent_positions is 'Reads the first 100 positions of a request.';

create function private.store_positions(player uuid, reports private.sent_position[]) returns void
language plpgsql volatile set search_path = '' as $$
begin
  insert into public.progress as own (user_id, sound_id, position_sec, updated_at)
    select distinct on (sound_id) player, sound_id, position_sec, moment
    from unnest(reports)
    order by sound_id, moment desc, position_sec desc nulls first
    on conflict (user_id, sound_id) do update
      set position_sec = excluded.position_sec, updated_at = excluded.updated_at
      where (excluded.updated_at, excluded.position_sec is null, excluded.position_sec)
        > (own.updated_at, own.position_sec is null, own.position_sec);
end
$$;
comment on function private.store_positions is
  'Stores the newest report of each sound. Of reports of one moment, a removal wins, then the later position.';

create function private.limit_positions(player uuid) returns void
language plpgsql volatile set search_path = '' as $$
declare
  oldest constant uuid[] := array(
    select sound_id from public.progress where user_id = player and position_sec is not null
    order by updated_at desc, sound_id offset 200
  );
  unlocked constant uuid[] := array(
    select sound_id from public.progress where user_id = player and sound_id = any (oldest)
    for update skip locked
  );
begin
  delete from public.progress where user_id = player and sound_id = any (unlocked);
end
$$;
comment on function private.limit_positions is
  'Deletes all positions of a user but the newest 200. Removals do not count, and stay.';

create function private.save_progress(entries jsonb) returns json
language plpgsql volatile security definer set search_path = '' as $$
declare
  sent constant private.sent_position[] := private.sent_positions(entries);
  sound_ids constant uuid[] := array(select sound_id from unnest(sent));
  active uuid[];
begin
  perform private.lock_progress(sound_ids);
  active := array(select id from public.sounds where id = any (sound_ids) and is_active);
  perform private.store_positions(auth.uid(), array(
    select report from unnest(sent) as report join private.clearings(auth.uid(), active) using (sound_id)
    where moment < 'infinity' and moment > now() - interval '30 days' and moment > cleared_at
  ));
  perform private.limit_positions(auth.uid());
  return to_json(array(
    select json_build_object('sound_id', report.sound_id, 'status', case
      when moment = 'infinity' then 'in_future'
      when report.sound_id <> all (active) then 'not_found'
      when own.updated_at = moment and own.position_sec is not distinct from report.position_sec then 'saved'
      else 'older'
    end)
    from unnest(sent) as report
      left join public.progress as own on own.user_id = auth.uid() and own.sound_id = report.sound_id
    order by place
  ));
end
$$;

create function public.save_progress(entries jsonb) returns json
language sql volatile set search_path = '' as $$ select private.save_progress(entries) $$;
comment on function public.save_progress is
  'Saves positions [{sound_id, position_sec, updated_at}] of the caller; null removes one. Returns '
  '[{sound_id, status}].';


create function private.remove_from_history(sound uuid) returns boolean
language plpgsql volatile security definer set search_path = '' as $$
declare
  was_there boolean;
begin
  perform private.lock_progress(array[sound]);
  perform private.lock_plays(auth.uid());
  delete from public.history where user_id = auth.uid() and sound_id = sound;
  was_there := found;
  delete from public.progress where user_id = auth.uid() and sound_id = sound;
  if exists (select from public.sounds where id = sound) then
    perform private.remember_clearing(auth.uid(), sound);
  end if;
  return was_there;
end
$$;
comment on function private.remove_from_history is 'Removes a sound from history and positions of the caller.';

create function private.clear_history() returns boolean
language plpgsql volatile security definer set search_path = '' as $$
declare
  was_there boolean;
begin
  perform private.lock_progress('{}');
  perform private.lock_plays(auth.uid());
  delete from public.history where user_id = auth.uid();
  was_there := found;
  delete from public.progress where user_id = auth.uid();
  perform private.remember_clearing(auth.uid(), null);
  return was_there;
end
$$;
comment on function private.clear_history is 'Removes all sounds from history and positions of the caller.';

grant execute on function public.list_progress, private.save_progress, public.save_progress to authenticated;
grant execute on function private.remove_from_history, private.clear_history to authenticated;

-- supabase/schemas/57_mixes_and_playlists.sql

create function private.is_list_item(item jsonb) returns boolean language sql immutable set search_path = '' as $$
  select jsonb_typeof(item) = 'object'
    and array(select jsonb_object_keys(item) order by 1) = '{sound_id,volume}'
    and item ->> 'sound_id' ~* '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$'
    and case jsonb_typeof(item -> 'volume')
      when 'null' then true
      when 'number' then (item -> 'volume')::numeric between 0 and 1
      else false
    end
$$;
comment on function private.is_list_item is 'Accepts {"sound_id": uuid, "volume": number from 0 to 1, or null}.';

create function private.are_list_items(items jsonb, is_mix boolean) returns boolean
language plpgsql immutable set search_path = '' as $$
declare
  most constant integer := case when is_mix then 20 when not is_mix then 200 end;
begin
  if jsonb_typeof(items) <> 'array' then
    return false;
  elsif (jsonb_array_length(items) <= most) is not true then
    return false;
  elsif exists (select from jsonb_array_elements(items) as item where private.is_list_item(item) is not true) then
    return false;
  end if;
  return count(*) = count(distinct lower(item ->> 'sound_id')) from jsonb_array_elements(items) as item;
end
$$;
comment on function private.are_list_items is
  'Accepts a JSON array of items with different sounds: at most 20 in a mix, at most 200 in a playlist.';

create table public.lists (
  user_id uuid not null references auth.users (id) on delete cascade,
  id uuid not null,
  name text not null
    constraint list_name_is_trimmed_visible_and_has_1_to_100_characters check (private.is_proper_name(name, 100))
    constraint list_name_has_no_control_characters check (name !~ '[\u0001-\u001F\u007F-\u009F\u2028\u2029]'),
  is_mix boolean not null,
  items jsonb not null,
  version integer not null default 1 constraint version_is_positive check (version > 0),
  updated_at timestamptz(3) not null default now() constraint updated_at_is_finite check (isfinite(updated_at)),
  primary key (user_id, id),
  constraint items_are_different_sounds_at_most_20_in_a_mix_and_200_in_a_list
    check (private.are_list_items(items, is_mix))
);
create index lists_newest_first on public.lists (user_id, updated_at desc, id);
comment on table public.lists is
  'Mixes and playlists of each customer, at most 200 with 5,000 items in all. Items of deleted sounds do not count.';
comment on column public.lists.id is 'Id that the app gave to the list. Other customers may have the same.';
comment on column public.lists.is_mix is 'True for a mix, which plays all sounds at once; false for a playlist.';
comment on column public.lists.items is
  'Items [{"sound_id": …, "volume": …}] in their order. Volumes are 0 to 1, or null. May name deleted sounds, which '
  'responses leave out.';
comment on column public.lists.version is 'Number of times that apps have saved the list with a change.';
comment on column public.lists.updated_at is 'Time of the last change by an app.';

alter table public.lists enable row level security;
create policy "Users read their own lists" on public.lists for select to authenticated
  using (user_id = (select auth.uid()));
create policy "Tokens of other apps reach nothing" on public.lists as restrictive to authenticated
  using ((select (select auth.jwt()) ->> 'client_id' is null));
grant select on public.lists to authenticated;

create table private.removed_lists (
  user_id uuid not null references auth.users (id) on delete cascade,
  id uuid not null,
  removed_at timestamptz not null default now(),
  primary key (user_id, id)
);
create index removed_lists_oldest_first on private.removed_lists (removed_at);
create index removed_lists_newest_first on private.removed_lists (user_id, removed_at desc, id);
comment on table private.removed_lists is
  'Ids of lists that a customer removed in the last 30 days, so that a late edit does not bring one back.';

create function private.own_lists(list_id uuid) returns json[] language plpgsql stable set search_path = '' as $$
begin
  return array(
    with own as (
      select *, row_number() over (order by updated_at desc, id) as number
      from public.lists where user_id = auth.uid() and (list_id is null or id = list_id)
    ),
    item as (
      select number, place, sound_id, volume
      from own cross join lateral rows from (
        jsonb_to_recordset(own.items) as (sound_id uuid, volume double precision)
      ) with ordinality as sent (sound_id, volume, place)
    ),
    known as materialized (
      select stored.id, to_json(preview) as preview
      from public.sounds as stored left join private.sound_preview as preview using (id)
      where stored.id in (select sound_id from item)
    ),
    listed as (
      select number, json_agg(entry order by place) as items
      from item join known on known.id = sound_id
        cross join lateral (select sound_id, volume, preview as sounds) as entry
      group by number
    )
    select json_build_object(
      'id', id, 'name', name, 'is_mix', is_mix, 'items', coalesce(listed.items, '[]'),
      'version', version, 'updated_at', private.iso_time(updated_at)
    )
    from own left join listed using (number)
    order by number
  );
end
$$;
comment on function private.own_lists is
  'Returns a list of the caller as in API responses, or all of them, newest change first, if the id is null.';

create function private.list_lists() returns json
language plpgsql stable security definer set search_path = '' as $$
begin
  perform private.require_account();
  return to_json(private.own_lists(null));
end
$$;

create function public.list_lists() returns json
language sql stable set search_path = '' as $$ select private.list_lists() $$;
comment on function public.list_lists is 'Returns the mixes and playlists of the caller, newest change first.';

grant execute on function private.list_lists, public.list_lists to authenticated;

-- supabase/schemas/57_saved_lists.sql

create type private.sent_list as (id uuid, name text, is_mix boolean, items jsonb, version integer);
comment on type private.sent_list is
  'A list of PUT /lists. Its items are null to remove it; its version is the one that the edit began from, or 0.';

create function private.existing_items(items jsonb) returns jsonb language plpgsql stable set search_path = '' as $$
begin
  return coalesce(jsonb_agg(jsonb_build_object('sound_id', item.sound_id, 'volume', volume) order by place), '[]')
    from rows from (jsonb_to_recordset(items) as (sound_id uuid, volume double precision)) with ordinality
      as item (sound_id, volume, place)
    where exists (select from public.sounds as sound where sound.id = item.sound_id);
end
$$;

create function private.sent_lists(lists jsonb) returns private.sent_list[]
language plpgsql stable set search_path = '' as $$
begin
  if jsonb_array_length(lists) > 20 then
    raise exception 'A call saves at most 20 lists.' using errcode = 'invalid_parameter_value';
  end if;
  return array(
    select (sent.id, private.trimmed(name), is_mix, items, version)::private.sent_list
    from jsonb_array_elements(lists) with ordinality as given (list, place)
      cross join jsonb_populate_record(null::private.sent_list, list) as sent
    order by place
  );
end
$$;
comment on function private.sent_lists is
  'Reads the lists of a request, with trimmed names. A JSON null becomes null, as for the items of a removal.';

create function private.lock_lists() returns void language plpgsql volatile set search_path = '' as $$
begin
  perform private.require_account();
  perform private.lock_user(auth.uid());
  perform pg_advisory_xact_lock('public.lists'::regclass::oid::integer, private.lock_number_of(auth.uid()));
end
$$;

create function private.has_room_for(list private.sent_list) returns boolean
language plpgsql stable set search_path = '' as $$
declare
  room constant bigint := 5000 - jsonb_array_length(list.items);
  other_lists bigint;
  other_items bigint;
begin
  select count(*), coalesce(sum(jsonb_array_length(items)), 0) into other_lists, other_items
    from public.lists where user_id = auth.uid() and id <> list.id;
  if other_items > room then
    select count(*) into other_items
      from public.lists as other cross join jsonb_to_recordset(items) as item (sound_id uuid)
      where user_id = auth.uid() and other.id <> list.id
        and exists (select from public.sounds as sound where sound.id = item.sound_id);
  end if;
  return other_lists < 200 and other_items <= room;
end
$$;
comment on function private.has_room_for is
  'Tells whether the caller has at most 200 lists with 5,000 items of existing sounds, with this one.';

create function private.converted_items(items jsonb, is_mix boolean) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  if private.are_list_items(items, is_mix) is not true then
    raise exception 'Send different sounds, each with a volume from 0 to 1 or null: at most 20 in a mix, 200 in a list.'
      using errcode = 'check_violation';
  end if;
  return private.existing_items(items);
end
$$;
comment on function private.converted_items is 'Returns sent items as they are stored.';

create function private.store_list(list private.sent_list) returns void
language plpgsql volatile set search_path = '' as $$
begin
  insert into public.lists as own (user_id, id, name, is_mix, items)
    values (auth.uid(), list.id, list.name, list.is_mix, list.items)
    on conflict (user_id, id) do update
      set name = excluded.name, is_mix = excluded.is_mix, items = excluded.items,
        version = own.version + 1, updated_at = greatest(now(), own.updated_at);
end
$$;
comment on function private.store_list is 'Stores a list as a new one, or as the next version.';

create function private.save_list(sent private.sent_list, present public.lists) returns text
language plpgsql volatile set search_path = '' as $$
declare
  list private.sent_list := sent;
  is_there constant boolean := present.id is not null;
  was_there constant boolean := sent.version is distinct from 0
    or exists (select from private.removed_lists where user_id = auth.uid() and id = sent.id);
begin
  list.items := private.converted_items(sent.items, sent.is_mix);
  if was_there and not is_there then
    return 'deleted'; -- another device has removed the list
  elsif (list.name, list.is_mix, list.items)
    = (present.name, present.is_mix, private.existing_items(present.items))
  then
    return 'saved';
  elsif list.version is distinct from coalesce(present.version, 0) then
    return 'changed';
  elsif not private.has_room_for(list) then
    return 'too_many';
  end if;
  perform private.store_list(list);
  return 'saved';
end
$$;
comment on function private.save_list is 'Saves a list unless another edit was faster. Returns its status.';

create function private.remember_removal(list_id uuid) returns void
language plpgsql volatile set search_path = '' as $$
begin
  insert into private.removed_lists (user_id, id) values (auth.uid(), list_id) on conflict do nothing;
  delete from private.removed_lists where user_id = auth.uid() and id = any (array(
    select id from private.removed_lists where user_id = auth.uid() order by removed_at desc, id offset 10000
  ));
end
$$;

create function private.remove_list(sent private.sent_list, present public.lists) returns text
language plpgsql volatile set search_path = '' as $$
begin
  if present.id is not null and sent.version is distinct from present.version then
    return 'changed';
  end if;
  delete from public.lists where user_id = auth.uid() and id = sent.id;
  perform private.remember_removal(sent.id);
  -- Returns deleted for a list that was gone before, because the call has changed nothing.
  return case when present.id is null then 'deleted' else 'saved' end;
end
$$;
comment on function private.remove_list is 'Removes a list unless another edit was faster. Returns its status.';

create function private.list_result(list_id uuid, status text) returns json
language plpgsql stable set search_path = '' as $$
begin
  return json_build_object('id', list_id, 'status', status, 'list', (private.own_lists(list_id))[1]);
end
$$;

create function private.save_lists(lists jsonb) returns json
language plpgsql volatile security definer set search_path = '' as $$
declare
  sent private.sent_list;
  present public.lists;
  status text;
  results json[] := '{}';
begin
  perform private.lock_lists();
  -- Reads the list for each entry anew, because earlier entries may have changed it or made room.
  foreach sent in array private.sent_lists(lists) loop
    select own.* into present from public.lists as own where user_id = auth.uid() and own.id = sent.id;
    if sent.items is null then
      status := private.remove_list(sent, present);
    else
      status := private.save_list(sent, present);
    end if;
    results := array_append(results, private.list_result(sent.id, status));
  end loop;
  return to_json(results);
end
$$;

create function public.save_lists(lists jsonb) returns json
language sql volatile set search_path = '' as $$ select private.save_lists(lists) $$;
comment on function public.save_lists is
  'Saves mixes and playlists [{id, name, is_mix, items, version}] of the caller; items null removes one. Returns '
  '[{id, status, list}].';

grant execute on function private.save_lists, public.save_lists to authenticated;

-- supabase/schemas/57_trash.sql

create function private.move_to_trash() returns trigger language plpgsql set search_path = '' as $$
begin
  if current_setting('sounds_service.for_good', true) = 'true' then
    return old;
  end if;
  if old.deleted_at is null then
    execute format('update %s set is_active = false, deleted_at = now() where id = $1', tg_relid::regclass)
      using old.id;
  end if;
  return null;
end
$$;
comment on function private.move_to_trash is
  'Hides a row instead of deleting it. Deleting a row of the trash again changes nothing.';

create function private.leave_trash() returns trigger language plpgsql set search_path = '' as $$
begin
  new.deleted_at := null;
  return new;
end
$$;
comment on function private.leave_trash is
  'Takes a row out of the trash when it is activated. To take it out hidden, set only deleted_at to null.';

create trigger sounds_move_to_trash before delete on public.sounds for each row
  execute function private.move_to_trash();
create trigger sounds_leave_trash before update on public.sounds for each row
  when (new.is_active and old.deleted_at is not null) execute function private.leave_trash();
create trigger categories_move_to_trash before delete on public.categories for each row
  execute function private.move_to_trash();
create trigger categories_leave_trash before update on public.categories for each row
  when (new.is_active and old.deleted_at is not null) execute function private.leave_trash();
create trigger home_sections_move_to_trash before delete on public.home_sections for each row
  execute function private.move_to_trash();
create trigger home_sections_leave_trash before update on public.home_sections for each row
  when (new.is_active and old.deleted_at is not null) execute function private.leave_trash();

create function private.refuse_slug_of_trash() returns trigger language plpgsql set search_path = '' as $$
declare
  deleted_at timestamptz;
begin
  execute format('select deleted_at from %s where slug = $1 and id <> $2', tg_relid::regclass)
    into deleted_at using new.slug, new.id;
  if deleted_at is not null then
    raise exception 'The slug "%" belongs to a row in the trash, deleted on %. Set is_active of that row to true to '
      'bring it back, or choose another slug.', new.slug, deleted_at::date
      using errcode = 'unique_violation', constraint = 'slug_is_not_taken_by_a_row_in_the_trash';
  end if;
  return new;
end
$$;
create trigger categories_refuse_slug_of_trash before insert or update of slug on public.categories for each row
  execute function private.refuse_slug_of_trash();
create trigger home_sections_refuse_slug_of_trash before insert or update of slug on public.home_sections for each row
  execute function private.refuse_slug_of_trash();

create function private.users_of_category(category public.categories) returns text
language plpgsql stable set search_path = '' as $$
declare
  sounds constant bigint := (
    select count(*) from public.sounds where sounds.category = users_of_category.category.slug);
  children constant bigint := (select count(*) from public.categories where parent_id = category.id);
  sections constant bigint := (select count(*) from public.home_sections where rule_value = category.slug);
begin
  return nullif(concat_ws(', ',
    private.counted(sounds, 'sound', 'sounds'),
    private.counted(children, 'sub-intention', 'sub-intentions'),
    private.counted(sections, 'home section', 'home sections')
  ), '');
end
$$;
comment on function private.users_of_category is
  'Returns how many sounds, sub-intentions and home sections name a category, in words. Null if none does.';

create view admin.trash with (security_invoker = true) as
  select 'sounds' as table_name, title as name, id, deleted_at, deleted_at + interval '30 days' as kept_until,
    null as named_by
  from public.sounds where deleted_at is not null

  union all select 'categories', slug, id, deleted_at, deleted_at + interval '30 days',
    private.users_of_category(category)
  from public.categories as category where deleted_at is not null

  union all select 'home_sections', slug, id, deleted_at, deleted_at + interval '30 days', null
  from public.home_sections where deleted_at is not null

  order by deleted_at desc, table_name, name, id;
comment on view admin.trash is
  'Deleted sounds, categories and home sections. Set is_active of a row to true in its table to bring it back.';
comment on column admin.trash.name is 'Title of the sound; slug of the category or section.';
comment on column admin.trash.kept_until is 'Time after which private.upkeep deletes the row for good.';
comment on column admin.trash.named_by is
  'What still names the category, in words. While something does, the category stays in the trash.';

create function private.trash_in_words() returns text language sql stable set search_path = '' as $$
  select nullif(concat_ws(', ',
    private.counted(count(*) filter (where table_name = 'sounds'), 'sound', 'sounds'),
    private.counted(count(*) filter (where table_name = 'categories'), 'category', 'categories'),
    private.counted(count(*) filter (where table_name = 'home_sections'), 'home section', 'home sections')
  ), '')
  from admin.trash
$$;
comment on function private.trash_in_words is
  'Returns what is in the trash, for example "3 sounds, 1 category". Null if it is empty.';

create view private.trash_problems with (security_invoker = true) as
  select 'trash_is_not_empty' as problem, format('the trash: %s', trash) as concerns, null::uuid as id,
    'Nothing, if that is right: after 30 days it is deleted for good. The view trash lists the rows; set is_active of '
    'one to true to bring it back.' as how_to_mend
  from private.trash_in_words() as trash where trash is not null;

create function private.delete_from_trash(table_name text, ids uuid[]) returns void
language plpgsql volatile set search_path = '' as $$
begin
  perform set_config('sounds_service.for_good', 'true', true);
  execute format('delete from public.%I where id = any ($1) and deleted_at is not null', table_name) using ids;
  perform set_config('sounds_service.for_good', '', true);
end
$$;
comment on function private.delete_from_trash is 'Deletes these rows of the trash for good, with all that names them.';

create function admin.delete_for_good(table_name text, id uuid) returns text
language plpgsql volatile set search_path = '' as $$
declare
  trashed admin.trash;
begin
  if (table_name in ('sounds', 'categories', 'home_sections')) is not true then
    raise exception 'There is no trash for "%". table_name is one of: sounds, categories, home_sections.', table_name;
  end if;
  perform private.wait_for_catalogue();
  select trash.* into trashed from admin.trash as trash
    where trash.table_name = delete_for_good.table_name and trash.id = delete_for_good.id;
  if trashed.id is null then
    raise exception 'The trash has no row of "%" with the id %. The view admin.trash lists what it has; delete a row '
      'in its table first.', table_name, id;
  elsif trashed.named_by is not null then
    raise exception 'The category "%" is still named by: %. Change these, or delete them for good, first.',
      trashed.name, trashed.named_by;
  end if;
  perform private.delete_from_trash(table_name, array[id]);
  return format('Deleted for good: "%s" of %s.', trashed.name, table_name);
end
$$;
comment on function admin.delete_for_good is
  'Deletes a row of the trash for good. table_name is sounds, categories or home_sections.';

create function private.empty_trash() returns void language plpgsql volatile set search_path = '' as $$
declare
  due constant timestamptz := now() - interval '30 days';
  batch constant integer := 1000;
begin
  if not exists (select from admin.trash where deleted_at < due) or not private.try_catalogue() then
    return;
  end if;
  perform set_config('sounds_service.upkeep', 'true', true); -- so that its deletions are no edits
  perform private.delete_from_trash('home_sections', array(
    select id from public.home_sections where deleted_at < due limit batch for update skip locked
  ));
  perform private.delete_from_trash('sounds', array(
    select id from public.sounds where deleted_at < due order by deleted_at limit batch for update skip locked
  ));
  perform private.delete_from_trash('categories', array(
    select id from public.categories as category
    where deleted_at < due and private.users_of_category(category) is null limit batch for update skip locked
  ));
  perform set_config('sounds_service.upkeep', '', true);
end
$$;
comment on function private.empty_trash is
  'Deletes rows for good that have been in the trash for 30 days, except categories that something still names.';

-- supabase/schemas/58_edits.sql

create function private.acting_role() returns text language plpgsql stable set search_path = '' as $$
begin
  return coalesce(nullif(current_setting('role'), 'none'), session_user::text);
end
$$;

create function private.current_change() returns text language plpgsql volatile set search_path = '' as $$
begin
  return left(md5(concat_ws(' ', pg_current_xact_id(), extract(epoch from now()))), 10);
end
$$;
comment on function private.current_change is
  'Names the transaction. Includes its time, because numbers of transactions begin again in a restored project.';

create table private.edits (
  -- Increases in the order of the statements, so that an undo can begin with the last one.
  id bigint primary key generated always as identity,
  change text not null default private.current_change(),
  table_name text not null,
  key jsonb not null,
  name text,
  before jsonb,
  after jsonb,
  changed_at timestamptz not null default now(),
  changed_by text not null default private.acting_role()
);
create index edits_change on private.edits (change);
create index edits_changed_at on private.edits (changed_at);
comment on table private.edits is
  'Rows of the catalogue that administrators added, changed or deleted in the last 30 days. No personal data.';
comment on column private.edits.change is 'Name of the transaction, for admin.undo.';
comment on column private.edits.key is 'Primary key of the row.';
comment on column private.edits.name is 'Title of the sound or section, or slug of the category. Null for a place.';
comment on column private.edits.before is 'Changed columns before the change. Null if the row was added.';
comment on column private.edits.after is 'Changed columns after the change. Null if the row is gone.';
comment on column private.edits.changed_by is 'Role that made the change, for example postgres for the dashboard.';

create function private.facts_of(path_column text) returns text[]
language plpgsql immutable set search_path = '' as $$
begin
  return case path_column
    when 'audio_path' then '{duration_sec,loudness_lufs,true_peak_dbtp,waveform}'::text[]
    when 'cover_image_path' then '{cover_placeholder}'::text[]
  end;
end
$$;
comment on function private.facts_of is
  'Returns the columns of a sound that are measured in the file that a column names.';

create function private.without_facts(columns jsonb) returns jsonb
language plpgsql immutable set search_path = '' as $$
begin
  if columns ? 'audio_path' then
    columns := columns - private.facts_of('audio_path');
  end if;
  if columns ? 'cover_image_path' then
    columns := columns - private.facts_of('cover_image_path');
  end if;
  return columns;
end
$$;
comment on function private.without_facts is
  'Removes the measurements of files whose paths are among the columns, because they follow from the files.';

create function private.picked(columns text[], stored jsonb) returns jsonb
language sql immutable set search_path = '' as $$
  select jsonb_object_agg(name, stored -> name) from unnest(columns) as name
$$;
comment on function private.picked is 'Returns some columns of a row.';

create function private.changed_columns(before jsonb, after jsonb) returns text[]
language plpgsql immutable set search_path = '' as $$
declare
  changed text[] := array(select key from jsonb_each(before) where value is distinct from after -> key);
begin
  if changed && '{audio_path,cover_image_path}' then
    changed := array(select unnest(changed) union select unnest(private.facts_of(name)) from unnest(changed) as name);
  end if;
  return changed;
end
$$;

create function private.difference(before jsonb, after jsonb, out old_values jsonb, out new_values jsonb)
language plpgsql stable set search_path = '' as $$
declare
  computed constant text[] := '{updated_at,list_rank,search_title,search_vector}';
  measured constant text[] := private.facts_of('audio_path') || private.facts_of('cover_image_path');
  changed text[];
begin
  before := before - computed;
  after := after - computed;
  if before is null or after is null then
    old_values := before;
    new_values := after;
    return;
  end if;
  changed := private.changed_columns(before, after);
  if changed <> '{}' and not (changed <@ measured and private.acting_role() = 'service_role') then
    old_values := private.picked(changed, before);
    new_values := private.picked(changed, after);
  end if;
end
$$;
comment on function private.difference is
  'Returns the columns in which two versions of a row differ; the whole row if it was added or deleted; else nulls.';

create function private.note_edits() returns trigger
language plpgsql security definer set search_path = '' set timezone = 'UTC' as $$
declare
  versions constant text := case tg_op
    when 'INSERT' then 'select null::jsonb as before, to_jsonb(new_row) as after from new_row'
    when 'DELETE' then 'select to_jsonb(old_row) as before, null::jsonb as after from old_row'
    else format(
      'select to_jsonb(old_row) as before, to_jsonb(new_row) as after from old_row full join new_row using (%s)',
      tg_argv[0])
  end;
begin
  if current_setting('sounds_service.upkeep', true) = 'true' then
    return null;
  end if;
  execute format($statement$
    insert into private.edits (table_name, key, name, before, after)
      select $1, private.picked($2, present), coalesce(present ->> 'title', present ->> 'slug'), old_values, new_values
      from (%s) as version
        cross join lateral coalesce(after, before) as present
        cross join lateral private.difference(before, after)
      where old_values is not null or new_values is not null
    $statement$, versions)
    using tg_table_name, string_to_array(tg_argv[0], ', ');
  return null;
end
$$;

create trigger sounds_note_added after insert on public.sounds
  referencing new table as new_row for each statement execute function private.note_edits('id');
create trigger sounds_note_changed after update on public.sounds
  referencing old table as old_row new table as new_row for each statement execute function private.note_edits('id');
create trigger sounds_note_deleted after delete on public.sounds
  referencing old table as old_row for each statement execute function private.note_edits('id');

create trigger categories_note_added after insert on public.categories
  referencing new table as new_row for each statement execute function private.note_edits('id');
create trigger categories_note_changed after update on public.categories
  referencing old table as old_row new table as new_row for each statement execute function private.note_edits('id');
create trigger categories_note_deleted after delete on public.categories
  referencing old table as old_row for each statement execute function private.note_edits('id');

create trigger home_sections_note_added after insert on public.home_sections
  referencing new table as new_row for each statement execute function private.note_edits('id');
create trigger home_sections_note_changed after update on public.home_sections
  referencing old table as old_row new table as new_row for each statement execute function private.note_edits('id');
create trigger home_sections_note_deleted after delete on public.home_sections
  referencing old table as old_row for each statement execute function private.note_edits('id');

create trigger home_section_sounds_note_added after insert on public.home_section_sounds
  referencing new table as new_row for each statement execute function private.note_edits('section_id, sound_id');
create trigger home_section_sounds_note_changed after update on public.home_section_sounds
  referencing old table as old_row new table as new_row
  for each statement execute function private.note_edits('section_id, sound_id');
create trigger home_section_sounds_note_deleted after delete on public.home_section_sounds
  referencing old table as old_row for each statement execute function private.note_edits('section_id, sound_id');

create function private.forget_edits() returns void language plpgsql volatile set search_path = '' as $$
begin
  delete from private.edits where id = any (array(
    select id from private.edits where changed_at < now() - interval '30 days'
    order by changed_at limit 100000 for update skip locked
  ));
end
$$;

-- supabase/schemas/58_recent_edits.sql

create function private.key_condition(key jsonb) returns text language sql immutable set search_path = '' as $$
  select string_agg(format('%1$I = ($1 ->> %1$L)::uuid', name), ' and ') from jsonb_object_keys(key) as name
$$;
comment on function private.key_condition is 'Returns the condition of a row with this primary key, which is $1.';

create function private.stored_row(table_name text, key jsonb) returns jsonb
language plpgsql stable set search_path = '' set timezone = 'UTC' as $$
declare
  stored jsonb;
begin
  execute format('select to_jsonb(stored) from public.%I as stored where %s', table_name, private.key_condition(key))
    into stored using key;
  return stored;
end
$$;

create function private.name_of(edit private.edits) returns text language plpgsql stable set search_path = '' as $$
declare
  stored jsonb;
begin
  if edit.table_name = 'home_section_sounds' then
    return format('"%s" in "%s"',
      coalesce((select title from public.sounds where id = (edit.key ->> 'sound_id')::uuid), 'a deleted sound'),
      coalesce((select title from public.home_sections where id = (edit.key ->> 'section_id')::uuid), 'a deleted one'));
  end if;
  stored := private.stored_row(edit.table_name, edit.key);
  return format('"%s"', coalesce(stored ->> 'title', stored ->> 'slug', edit.name));
end
$$;
comment on function private.name_of is 'Returns the present name of an edited row, or its last one if the row is gone.';

create function private.joined_edit(edits private.edits[]) returns private.edits
language plpgsql immutable set search_path = '' as $$
declare
  joined private.edits := edits[1];
  edit private.edits;
begin
  foreach edit in array edits[2:] loop
    joined.id := edit.id;
    joined.name := edit.name;
    if joined.before is not null then -- else the change added the row
      joined.before := coalesce(edit.before, '{}') || joined.before;
    end if;
    joined.after := case when edit.after is not null then coalesce(joined.after, '{}') || edit.after end;
  end loop;
  return joined;
end
$$;

create function private.action_of(edit private.edits) returns text
language sql stable set search_path = '' as $$
  select case
    when edit.after is null and edit.table_name = 'home_section_sounds' then 'removed'
    when edit.after is null then 'deleted for good'
    when edit.after ->> 'deleted_at' is not null and edit.before ->> 'deleted_at' is null then 'deleted'
    when edit.before is null then 'added'
    when edit.before ->> 'deleted_at' is not null and edit.after ->> 'deleted_at' is null then 'brought back'
    else (
      select coalesce('changed ' || string_agg(key, ', ' order by key) || ' of', 'changed back')
      from jsonb_each(edit.before) where value is distinct from edit.after -> key
    )
  end
$$;
comment on function private.action_of is 'Returns what an edit did, in words: "deleted", "changed title of".';

create function private.noun_of(table_name text, is_one boolean) returns text
language sql immutable set search_path = '' as $$
  select case table_name
    when 'sounds' then case when is_one then 'sound' else 'sounds' end
    when 'categories' then case when is_one then 'category' else 'categories' end
    when 'home_sections' then case when is_one then 'home section' else 'home sections' end
    else case when is_one then 'place of' else 'places of home sections' end
  end
$$;

create view admin.recent_edits with (security_invoker = true) as
  with edited_rows as (
    select private.joined_edit(array_agg(edit order by id)) as edit, min(id) as first_id
    from private.edits as edit group by change, table_name, key
  ),
  acts as (
    select (edit).change, (edit).table_name, private.action_of(edit) as action, count(*) as edits,
      min(first_id) as first_id, max((edit).id) as last_id, min((edit).changed_at) as changed_at,
      min((edit).changed_by) as changed_by
    from edited_rows group by 1, 2, 3
  ),
  sentences as (
    select acts.*, concat_ws(' ', action, case when edits > 1 then edits::text end,
      private.noun_of(table_name, edits = 1),
      case when edits = 1 then (
        select coalesce('"' || name || '"', private.name_of(edit)) from private.edits as edit where id = last_id
      ) end
    ) as sentence
    from acts
  )
  select change, min(changed_at) as changed_at, min(changed_by) as changed_by, sum(edits)::bigint as edits,
    string_agg(sentence, '; ' order by first_id) as what
  from sentences group by change order by max(first_id) desc;
comment on view admin.recent_edits is
  'Changes of the catalogue in the last 30 days, newest first, one line for each transaction. admin.undo undoes one.';
comment on column admin.recent_edits.change is 'Name of the change, for admin.undo.';
comment on column admin.recent_edits.changed_by is
  'Role that made the change: postgres for the dashboard, service_role for an import.';
comment on column admin.recent_edits.edits is 'Number of changed rows. A row that was changed twice counts twice.';

-- supabase/schemas/59_undo_an_edit.sql

create function private.has_values(stored jsonb, expected jsonb) returns boolean
language plpgsql immutable set search_path = '' as $$
begin
  return not exists (select from jsonb_each(expected) where value is distinct from stored -> key);
end
$$;
comment on function private.has_values is 'Returns whether a row has these values in these columns.';

create function private.is_undone(edit private.edits, stored jsonb) returns boolean
language plpgsql immutable set search_path = '' as $$
begin
  if edit.before is null then
    return stored is null or stored ->> 'deleted_at' is not null;
  end if;
  return private.has_values(stored, edit.before);
end
$$;
comment on function private.is_undone is 'Returns whether a row is as before the edit already.';

create function private.is_as_left(edit private.edits, stored jsonb) returns boolean
language plpgsql immutable set search_path = '' as $$
begin
  if edit.after is null then
    return stored is null;
  end if;
  return private.has_values(stored, private.without_facts(edit.after));
end
$$;
comment on function private.is_as_left is 'Returns whether a row still has the values of an edit.';

create function private.write_back(edit private.edits) returns void language plpgsql volatile set search_path = '' as $$
declare
  columns constant text := (select string_agg(quote_ident(name), ', ') from jsonb_object_keys(edit.before) as name);
  values_before constant text := format(
    'select %s from jsonb_populate_record(null::public.%I, $2)', columns, edit.table_name);
  is_row constant text := private.key_condition(edit.key);
  statement constant text := case
    when edit.before is null then format('delete from public.%I where %s', edit.table_name, is_row)
    -- A place. Other deleted rows are in the trash, where they are updated.
    when edit.after is null then format('insert into public.%I (%s) %s', edit.table_name, columns, values_before)
    else format('update public.%I set (%s) = (%s) where %s', edit.table_name, columns, values_before, is_row)
  end;
begin
  -- Lets a sound have its earlier created_at again, which is otherwise never reused.
  if edit.before ? 'created_at' then
    delete from private.former_positions where created_at = (edit.before ->> 'created_at')::timestamptz;
  end if;
  execute statement using edit.key, edit.before;
end
$$;
comment on function private.write_back is 'Gives a row the values that it had before an edit.';

create function private.outcome_without_writing(edit private.edits) returns text
language plpgsql stable set search_path = '' as $$
declare
  stored constant jsonb := private.stored_row(edit.table_name, edit.key);
begin
  return case
    when private.is_undone(edit, stored) then 'restored'
    when stored is null and edit.table_name <> 'home_section_sounds' then 'deleted for good: left alone'
    when not private.is_as_left(edit, stored) then 'changed again: left alone'
  end;
end
$$;
comment on function private.outcome_without_writing is 'Returns the outcome of an undo that leaves the row as it is.';

create type private.undone_edit as (edit private.edits, outcome text, is_rejected boolean);
comment on type private.undone_edit is
  'An edit, what its undo did in words, and whether a constraint has rejected the values before it.';

create function private.undo_edit(edit private.edits) returns private.undone_edit
language plpgsql volatile set search_path = '' as $$
declare
  undone private.undone_edit;
begin
  undone.edit := edit;
  undone.is_rejected := false;
  undone.outcome := private.outcome_without_writing(edit);
  if undone.outcome is null then
    perform private.write_back(edit);
    undone.outcome := 'restored';
  end if;
  return undone;
exception
  when integrity_constraint_violation then
    undone.outcome := 'left alone: ' || sqlerrm;
    undone.is_rejected := true;
    return undone;
end
$$;
comment on function private.undo_edit is 'Takes back an edit of one row.';

-- supabase/schemas/59_undo_changes.sql

create function private.edits_of_change(undone_change text, is_of_places boolean) returns setof private.edits
language plpgsql stable set search_path = '' as $$
begin
  return query
    select joined.* from (
      select array_agg(edits order by id) as of_row from private.edits
      where change = undone_change and (table_name = 'home_section_sounds') = is_of_places
      group by table_name, key
    ) as rows cross join lateral private.joined_edit(of_row) as joined
    order by joined.id desc;
end
$$;
comment on function private.edits_of_change is
  'Returns one edit for each row of a change, the one that was edited last first.';

create function private.with_taken_position(tried private.undone_edit) returns private.undone_edit
language plpgsql stable set search_path = '' as $$
declare
  edit constant private.edits := tried.edit;
begin
  if tried.outcome = 'restored' and not private.is_undone(edit, private.stored_row(edit.table_name, edit.key)) then
    tried.outcome := 'another sound has a position of its section: left alone';
  end if;
  tried.is_rejected := false;
  return tried;
end
$$;
comment on function private.with_taken_position is
  'Corrects the outcome "restored" of a place, after the undo of its section was rolled back because another sound has '
  'a position in it.';

create function private.undo_places(edits private.edits[]) returns private.undone_edit[]
language plpgsql volatile set search_path = '' as $$
declare
  undone private.undone_edit[] := '{}';
  edit private.edits;
begin
  set constraints public.position_is_taken_once_in_its_section deferred;
  foreach edit in array edits loop
    undone := undone || private.undo_edit(edit);
  end loop;
  set constraints public.position_is_taken_once_in_its_section immediate;
  return undone;
exception
  when unique_violation then
    return array(select private.with_taken_position(tried) from unnest(undone) as tried);
end
$$;

create function private.undo_row_by_row(edits private.edits[]) returns private.undone_edit[]
language plpgsql volatile set search_path = '' as $$
declare
  edit private.edits;
  first_tries private.undone_edit[] := '{}';
  tried private.undone_edit;
  undone private.undone_edit[] := '{}';
begin
  foreach edit in array edits loop
    first_tries := first_tries || private.undo_edit(edit);
  end loop;
  foreach tried in array first_tries loop
    if tried.is_rejected then
      tried := private.undo_edit(tried.edit);
    end if;
    undone := undone || tried;
  end loop;
  return undone;
end
$$;

create function private.undo_rows(undone_change text) returns private.undone_edit[]
language plpgsql volatile set search_path = '' as $$
declare
  edits constant private.edits[] := array(select edits from private.edits_of_change(undone_change, false) as edits);
  undone private.undone_edit[];
begin
  undone := array(
    select (edit, private.outcome_without_writing(edit), false)::private.undone_edit from unnest(edits) as edit
  );
  set constraints public.category_is_the_slug_of_an_existing_category,
    public.rule_value_is_the_slug_of_an_existing_category deferred;
  perform private.write_back(step)
    from (
      select step from private.edits as step
        join unnest(undone) as tried
          on (step.table_name, step.key) = ((tried.edit).table_name, (tried.edit).key) and tried.outcome is null
      where step.change = undone_change
      order by step.id desc
    ) as steps;
  set constraints public.category_is_the_slug_of_an_existing_category,
    public.rule_value_is_the_slug_of_an_existing_category immediate;
  return array(
    select (tried.edit, coalesce(tried.outcome, 'restored'), false)::private.undone_edit from unnest(undone) as tried
  );
exception
  when integrity_constraint_violation then
    return private.undo_row_by_row(edits);
end
$$;
comment on function private.undo_rows is
  'Takes a change of sounds, categories and sections back, beginning with its last statement.';

create function private.undo_change(undone_change text) returns private.undone_edit[]
language plpgsql volatile set search_path = '' as $$
declare
  undone private.undone_edit[] := private.undo_rows(undone_change);
  places private.edits[];
begin
  for places in
    select array_agg(place order by id desc) from private.edits_of_change(undone_change, true) as place
    group by key -> 'section_id'
  loop
    undone := undone || private.undo_places(places);
  end loop;
  return undone;
end
$$;
comment on function private.undo_change is 'Takes a change back: rows first, then the places of home sections.';

create function private.undo_changes(changes text[]) returns table (outcome text, "rows" bigint, named text)
language plpgsql volatile set search_path = '' as $$
declare
  undone private.undone_edit[] := '{}';
  undone_change text;
begin
  foreach undone_change in array changes loop
    undone := undone || private.undo_change(undone_change);
  end loop;
  return query
    with tries as (
      select tried.edit, (tried.edit).table_name, (tried.edit).key, tried.outcome as result from unnest(undone) as tried
    )
    select result, count(distinct (table_name, key)),
      case when result <> 'restored' then
        string_agg(distinct private.noun_of(table_name, true) || ' ' || private.name_of(edit), ', ')
      end
    from tries group by result order by result = 'restored' desc, result;
end
$$;
comment on function private.undo_changes is
  'Takes changes back in this order. Returns the number of rows by outcome, and the names of those left alone.';

create function admin.undo(change text) returns table (outcome text, "rows" bigint, named text)
language plpgsql volatile set search_path = '' as $$
begin
  perform private.wait_for_catalogue();
  if not exists (select from private.edits where edits.change = undo.change) then
    raise exception 'There is no change "%" of the last 30 days. Take one from the column "change" of '
      'admin.recent_edits.', change;
  end if;
  return query select * from private.undo_changes(array[change]);
end
$$;
comment on function admin.undo is
  'Takes back a change of admin.recent_edits, where nothing changed it again. Undoing the undo repeats the change.';

create function admin.undo_since(moment text) returns table (outcome text, "rows" bigint, named text)
language plpgsql volatile set search_path = '' as $$
declare
  since constant timestamptz := admin.moment(moment);
  changes text[];
begin
  if since < now() - interval '30 days' then
    raise exception '"%" is more than 30 days ago, and changes are kept for 30 days. Check the year, or give a later '
      'moment: admin.recent_edits lists all changes with their times.', moment;
  end if;
  perform private.wait_for_catalogue();
  changes := array(
    select change from private.edits where changed_at >= since group by change order by max(id) desc
  );
  if changes = '{}' then
    raise exception 'Nothing was changed since %. admin.recent_edits has the changes of the last 30 days with their '
      'times.', since;
  end if;
  return query select * from private.undo_changes(changes);
end
$$;
comment on function admin.undo_since is
  'Takes back all changes of admin.recent_edits whose transactions began at or after a time such as '
  '2030-01-04 09:30 Europe/Berlin, newest first, for example those of an import.';

-- supabase/schemas/60_api_keys.sql

create table private.api_keys (
  id uuid primary key default gen_random_uuid(),
  name text not null constraint key_name_has_1_to_100_characters check (char_length(name) between 1 and 100),
  owner_id uuid not null references public.customers (id) on delete cascade,
  key_hash text not null unique constraint key_hash_is_sha_256_in_hex check (key_hash ~ '^[0-9a-f]{64}$'),
  key_prefix text not null unique,
  scope text not null default 'all'
    constraint scope_is_all_read_or_catalogue check (scope in ('all', 'read', 'catalogue')),
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz
);
create index api_keys_owner_id on private.api_keys (owner_id);
comment on table private.api_keys is 'API keys of trusted back ends. Issue keys with admin.create_api_key.';
comment on column private.api_keys.owner_id is 'Customer on whose behalf the key acts.';
comment on column private.api_keys.key_hash is 'SHA-256 hash of the key. The key itself is not stored.';
comment on column private.api_keys.key_prefix is 'First 16 characters of the key, to identify it.';
comment on column private.api_keys.scope is
  'What the key may do: all, read (nothing is written) or catalogue (only reads of the catalogue, as its owner sees '
  'it: premium unlocks sounds).';
comment on column private.api_keys.expires_at is 'Time at which the key expires. Null if it does not expire.';
comment on column private.api_keys.revoked_at is 'Time of revocation. Set it to now() to revoke the key for good.';

create function private.keep_revoked() returns trigger language plpgsql set search_path = '' as $$
begin
  raise exception 'A revoked key stays revoked. Issue a new one with admin.create_api_key.'
    using errcode = 'check_violation', constraint = 'revoked_key_stays_revoked';
end
$$;
create trigger api_keys_keep_revoked before update of revoked_at on private.api_keys for each row
  when (old.revoked_at is not null and new.revoked_at is distinct from old.revoked_at)
  execute function private.keep_revoked();

create function private.base62_digit(value bigint) returns text language sql immutable set search_path = '' as $$
  select substr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', (value % 62)::integer + 1, 1)
$$;

create function private.random_base62(length integer) returns text language sql volatile set search_path = '' as $$
  with random as (select extensions.gen_random_bytes(2 * length) as bytes),
  digits as (
    select get_byte(bytes, place) as digit from random cross join generate_series(0, 2 * length - 1) as place
    where get_byte(bytes, place) < 248 limit length
  )
  select string_agg(private.base62_digit(digit), '') from digits
$$;

create function private.api_key_checksum(body text) returns text language sql immutable set search_path = '' as $$
  select string_agg(private.base62_digit(number / (62 ^ place)::bigint), '' order by place desc)
  from (select ('x' || left(encode(sha256(convert_to(body, 'UTF8')), 'hex'), 12))::bit(48)::bigint) as hash (number),
    generate_series(0, 5) as place
$$;
comment on function private.api_key_checksum is 'Returns six Base62 characters of SHA-256, which detect mistyped keys.';

create function admin.create_api_key(
  name text, owner_email text, expires_at timestamptz default null, scope text default 'all'
)
returns table (api_key text, key_prefix text, owner_id uuid, note text)
language plpgsql volatile security definer set search_path = '' as $$
declare
  body text := 'sk_live_' || private.random_base62(43);
  owners integer;
begin
  if btrim(name) ~ '^<.*>$' then
    raise exception 'The name is "%". Replace it by the name of the key''s user.', btrim(name);
  elsif expires_at <= now() then
    raise exception 'The key would have expired already, at %. Give a moment in the future, or none.', expires_at;
  elsif (scope in ('all', 'read', 'catalogue')) is not true then
    raise exception 'There is no scope "%". It is one of: all, read, catalogue.', scope;
  end if;
  api_key := body || private.api_key_checksum(body);
  key_prefix := left(api_key, 16);
  select (array_agg(id))[1], count(*) into owner_id, owners
    from public.customers where lower(email) = lower(btrim(owner_email));
  if owners <> 1 then
    raise exception '% customers have the e-mail address %. The owner of a key must have an account first, and an '
      'address that no other customer has.', owners, owner_email;
  end if;
  insert into private.api_keys (name, owner_id, key_hash, key_prefix, scope, expires_at)
    values (btrim(name), owner_id, encode(sha256(convert_to(api_key, 'UTF8')), 'hex'), key_prefix, scope, expires_at);
  note := 'Copy the key now: it is not stored and cannot be shown again.';
  return next;
end
$$;
comment on function admin.create_api_key is
  'Issues an API key that acts as the customer with this e-mail address. Its scope is all, read or catalogue. The key '
  'is shown only once.';

create function admin.revoke_api_key(prefix text) returns table (key_prefix text, name text, revoked_at timestamptz)
language plpgsql volatile security definer set search_path = '' as $$
begin
  return query
    update private.api_keys as key set revoked_at = coalesce(key.revoked_at, now())
      where key.key_prefix = left(btrim(prefix), 16)
      returning key.key_prefix, key.name, key.revoked_at;
  if not found then
    raise exception 'No key begins with "%". Give the 16 characters of key_prefix.', left(btrim(prefix), 16);
  end if;
end
$$;
comment on function admin.revoke_api_key is 'Revokes the key with this prefix, effective from the next request.';

create function private.live_key(hash text, out owner_id uuid, out scope text)
language plpgsql volatile security definer set search_path = '' as $$
declare
  live private.api_keys;
begin
  select key.* into live
    from private.api_keys as key
      join public.customers as owner on owner.id = key.owner_id
      join auth.users as account on account.id = key.owner_id
    where key.key_hash = hash and key.revoked_at is null and (key.expires_at is null or key.expires_at > now())
      and owner.is_active and account.deleted_at is null
      and (account.banned_until is null or account.banned_until <= now());
  if coalesce(live.last_used_at, '-infinity') < now() - interval '1 minute'
    and current_setting('transaction_read_only') = 'off'
  then
    -- Does not wait for a locked row, because the concurrent request stores nearly the same time.
    update private.api_keys set last_used_at = now()
      where id = (select id from private.api_keys where id = live.id for update skip locked);
  end if;
  owner_id := live.owner_id;
  scope := live.scope;
end
$$;
comment on function private.live_key is
  'Returns owner and scope of an active key, or nulls, and stores that it is used. A rejected call rolls that back.';

create function private.needed_scope(operation text) returns text language sql stable set search_path = '' as $$
  select case
    when provolatile = 'v' then 'all'
    when proname in (
      'get_sound', 'list_catalogue_changes', 'list_categories', 'list_home_sections', 'list_sound_files', 'list_sounds'
    ) then 'catalogue'
    else 'read'
  end
  from pg_proc where pronamespace = 'public'::regnamespace and proname = operation
$$;
comment on function private.needed_scope is
  'Returns the smallest scope of a key that may call this API function: all if it can write, else read or '
  'catalogue.';

create function private.require_scope(scope text, operation text) returns void
language plpgsql stable set search_path = '' as $$
declare
  scopes constant text[] := '{catalogue,read,all}';
  needed constant text := private.needed_scope(operation);
begin
  if array_position(scopes, scope) < array_position(scopes, needed) then
    raise exception 'The scope of this key is %. This takes the scope %.', scope, needed
      using errcode = 'SSKEY', detail = scope, hint = needed;
  end if;
end
$$;
comment on function private.require_scope is 'Raises SSKEY if an operation is beyond the scope of a key.';

create function private.rpc_statement(operation text, arguments jsonb) returns text
language sql stable set search_path = '' as $$
  select format(
    'select to_json(result) from public.%I(%s) as result', proname, (
      select string_agg(
        case name when 'player' then 'player => $2' when 'with_api_key' then 'with_api_key => true'
          else format('%I => ($1 ->> %L)::%s', name, name, format_type(type, null)) end,
        ', '
      )
      from unnest(proargnames, proargtypes::oid[]) as argument (name, type)
      where arguments ? name or name in ('player', 'with_api_key')
    )
  )
  from pg_proc
  where pronamespace = 'public'::regnamespace and proname = operation
    and array(select jsonb_object_keys(arguments)) <@ coalesce(proargnames, '{}')
$$;
comment on function private.rpc_statement is
  'Returns the statement that calls this API function with these arguments, or null if it does not exist.';

create function public.as_api_key(key_hash text, operation text, arguments jsonb default '{}') returns json
language plpgsql volatile set search_path = '' as $$
declare
  key constant record := private.live_key(key_hash);
  statement text := private.rpc_statement(operation, arguments);
  result json;
begin
  if key.owner_id is null then
    raise exception 'This API key is unknown, revoked or expired.' using errcode = 'PT401';
  end if;
  if statement is null then
    raise exception 'There is no operation "%" with these arguments.', operation
      using errcode = 'invalid_parameter_value';
  end if;
  perform private.require_scope(key.scope, operation);
  -- Protects also against functions that write although they are declared stable. Lasts until the transaction ends.
  if key.scope <> 'all' then
    perform set_config('transaction_read_only', 'on', true);
  end if;
  -- The service counts plays. Everything else runs as the owner, so functions without a grant to users are denied.
  if operation not in ('count_play', 'count_plays') then
    perform set_config(
      'request.jwt.claims', jsonb_build_object('sub', key.owner_id, 'role', 'authenticated')::text, true);
    perform set_config('role', 'authenticated', true);
  end if;
  execute statement into result using arguments, key.owner_id;
  return result;
end
$$;
comment on function public.as_api_key is
  'Runs one operation as the owner of an active API key, under row-level security. For the service only.';

grant execute on function
  private.live_key, private.rpc_statement, private.needed_scope, private.require_scope, public.as_api_key
  to service_role;

-- supabase/schemas/61_export.sql

create function private.export_account(
  out api_keys json, out play_receipts json, out listening_days json, out progress json, out history_clearings json,
  out removed_lists json
) language sql stable security definer set search_path = '' as $$
  select
    to_json(array(
      select json_build_object('name', name, 'key_prefix', key_prefix)
      from private.api_keys where owner_id = auth.uid() order by created_at, key_prefix
    )),
    to_json(array(
      select json_build_object('key', key, 'sound_id', sound_id, 'received_at', private.iso_time(received_at))
      from private.play_receipts where user_id = auth.uid() order by received_at, key
    )),
    to_json(array(select day from private.listening_days where user_id = auth.uid() and listened order by day)),
    to_json(array(
      select json_build_object(
        'sound_id', sound_id, 'position_sec', position_sec, 'updated_at', private.iso_time(own.updated_at))
      from public.progress as own where user_id = auth.uid() order by own.updated_at desc, sound_id
    )),
    to_json(array(
      select json_build_object('sound_id', sound_id, 'cleared_at', private.iso_time(cleared_at))
      from private.history_clearings where user_id = auth.uid() order by cleared_at desc, sound_id
    )),
    to_json(array(
      select json_build_object('id', id, 'removed_at', private.iso_time(removed_at))
      from private.removed_lists where user_id = auth.uid() order by removed_at desc, id
    ))
$$;

create function public.export_account() returns json language sql stable set search_path = '' as $$
  select private.require_account();
  select json_build_object(
    'profile', json_build_object(
      'id', auth.uid(), 'email', coalesce(customer.email, nullif(auth.jwt() ->> 'email', '')),
      'full_name', customer.full_name, 'avatar_url', customer.avatar_url
    ),
    'customer', case when customer.id is not null then row_to_json(customer) end,
    'favorites', array(select favorite from private.favorite as favorite),
    'history', array(select entry from private.history_entry as entry),
    'api_keys', hidden.api_keys,
    'play_receipts', hidden.play_receipts,
    'listening_days', hidden.listening_days,
    'progress', hidden.progress,
    'history_clearings', hidden.history_clearings,
    'lists', private.list_lists(),
    'removed_lists', hidden.removed_lists
  )
  from private.export_account() as hidden
  left join private.customer as customer on customer.id = (select auth.uid())
$$;
comment on function public.export_account is
  'Returns all data that is stored about the caller, except the sessions, for GET /me/export.';

grant execute on function private.export_account, public.export_account to authenticated;

-- supabase/schemas/62_adoption.sql

create function private.lock_adoption(guest uuid, owner uuid) returns void
language plpgsql volatile set search_path = '' as $$
begin
  perform from auth.users where id in (guest, owner) order by id for update;
  perform from public.customers where id in (guest, owner) order by id for update;
  perform from public.sounds
    where id in (
      select sound_id from public.favorites where user_id = guest
      union select sound_id from public.history where user_id = guest
      union select sound_id from public.progress where user_id = guest
      union select sound_id from private.history_clearings where user_id = guest
    )
    order by id for key share;
end
$$;
comment on function private.lock_adoption is 'Locks all rows that other transactions could change during an adoption.';

create function private.move_favorites(guest uuid, owner uuid) returns void
language plpgsql volatile set search_path = '' as $$
declare
  room constant bigint := 5000 - (select count(*) from public.favorites where user_id = owner);
begin
  insert into public.favorites (user_id, sound_id, created_at)
    select owner, moved.sound_id, moved.created_at
    from public.favorites as moved
    where user_id = guest
      and not exists (select from public.favorites where user_id = owner and sound_id = moved.sound_id)
    order by created_at desc, sound_id limit greatest(room, 0);
end
$$;
comment on function private.move_favorites is
  'Adds the favorites of a guest, the newest first, until the owner has 5,000. Others are deleted with the guest.';

create function private.move_history(guest uuid, owner uuid) returns void
language plpgsql volatile set search_path = '' as $$
begin
  perform private.add_to_history(owner, sound_id, plays, last_played_at)
    from public.history as moved
    where user_id = guest and last_played_at > private.cleared_at(owner, sound_id)
      and exists (select from public.sounds where id = moved.sound_id);
end
$$;
comment on function private.move_history is 'Adds the plays of a guest to the history of the owner.';

create function private.count_as_one_listener(guest uuid, owner uuid) returns void
language plpgsql volatile set search_path = '' as $$
declare
  common_days constant date[] := array(
    select day from private.listening_days where user_id in (guest, owner) and listened
    group by day having count(*) = 2 -- guest and owner
  );
begin
  perform from private.listeners_by_day where day = any (common_days) order by day for update;
  update private.listeners_by_day set listeners = listeners - 1 where day = any (common_days);
end
$$;
comment on function private.count_as_one_listener is
  'Counts guest and owner as one listener on days on which both listened.';

create function private.move_listening_days(guest uuid, owner uuid) returns void
language plpgsql volatile set search_path = '' as $$
begin
  perform private.count_as_one_listener(guest, owner);
  insert into private.listening_days as own (user_id, day, listened, receipts)
    select owner, day, listened, receipts from private.listening_days where user_id = guest
    on conflict (user_id, day) do update
      set listened = own.listened or excluded.listened, receipts = own.receipts + excluded.receipts;
end
$$;

create function private.move_play_receipts(guest uuid, owner uuid) returns void
language plpgsql volatile set search_path = '' as $$
begin
  insert into private.play_receipts (user_id, key, sound_id, received_at)
    select owner, key, sound_id, received_at from private.play_receipts where user_id = guest
    on conflict (user_id, key) do nothing;
end
$$;
comment on function private.move_play_receipts is
  'Moves the receipts of a guest, so that plays that the app sends again as the owner do not count twice.';

create function private.move_positions(guest uuid, owner uuid) returns void
language plpgsql volatile set search_path = '' as $$
begin
  perform private.store_positions(owner, array(
    -- The place in a request, here 0, has no effect on what is stored.
    select (0, sound_id, position_sec, updated_at)::private.sent_position
    from public.progress
    where user_id = guest and updated_at > private.cleared_at(owner, sound_id)
  ));
  perform private.limit_positions(owner);
end
$$;
comment on function private.move_positions is
  'Saves the positions and removals of a guest as if the owner had sent them: the newest of each sound wins.';

create function private.move_clearings(guest uuid, owner uuid) returns void
language plpgsql volatile set search_path = '' as $$
begin
  insert into private.history_clearings as own (user_id, sound_id, cleared_at)
    select owner, sound_id, cleared_at from private.history_clearings where user_id = guest
    on conflict (user_id, sound_id) do update set cleared_at = greatest(own.cleared_at, excluded.cleared_at);
end
$$;
comment on function private.move_clearings is
  'Moves the clearings of a guest, so that what the guest has removed does not come back with a late play, also of '
  'another device of the owner.';

create function private.move_lists(guest uuid, owner uuid) returns void
language plpgsql volatile set search_path = '' as $$
declare
  lists_of_owner constant bigint := (select count(*) from public.lists where user_id = owner);
  items_of_owner constant bigint := (
    select coalesce(sum(jsonb_array_length(private.existing_items(items))), 0) from public.lists where user_id = owner
  );
begin
  insert into public.lists (user_id, id, name, is_mix, items, version, updated_at)
    select owner, id, name, is_mix, items, version, updated_at
    from (
      select moved.*, count(*) over newest as lists_so_far,
        sum(jsonb_array_length(private.existing_items(items))) over newest as items_so_far
      from public.lists as moved where user_id = guest
      window newest as (order by updated_at desc, id)
    ) as counted
    where lists_of_owner + lists_so_far <= 200 and items_of_owner + items_so_far <= 5000
    on conflict (user_id, id) do nothing;
  insert into private.removed_lists (user_id, id, removed_at)
    select owner, id, removed_at from private.removed_lists where user_id = guest
    on conflict (user_id, id) do nothing;
end
$$;
comment on function private.move_lists is
  'Adds the mixes and playlists of a guest, the newest first, and stops before the first one with which the owner '
  'would have more than 200 lists or 5,000 items of existing sounds. Others are deleted with the guest.';

create function private.move_premium(guest uuid, owner uuid) returns void
language plpgsql volatile set search_path = '' as $$
begin
  update public.customers as own
    set premium_until = greatest(own.premium_until, moved.premium_until),
      premium_as_of = greatest(own.premium_as_of, moved.premium_as_of),
      premium_given_until = greatest(own.premium_given_until, moved.premium_given_until)
    from public.customers as moved
    where own.id = owner and moved.id = guest;
end
$$;
comment on function private.move_premium is 'Gives the owner the later end of premium of both.';

create function private.adopt_guest(guest uuid, owner uuid) returns boolean
language plpgsql volatile security definer set search_path = '' as $$
begin
  perform private.lock_adoption(guest, owner);
  perform private.lock_user(owner);
  if not exists (select from auth.users where id = guest) then
    return false;
  elsif private.is_guest(owner) or not private.is_guest(guest) then
    raise exception 'Only a user can adopt, and only a guest can be adopted.' using errcode = 'check_violation';
  end if;
  perform private.move_favorites(guest, owner);
  perform private.move_history(guest, owner);
  perform private.move_listening_days(guest, owner);
  perform private.move_play_receipts(guest, owner);
  perform private.move_positions(guest, owner);
  perform private.move_clearings(guest, owner);
  perform private.move_lists(guest, owner);
  perform private.move_premium(guest, owner);
  delete from auth.users where id = guest;
  return true;
end
$$;

create function public.adopt_guest(guest uuid, owner uuid) returns boolean
language sql volatile set search_path = '' as $$ select private.adopt_guest(guest, owner) $$;
comment on function public.adopt_guest is
  'Moves favorites, lists, history, positions, receipts of plays and premium of a guest to a user, and deletes the '
  'guest. Returns false if the guest does not exist, because it was adopted or deleted before. For the service only.';

grant execute on function private.adopt_guest, public.adopt_guest to service_role;

-- supabase/schemas/70_admin.sql

create view admin.api_keys with (security_invoker = true) as
  select key.key_prefix, key.name, owner.email as owner_email, case
      when key.revoked_at is not null then 'revoked'
      when key.expires_at <= now() then 'expired'
      when account.deleted_at is not null then 'owner deleted'
      when not owner.is_active then 'owner deactivated'
      when account.banned_until > now() then 'owner banned'
      else 'live'
    end as state, key.last_used_at, key.created_at, key.expires_at, key.revoked_at, key.scope
  from private.api_keys as key
    join public.customers as owner on owner.id = key.owner_id
    join auth.users as account on account.id = key.owner_id
  order by key.created_at desc, key.key_prefix;
comment on view admin.api_keys is
  'API keys, newest first. Issue them with admin.create_api_key, revoke them with admin.revoke_api_key.';
comment on column admin.api_keys.key_prefix is 'First 16 characters of the key, to identify and revoke it.';
comment on column admin.api_keys.state is
  'State of the key: live (accepted), revoked, expired, owner deactivated, owner banned or owner deleted.';
comment on column admin.api_keys.scope is 'What the key may do: all, read or catalogue.';
comment on column admin.api_keys.last_used_at is 'Time of the last use, updated at most once a minute.';

create function private.reject_moment(written text) returns void language plpgsql immutable set search_path = '' as $$
begin
  raise exception '"%" is not a moment. Write the date as YYYY-MM-DD, the time, and a zone: a name with a slash, UTC '
    'or an offset. For example: 2030-01-04 09:30 Europe/Berlin, 2030-01-04 08:30 UTC, 2030-01-04 09:30 +01:00', written;
end
$$;

create function admin.time_zone(moment text) returns text language plpgsql immutable set search_path = '' as $$
declare
  words constant text[] := regexp_match(
    moment, '^\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)? ?'
      '([A-Za-z_]+(?:/[A-Za-z_-]+)+|Etc/GMT[+-]?\d\d?|UTC|Z|[+-]\d\d(?::?\d\d)?)$');
begin
  if words is null then
    perform private.reject_moment(moment);
  end if;
  return case
    when words[1] = 'Z' then 'UTC'
    when words[1] ~ '^[+-]\d\d$' then words[1] || ':00' -- as the dashboard shows times
    else words[1]
  end;
end
$$;
comment on function admin.time_zone is
  'Returns the zone of a moment that a person wrote: a name with a slash, UTC or an offset. Rejects others, because '
  'abbreviations have several meanings (IST is the time of India, of Ireland and of Israel).';

create function admin.moment(written text) returns timestamptz language plpgsql stable set search_path = '' as $$
begin
  perform admin.time_zone(written);
  return written::timestamptz;
exception
  when data_exception then -- a day, an hour or a zone that does not exist
    perform private.reject_moment(written);
end
$$;
comment on function admin.moment is
  'Returns the moment that a person wrote, for example 2030-01-04 09:30 Europe/Berlin.';

create function private.local_time(moment timestamptz, zone text) returns text
language plpgsql stable set search_path = '' as $$
declare
  -- Converts an offset to an interval, because Postgres reads a zone such as '+01:00' with the opposite sign.
  there constant timestamp := case
    when zone ~ '^[+-]' then moment at time zone zone::interval else moment at time zone zone end;
begin
  return to_char(there, 'YYYY-MM-DD HH24:MI ') || zone;
end
$$;

create function private.require_found(is_found boolean, what text, name text) returns void
language plpgsql immutable set search_path = '' as $$
begin
  if not is_found then
    raise exception 'There is no %: "%". Correct it, and run this again.', what, name;
  end if;
end
$$;
comment on function private.require_found is 'Rejects a name, in a snippet, of which there is no row.';

create function admin.sounds_named(title text) returns setof public.sounds
language plpgsql stable set search_path = '' as $$
begin
  return query select * from public.sounds where sounds.title = sounds_named.title and deleted_at is null;
  perform private.require_found(found, 'sound with this title', title);
end
$$;
comment on function admin.sounds_named is
  'Returns the sounds with this title, without the trash. An unknown title is an error.';

create function admin.section_named(slug text) returns setof public.home_sections
language plpgsql stable set search_path = '' as $$
begin
  return query
    select * from public.home_sections where home_sections.slug = section_named.slug and deleted_at is null;
  perform private.require_found(found, 'section of the home page with this slug', slug);
end
$$;
comment on function admin.section_named is
  'Returns the section with this slug, unless it is in the trash. An unknown slug is an error.';

create function admin.customer_named(email text) returns setof public.customers
language plpgsql stable set search_path = '' as $$
begin
  return query select * from public.customers where lower(customers.email) = lower(customer_named.email);
  perform private.require_found(found, 'customer with this e-mail address', email);
end
$$;
comment on function admin.customer_named is 'Returns the customer with this address. An unknown address is an error.';

create function admin.give_premium(email text, moment text)
returns table (customer text, until_in_utc text, until_there text) language plpgsql volatile set search_path = '' as $$
declare
  is_date constant boolean := coalesce(moment <> 'infinity', false);
  until constant timestamptz := case when is_date then admin.moment(moment) else moment::timestamptz end;
begin
  if until <= now() then
    raise exception '"%" is past. Give a moment in the future, or null to end what was given.', moment;
  end if;
  return query
    update public.customers as given set premium_given_until = until
      from admin.customer_named(give_premium.email) as found
      where given.id = found.id
      returning given.email,
        case when is_date then private.local_time(until, 'UTC') else coalesce(moment, 'no premium given') end,
        case when is_date then private.local_time(until, admin.time_zone(moment)) end;
end
$$;
comment on function admin.give_premium is
  'Sets premium_given_until of the customer with this address: a moment, infinity, or null for none.';

-- supabase/schemas/70_home.sql

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

-- supabase/schemas/70_problems.sql

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

-- supabase/schemas/70_schedules.sql

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

create function private.scheduled_jobs() returns table (job text, schedule text, is_active boolean, command text)
language plpgsql stable set search_path = '' as $$
begin
  if to_regclass('cron.job') is not null then
    return query execute 'select jobname::text, schedule::text, active, command::text from cron.job';
  end if;
end
$$;
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

-- supabase/schemas/70_statistics.sql

create view admin.plays_by_day with (security_invoker = true) as
  select played.day, played.sound_id, sound.title, played.plays
  from private.plays_by_day as played join public.sounds as sound on sound.id = played.sound_id
  order by played.day desc, played.plays desc, sound.title;
comment on view admin.plays_by_day is 'Number of plays of each sound on each day (UTC), latest day first.';
comment on column admin.plays_by_day.day is 'Day on which the sound was played, even if an app sent the play later.';

create view admin.most_played with (security_invoker = true) as
  select sound_id, year.title,
    coalesce(week.listeners, 0) as listeners_7_days,
    coalesce(month.listeners, 0) as listeners_30_days,
    year.listeners as listeners_365_days,
    coalesce(week.plays, 0) as plays_7_days,
    coalesce(month.plays, 0) as plays_30_days,
    year.plays as plays_365_days
  from admin.top_sounds(365) as year
    left join admin.top_sounds(30) as month using (sound_id)
    left join admin.top_sounds(7) as week using (sound_id)
  order by listeners_30_days desc, month.days_played desc nulls last, listeners_365_days desc, year.title;
comment on view admin.most_played is
  'Listeners and plays of each sound in the last 7, 30 and 365 days, today included. Ordered by listeners_30_days.';
comment on column admin.most_played.listeners_30_days is 'Number of accounts that played the sound. Each counts once.';

create function private.days_since(first_day date) returns setof date language sql stable set search_path = '' as $$
  select day::date from generate_series(first_day::timestamp, now() at time zone 'UTC', interval '1 day') as day
$$;
comment on function private.days_since is 'Returns the days (UTC) from a first day, which may be null, until today.';

create view admin.listeners_by_day with (security_invoker = true) as
  select day, coalesce(listeners, 0) as listeners
  from private.days_since((select min(day) from private.listeners_by_day)) as day
    left join private.listeners_by_day using (day)
  order by day desc;
comment on view admin.listeners_by_day is 'Number of users who played a sound on each day (UTC), latest day first.';

create view admin.accounts_by_day with (security_invoker = true) as
  with events as (
    select (created_at at time zone 'UTC')::date as day, (not is_guest)::integer as sign_ups, 0 as active, 0 as deleted,
      is_guest::integer as guests, 0 as active_guests
    from public.customers where email is null or email not like '%@doctor.invalid'
    union all select signed_up_on, (not is_guest)::integer, 0, 0, is_guest::integer, 0 from private.deleted_accounts
    union all select day, 0, visitors, 0, 0, guests from private.visitors_by_day
    union all select deleted_on, 0, 0, 1, 0, 0 from private.deleted_accounts where not is_guest
    union all select (deleted_at at time zone 'UTC')::date, 0, 0, 1, 0, 0 from auth.users where deleted_at is not null
  )
  select day,
    coalesce(sum(sign_ups), 0)::bigint as sign_ups,
    coalesce(sum(active), 0)::bigint as active,
    coalesce(sum(deleted), 0)::bigint as deleted,
    coalesce(sum(guests), 0)::bigint as guests,
    coalesce(sum(active_guests), 0)::bigint as active_guests
  from private.days_since((select min(day) from events)) as day left join events using (day)
  group by day order by day desc;
comment on view admin.accounts_by_day is
  'Sign-ups, active and deleted accounts, and guests, on each day (UTC), latest day first.';
comment on column admin.accounts_by_day.guests is
  'Number of new guests. They count neither as sign-ups nor as deleted accounts.';
comment on column admin.accounts_by_day.sign_ups is 'Number of sign-ups, including accounts that were deleted later.';
comment on column admin.accounts_by_day.active is
  'Number of accounts that used the app, without API keys. Days before this view was installed have 0.';

-- supabase/schemas/71_imports.sql

create table public.imported_sounds (
  -- Has no foreign key, because the import remembers that a sound was deleted in the dashboard.
  sound_id uuid primary key,
  fields jsonb not null,
  places jsonb not null default '[]',
  checksum text,
  said jsonb not null default '{}'
);
comment on table public.imported_sounds is 'Values that npm run import wrote last. Do not edit them by hand.';
comment on column public.imported_sounds.sound_id is 'Id of the sound, which may have been deleted.';
comment on column public.imported_sounds.fields is 'Columns of the sound as the import last wrote them.';
comment on column public.imported_sounds.places is 'Origins of the sound: folder (source), file and key in sounds.csv.';
comment on column public.imported_sounds.checksum is 'SHA-256 hash of the last imported recording, in hex.';
comment on column public.imported_sounds.said is 'Columns that sounds.csv set. They stay until it sets other values.';

alter table public.imported_sounds enable row level security;
create policy "Users reach nothing of imports" on public.imported_sounds for all to anon, authenticated
  using (false) with check (false);

create table public.imported_files (
  -- Collation "C" compares bytes, so that the import can read the table in pages.
  checksum text collate "C" primary key,
  audio_checksum text not null,
  facts jsonb not null,
  version smallint not null default 1,
  outdated jsonb
);
comment on table public.imported_files is
  'Measurements of recordings that npm run import has decoded, so that each is decoded once. Do not edit them by hand.';
comment on column public.imported_files.checksum is 'SHA-256 hash of the recording, in hex.';
comment on column public.imported_files.audio_checksum is
  'SHA-256 hash of the audio without tags, in hex. Files of equal audio are one sound.';
comment on column public.imported_files.facts is 'Columns of public.sounds that were measured in the file.';
comment on column public.imported_files.version is
  'Version of the rules of the measurement. npm run import measures files of an older version again.';
comment on column public.imported_files.outdated is 'Facts of an older version, which sounds may still have.';

alter table public.imported_files enable row level security;
create policy "Users reach nothing of imports" on public.imported_files for all to anon, authenticated
  using (false) with check (false);

create table public.imports (
  source text primary key,
  started_at timestamptz,
  sheet boolean not null default false
);
comment on table public.imports is 'Folders that npm run import has read. Do not edit them by hand.';
comment on column public.imports.source is 'Name of the folder, or the value of --source.';
comment on column public.imports.started_at is 'Start of an unfinished import. Null after the import has finished.';
comment on column public.imports.sheet is 'True if the last import had a sounds.csv.';

alter table public.imports enable row level security;
create policy "Users reach nothing of imports" on public.imports for all to anon, authenticated
  using (false) with check (false);
grant select, insert, update on public.imported_sounds, public.imported_files, public.imports to service_role;

create function private.refresh_vocabulary() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  refresh materialized view concurrently private.vocabulary;
  return null;
end
$$;
create trigger imports_refresh_vocabulary after update of started_at on public.imports for each row
  when (old.started_at is not null and new.started_at is null) execute function private.refresh_vocabulary();

create function public.validate_sounds(sounds json) returns json language plpgsql set search_path = '' as $$
declare
  candidate record;
  given jsonb;
  refused json[] := '{}';
begin
  for candidate in select ordinality - 1 as index, value from json_array_elements(sounds) with ordinality loop
    begin
      -- Accepts a folder named like the bucket, as the table does once its files are uploaded.
      given := candidate.value::jsonb - 'category' || jsonb_build_object(
        'audio_path', regexp_replace(candidate.value ->> 'audio_path', '^(audio/)+', ''),
        'cover_image_path', regexp_replace(candidate.value ->> 'cover_image_path', '^(covers/)+', ''));
      execute format(
        'insert into public.sounds (%1$s) select %1$s from jsonb_populate_record(null::public.sounds, $1)',
        (select string_agg(quote_ident(key), ', ') from jsonb_object_keys(given) as key)
      ) using given;
      raise sqlstate 'SSOK0';
    exception
      when sqlstate 'SSOK0' then
        null;
      when integrity_constraint_violation or data_exception then
        refused := refused || json_build_object('index', candidate.index, 'message', sqlerrm);
    end;
  end loop;
  return to_json(refused);
end
$$;
comment on function public.validate_sounds is
  'Returns index and message of rows that the table sounds rejects. Ignores categories, because an import may create '
  'them.';

grant execute on function public.validate_sounds to service_role;

-- supabase/schemas/72_operations.sql

create function private.is_doctors_account(account uuid) returns boolean
language sql stable security definer set search_path = '' as $$
  select exists (select from auth.users where id = account and email like '%@doctor.invalid')
$$;
comment on function private.is_doctors_account is 'Returns true for an account that npm run doctor created.';

create function private.doctor_report() returns jsonb
language plpgsql stable security definer set search_path = '' as $$
declare
  migrations jsonb;
  upkeep jsonb;
begin
  if to_regclass('supabase_migrations.schema_migrations') is not null then
    execute $versions$
      select coalesce(jsonb_agg(version order by version), '[]') from supabase_migrations.schema_migrations $versions$
      into migrations;
  end if;
  if to_regclass('cron.job') is not null then
    execute $job$
      select jsonb_build_object('active', active, 'schedule', schedule, 'last_run', (
        select jsonb_build_object('status', status, 'message', return_message, 'start_time', start_time,
          'is_old', start_time < now() - interval '3 hours')
        from cron.job_run_details as run where run.jobid = job.jobid order by runid desc limit 1
      ))
      from cron.job where command = 'select private.upkeep()' $job$
      into upkeep;
  end if;
  return jsonb_build_object(
    'migrations', migrations,
    'upkeep', upkeep,
    'tables_without_row_security', (
      select coalesce(jsonb_agg(oid::regclass::text order by oid::regclass::text), '[]') from pg_class
      where relkind in ('r', 'p') and not relrowsecurity
        and (relnamespace in ('public'::regnamespace, 'private'::regnamespace)
          or oid in ('storage.objects'::regclass, 'storage.buckets'::regclass))
    ),
    'triggers', (
      select jsonb_object_agg(
        tgname, jsonb_build_object('table', tgrelid::regclass::text, 'is_on', tgenabled in ('O', 'A')))
      from pg_trigger join pg_proc on pg_proc.oid = tgfoid
      where not tgisinternal and pronamespace = 'private'::regnamespace
    ),
    'has_passkeys', to_regclass('auth.webauthn_credentials') is not null,
    'file_policies', (
      select coalesce(jsonb_agg(jsonb_build_object('name', polname, 'table', polrelid::regclass::text, 'rule',
          concat_ws(' ', pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid))) order by polname), '[]')
      from pg_policy where polpermissive
        and (polrelid = 'storage.objects'::regclass
          or polrelid = 'storage.buckets'::regclass and polcmd <> 'r') -- names of buckets are no secret
        and polroles && array[0, 'anon'::regrole, 'authenticated'::regrole]::oid[] -- 0 is everyone
    ),
    'roles_without_private', (
      select coalesce(jsonb_agg(role order by role), '[]')
      from unnest(array['anon', 'authenticated', 'service_role']) as role
      where not has_schema_privilege(role, 'private', 'usage')
    ),
    'allows_guests', private.allows_guests(),
    'has_accounts_without_customer', exists (
      select from auth.users as account
      where deleted_at is null and not exists (select from public.customers where customers.id = account.id)
    ),
    'trash', private.trash_in_words()
  );
end
$$;

create function public.doctor_report() returns jsonb
language sql stable set search_path = '' as $$ select private.doctor_report() $$;
comment on function public.doctor_report is
  'Returns the applied migrations, and the state of the private.upkeep job, row-level security, triggers, policies on '
  'files, the use of the schema private, customers and the trash. For npm run doctor only.';

create function private.doctor_session_addresses(account uuid) returns jsonb
language sql stable security definer set search_path = '' as $$
  select coalesce(jsonb_agg(host(ip) order by created_at), '[]')
    from auth.sessions where user_id = account and private.is_doctors_account(account)
$$;

create function public.doctor_session_addresses(account uuid) returns jsonb
language sql stable set search_path = '' as $$ select private.doctor_session_addresses(account) $$;
comment on function public.doctor_session_addresses is
  'Returns the sign-in IP addresses of a doctor account, oldest first. For npm run doctor only.';

create function private.doctor_issue_key(account uuid) returns text
language sql volatile security definer set search_path = '' as $$
  select issued.api_key
    from auth.users as owner
      cross join admin.create_api_key('npm run doctor', owner.email, now() + interval '10 minutes') as issued
    where owner.id = account and private.is_doctors_account(account)
$$;

create function public.doctor_issue_key(account uuid) returns text
language sql volatile set search_path = '' as $$ select private.doctor_issue_key(account) $$;
comment on function public.doctor_issue_key is
  'Issues a ten-minute API key for a doctor account; returns null for others. For npm run doctor only.';

create function private.doctor_revoke_keys(account uuid) returns bigint
language sql volatile security definer set search_path = '' as $$
  select count(*) from private.api_keys as key cross join admin.revoke_api_key(key.key_prefix)
    where key.owner_id = account and private.is_doctors_account(account)
$$;

create function public.doctor_revoke_keys(account uuid) returns bigint
language sql volatile set search_path = '' as $$ select private.doctor_revoke_keys(account) $$;
comment on function public.doctor_revoke_keys is
  'Revokes the API keys of a doctor account. Returns their number. For npm run doctor only.';

create function public.missing_functions(needed text[]) returns text[]
language sql stable set search_path = '' as $$
  select coalesce(array_agg(name order by name), '{}') from unnest(needed) as name
  where not exists (select from pg_proc where pronamespace = 'public'::regnamespace and proname = name)
$$;
comment on function public.missing_functions is
  'Returns which of these functions the schema public does not have. For /readyz only.';

create function public.replica_lag_seconds() returns double precision language sql stable set search_path = '' as $$
  select case
    when not pg_is_in_recovery() then null
    when pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() then 0 -- up to date, although the last change may be old
    else extract(epoch from clock_timestamp() - coalesce(pg_last_xact_replay_timestamp(), pg_postmaster_start_time()))
  end
$$;
comment on function public.replica_lag_seconds is 'Returns the lag of the read replica, or null at the primary.';

grant execute on function
  private.doctor_report, public.doctor_report,
  private.doctor_session_addresses, public.doctor_session_addresses,
  private.doctor_issue_key, public.doctor_issue_key,
  private.doctor_revoke_keys, public.doctor_revoke_keys,
  public.missing_functions, public.replica_lag_seconds
  to service_role;

-- supabase/schemas/80_private_tables.sql

do $$
declare
  private_table regclass;
begin
  for private_table in select oid from pg_class where relnamespace = 'private'::regnamespace and relkind = 'r' loop
    execute format('alter table %s enable row level security', private_table);
    execute format(
      'create policy "Nobody reaches this table" on %s for all to anon, authenticated, service_role '
      'using (false) with check (false)',
      private_table
    );
  end loop;
end
$$;

-- supabase/schemas/90_rows.sql

insert into storage.buckets (id, name, public, file_size_limit, allowed_mime_types)
values
  ('audio', 'audio', false, 50 * 1024 * 1024, array[
    'audio/mpeg', 'audio/mp4', 'audio/x-m4a', 'audio/aac', 'audio/ogg', 'audio/opus', 'audio/webm', 'audio/flac',
    'audio/x-flac', 'audio/wav', 'audio/x-wav', 'audio/vnd.wave'
  ]),
  ('covers', 'covers', true, 5 * 1024 * 1024, array['image/jpeg', 'image/png', 'image/webp', 'image/avif'])
on conflict (id) do update set (public, file_size_limit, allowed_mime_types) =
  (excluded.public, excluded.file_size_limit, excluded.allowed_mime_types);

insert into public.customers
  select customer.* from auth.users as account, private.customer_of(account) as customer
  on conflict (id) do nothing;
update auth.users
  set email_change = '', email_change_token_new = '', email_change_token_current = '',
    phone_change = '', phone_change_token = ''
  where email_change <> '' or phone_change <> '';
update auth.identities set identity_data = identity_data
  where provider <> 'email' and identity_data ? 'email' and identity_data ->> 'email_verified' is distinct from 'true';

insert into private.catalogue_feed default values;

do $$
begin
  if current_database() = 'postgres' and exists (select from pg_available_extensions where name = 'pg_cron') then
    create extension if not exists pg_cron with schema pg_catalog;
    grant usage on schema cron to postgres;
    grant all privileges on all tables in schema cron to postgres;
  end if;
  if to_regprocedure('cron.schedule(text, text, text)') is not null then
    perform cron.schedule('sounds-service upkeep', '7 * * * *', 'select private.upkeep()');
  end if;
exception
  when others then
    raise warning 'Supabase Cron is off (%). Switch it on under Integrations, and schedule private.upkeep() every '
      'hour.', sqlerrm;
end
$$;

-- Folds texts for searches ("Schöne Straße" to "schone strasse", "432Hz" to "432 hz"), in this order: compatible forms
-- ("ﬁ", "①"), Hebrew points, Arabic vowel marks, tatweel and nukta, letters and nasals that are written in several
-- ways, digits of all scripts, accents and case. Names the dictionary of unaccent, because the form without it is not
-- immutable.
create function private.fold_for_search(value text) returns text language plpgsql immutable parallel safe set search_path = '' as $$
declare
  letter constant text := '[a-z\u00C0-\u1FFF\u2C00-\u2FEF\u3040-\uFFDC]';
  digits constant text := '٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹߀߁߂߃߄߅߆߇߈߉०१२३४५६७८९০১২৩৪৫৬৭৮৯੦੧੨੩੪੫੬੭੮੯૦૧૨૩૪૫૬૭૮૯୦୧୨୩୪୫୬୭୮୯௦௧௨௩௪௫௬௭௮௯'
    '౦౧౨౩౪౫౬౭౮౯೦೧೨೩೪೫೬೭೮೯൦൧൨൩൪൫൬൭൮൯෦෧෨෩෪෫෬෭෮෯๐๑๒๓๔๕๖๗๘๙໐໑໒໓໔໕໖໗໘໙༠༡༢༣༤༥༦༧༨༩၀၁၂၃၄၅၆၇၈၉០១២៣៤៥៦៧៨៩᠐᠑᠒᠓᠔᠕᠖᠗᠘᠙';
begin
  if octet_length(value) > char_length(value) then -- only for texts with other characters than ASCII
    value := regexp_replace(normalize(value, nfkc),
      '[\u0591-\u05BD\u05BF\u05C1\u05C2\u05C4\u05C5\u05C7\u0640\u064B-\u065F\u0670\u093C\u09BC\u0A3C\u0ABC\u0B3C\u0CBC]', '', 'g');
    value := translate(value, U&'\0622\0623\0625\0671\0649\06CC\06A9\0901\266F\266D', U&'\0627\0627\0627\0627\064A\064A\0643\0902#b');
    value := case when value ~ ('[' || digits || ']') then translate(value, digits, repeat('0123456789', 19)) else value end;
    value := extensions.unaccent('extensions.unaccent', regexp_replace(value, '[ङञणनम]्(?=[क-म])', 'ं', 'g'));
  end if;
  return regexp_replace(lower(value), format('(?<=[0-9])(?=%1$s)|(?<=%1$s)(?=[0-9])', letter), ' ', 'g');
end
$$;

create function private.like_pattern(value text) returns text
language sql immutable parallel safe set search_path = '' as $$
  select '%' || regexp_replace(private.fold_for_search(value), '([\\%_])', '\\\1', 'g') || '%'
$$;
comment on function private.like_pattern is 'Returns the LIKE pattern for titles that contain a text.';

-- Splits a text into words of at most 50 characters. Lists the separators, because character classes depend on the
-- locale. Splits scripts without spaces, and Hangul, into pairs of letters. In SQL an import takes 1.5 times as long.
create function private.search_words(value text) returns text[] language plpgsql immutable parallel safe set search_path = '' as $$
declare
  letter constant text :=
    '[\u0E00-\u0EFF\u1000-\u109F\u1780-\u17FF\u3005-\u3007\u3040-\u30FA\u30FC-\u31FF\u3400-\u9FFF\uAC00-\uD7AF\U00020000-\U0003FFFF]';
begin
  value := private.fold_for_search(value);
  value := case when value ~ letter then regexp_replace(
    regexp_replace(value, letter || '+', ' \& ', 'g'), format('(?<=%1$s)%1$s(?=%1$s)', letter), '\& \&', 'g') else value end;
  return array(select left(word, 50) from unnest(regexp_split_to_array(value,
    '[\u0001-\u002F\u003A-\u0040\u005B-\u0060\u007B-\u00BF\u05BE\u060C\u061B\u061F\u06D4\u0964\u0965\u2000-\u206F\u3000-\u3004\u3008-\u303F\u30FB]+'
  )) as word where word <> '');
end
$$;

-- Builds the search index of a sound: all words, words of the title also with the prefix "=", words of tags with "#",
-- and the category with "/". Uses prefixes, because Postgres ignores weights of words without positions.
create function private.search_vector(title text, category text, tags text[], description text) returns tsvector
language plpgsql immutable parallel safe set search_path = '' as $$
begin
  return array_to_tsvector(array(
    select unnest(array[word, mark || word])
    from (values ('=', title), ('#', array_to_string(tags, ' ')), ('', description)) as part (mark, value),
      unnest(private.search_words(value)) as word
    union all select '/' || category where category is not null
  ));
end
$$;

grant execute on function private.fold_for_search, private.search_words, private.search_vector to service_role;

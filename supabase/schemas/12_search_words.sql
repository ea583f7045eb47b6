-- Words of texts, as searches compare them. packages/client/src/search-words.ts does the same.

-- Folds letters that are written in several ways. Names the dictionary of unaccent, because the form without it is not
-- immutable.
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

-- Lists the separators, because character classes depend on the locale. Uses PL/pgSQL, because with a function in SQL
-- an import takes 1.5 times as long.
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

-- Marks words by prefixes such as "=", because Postgres ignores weights of words without positions.
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

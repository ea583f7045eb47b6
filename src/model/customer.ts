import { z } from 'zod';
import { body, plainText, text } from './fields.ts';
import { dateTime } from './sound.ts';

const fullName = 'Ada Lovelace';
const avatar = 'https://example.com/ada.jpg';
const optionalText = (example: string, description?: string) =>
  z.nullable(z.string()).meta({ examples: [example], ...(description !== undefined && { description }) });

export const Profile = z
  .object({
    id: z.guid().meta({ examples: ['7d9f1a52-4f0e-4b43-9a5e-0d9d3c1b2a10'] }),
    email: optionalText('ada@example.com'),
    full_name: optionalText(fullName),
    avatar_url: optionalText(avatar),
  })
  .meta({ id: 'Profile' });

export const Customer = Profile.extend({
  phone: optionalText('+491701234567'),
  provider: optionalText('email'),
  source: z
    .enum(['email', 'google', 'apple'])
    .nullable()
    .meta({ id: 'CustomerSource', description: 'The way in which the account was created.' }),
  locale: optionalText('de-AT', 'BCP 47 locale.'),
  country: optionalText('AT', 'ISO 3166-1 alpha-2 code.'),
  marketing_opt_in: z.boolean().meta({ examples: [false] }),
  is_active: z.boolean().meta({ examples: [true] }),
  last_seen_at: dateTime.nullable(),
  created_at: dateTime,
  updated_at: dateTime,
  premium_until: dateTime.nullable().meta({
    description: 'End of premium. Null without premium, `9999-12-31T23:59:59.999Z` if it does not end.',
  }),
  marketing_opt_in_at: dateTime.nullable().meta({
    description: 'When the customer agreed to `marketing_opt_in`. Null without consent, or if the time is unknown.',
  }),
}).meta({ id: 'Customer' });

// A bracketed zero is dialled within the country only, but in Italy it belongs to the number.
const phone = plainText(50)
  .transform((value) =>
    value
      .normalize('NFKC')
      .replace(/(?<!^\+39\s*)\(\s*0\s*\)/, '')
      .replace(/[\s\p{Pd}\u2212()/.·]/gu, ''),
  )
  .pipe(z.string().regex(/^\+[1-9][0-9]{6,14}$/, 'must be an international number such as +49 170 1234567'))
  .meta({ override: { maxLength: 50, pattern: String.raw`^[^+\uff0bA-Za-z\u0000]*[+\uff0b][^A-Za-z\u0000]{7,}$` } });

/** Matches a BCP 47 language tag with any separator: language, script, region, variants, extensions, private use. */
const languageTag =
  '[A-Za-z]{2,3}([-_][A-Za-z]{4})?([-_]([A-Za-z]{2}|[0-9]{3}))?([-_]([A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))*' +
  '([-_][0-9A-WY-Za-wy-z]([-_][A-Za-z0-9]{2,8})+)*([-_][Xx]([-_][A-Za-z0-9]{1,8})+)?([.@].*)?';
const printedByJava = '[A-Za-z]{2,3}_([A-Za-z]{2}|[0-9]{3})?_([A-Za-z0-9_]*_)?#[A-Za-z0-9_-]+';

/** Matches a locale that Java prints, with its script and extensions last: zh_CN_#Hans, th_TH_TH_#u-nu-thai. */
const javaLocale = /^([a-z]{2,3})_([a-z]{2}|\d{3})?_(?:\w*_)?#([a-z]{4}(?![a-z0-9-]))?_?([a-z0-9-]*)$/i;

/** Converts the locales that phones print, such as zh-Hant_HK, th_TH@calendar=buddhist and en_US.UTF-8. */
function asLanguageTag(value: string): string {
  const [, language, region, script, extensions] = javaLocale.exec(value) ?? [];
  if (language) return [language, script, region, extensions].filter(Boolean).join('-');
  return value.replace(/[.@].*$/s, '').replaceAll('_', '-');
}

const locale = text(35)
  .transform((value, check) => {
    try {
      return Intl.getCanonicalLocales(asLanguageTag(value))[0] as string;
    } catch {
      check.addIssue('must be a BCP 47 locale such as de or pt-BR');
      return z.NEVER;
    }
  })
  .meta({ override: { maxLength: 35, pattern: `^\\s*(${languageTag}|${printedByJava})\\s*$` } });

/** Assigned codes of ISO 3166-1 alpha-2, and XK, which phones in Kosovo send. The database has the same list. */
export const countryCodes: ReadonlySet<string> = new Set(
  (
    'AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ ' +
    'CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO ' +
    'FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE ' +
    'JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO ' +
    'MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW ' +
    'PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM ' +
    'TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW'
  ).split(' '),
);

// Checks the letters first, because upper case turns ß into SS.
const country = text(50)
  .refine(
    (value) => /^[a-z]{2}$/i.test(value) && countryCodes.has(value.toUpperCase()),
    'must be an ISO 3166-1 alpha-2 code such as DE',
  )
  .transform((value) => value.toUpperCase())
  .meta({ override: { pattern: '^\\s*[A-Za-z]{2}\\s*$', maxLength: 50 } });

/** Same pattern as private.is_https_address in the database. URL parsers would repair wrong addresses. */
export const plainHttpsUrl = new RegExp(
  '^[Hh][Tt][Tt][Pp][Ss]://' +
    String.raw`([^\u0001-,/:-@[-^\u0060{-\u00A0\u1680\u2000-\u200F\u2028-\u202F\u205F-\u206F\u3000\uFEFF]+|\[[0-9A-Fa-f:.]+])` +
    '(:([0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?' +
    String.raw`([/?#][^\u0001-\u0020\\\u007F-\u00A0\u1680\u2000-\u200F\u2028-\u202F\u205F-\u206F\u3000\uFEFF]*)?$`,
);

const avatarUrl = text(2048)
  .refine((value) => plainHttpsUrl.test(value), 'must be an https address without user name or spaces')
  .meta({ override: { maxLength: 2048, pattern: '^\\s*[Hh][Tt][Tt][Pp][Ss]:[\\x2f]{2}\\S+\\s*$' } });

/** Fields that a customer may change. Rejects others, because a client could assume that they were changed. */
export const CustomerChanges = body({
  full_name: text(200)
    .nullable()
    .meta({ examples: [fullName] }),
  avatar_url: avatarUrl.nullable().meta({
    format: 'uri',
    description: 'An https address; it is stored, never fetched.',
    examples: [avatar],
  }),
  phone: phone.nullable().meta({
    description: 'An international number; spaces, hyphens, slashes, brackets, dots and a bracketed (0) are removed.',
    examples: ['+49 170 1234567'],
  }),
  locale: locale.nullable().meta({ description: 'BCP 47 locale, stored in canonical form.', examples: ['de-AT'] }),
  country: country.nullable().meta({ description: 'ISO 3166-1 alpha-2 code, stored in upper case.', examples: ['AT'] }),
  marketing_opt_in: z.boolean('must be true or false').meta({ examples: [true] }),
})
  .strict()
  .partial()
  // Contains no name, because the reference page sends this example unchanged.
  .meta({ id: 'UpdateCustomerRequest', examples: [{ locale: 'de-AT', country: 'AT' }] });

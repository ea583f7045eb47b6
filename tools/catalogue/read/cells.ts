import { posix } from 'node:path';
import { z } from 'zod';
import { oneLine } from '../shared/text.ts';

// Reads the cells of sheets, and writes values so that they can be read back unchanged.

/** Cell that clears its field. */
export const CLEAR = '-';

/**
 * Returns the schema of a number.
 * @param hasDecimalCommas true if a point before three digits may separate thousands
 */
export const numberIn = (hasDecimalCommas: boolean) =>
  z
    .string()
    .refine((cell) => !/^[+-]?\d{1,3}(,\d{3})+$/.test(cell), AMBIGUOUS)
    .refine((cell) => !(hasDecimalCommas && /^[+-]?\d{1,3}(\.\d{3})+$/.test(cell)), AMBIGUOUS)
    .refine((cell) => /^[+-]?(\d+([.,]\d*)?|[.,]\d+)(e[+-]?\d+)?$/i.test(cell), 'is not a number')
    .transform((cell) => Number(cell.replace(',', '.')));

const AMBIGUOUS = {
  error: 'is ambiguous, because its last three digits may be decimals or thousands; write 1000 or 1.0',
  abort: true,
};

/** TRUE and FALSE in the languages in which Excel translates them. */
const TRUTHS = {
  truthy:
    'true 1 yes on y enabled wahr vrai verdadero vero verdadeiro waar sant sand sann tosi prawda pravda igaz истина істина ' +
    'doğru adevărat ıstına istina tačno točno tõene patiess tiesa cert egia αληθής αληθησ benar',
  falsy:
    'false 0 no off n disabled falsch faux falso onwaar falskt falsk usann epätosi fałsz nepravda hamis ложь хибність хиба ' +
    'yanlış yanliş fals laž netačno netočno väär aplams netiesa faltsua ψευδής ψευδησ лъжа salah',
};
const words = (text: string) => text.normalize('NFC').split(' ');

export const truth = z
  .string()
  .transform((cell) => cell.normalize('NFC').toLowerCase().replace('i̇', 'i'))
  .pipe(
    z.stringbool({
      truthy: words(TRUTHS.truthy),
      falsy: words(TRUTHS.falsy),
      error: 'is neither true nor false; write TRUE or FALSE',
    }),
  );

/** Unchanged text, with white space and line breaks. `\-` is a hyphen. */
export const text = z.string().transform((cell) => cell.replace(/^\\(\\*-)$/, '$1'));

export const name = text
  .refine((cell) => !/[\r\n]/.test(cell), 'has a line break; delete it, or check the quotes before it')
  .transform(oneLine)
  .refine((cell) => cell.replace(INVISIBLE, '') !== '', 'has no visible character');

/** Invisible characters, as in the database function private.is_proper_name. */
const INVISIBLE = /\s|\p{Cf}|\u034f|[\u115f\u1160\u3164\uffa0]/gu;

export const moment = z.iso
  .datetime({ offset: true, error: 'is not a date-time such as 2026-06-23T09:00:00.000Z' })
  .transform((text) => new Date(text).toISOString());

/** Keys of sounds, separated by commas, or as JSON. */
export const keys = z.string().transform(
  (cell) =>
    jsonList(cell) ??
    cell
      .split(',')
      .map((key) => key.trim())
      .filter(Boolean),
);

/** Tags with common separators, without duplicates; or a JSON array, which stays unchanged. */
export const tags = z
  .string()
  .transform((cell) => {
    const json = jsonList(cell);
    if (json) return json;
    const inner = cell.replace(/^\{(.*)\}$/s, '$1').trim();
    const hashtags = /^(#[^\s#,;]+\s*)+$/u.test(inner) ? inner.split('#') : undefined;
    const items = (hashtags ?? inner.match(ITEMS) ?? []).map((item) => oneLine(item.trim().replace(WRAPPED, '$2$3')));
    const unique = new Map(items.toReversed().map((item) => [item.toLowerCase(), item]));
    return [...unique.values()].toReversed().filter(Boolean);
  })
  .refine((items) => !items.some((item) => /\0|\p{Cs}/u.test(item)), 'contains a character that cannot be stored');

/** Matches items in quotes, and items between separators of Latin, Arabic, Chinese and Japanese text. */
const ITEMS = /"[^"]*"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|[^,;|\r\n\t，、；،؛]+/gu;
const WRAPPED = /^(["'“„«])(.*)["'”“»]$|^#(\S+)$/su;

function jsonList(cell: string): string[] | undefined {
  if (!cell.startsWith('[')) return undefined;
  try {
    return z.array(z.string()).parse(JSON.parse(cell));
  } catch {
    return undefined;
  }
}

/** Returns a file name with `/` instead of the backslashes of Windows, and in NFC. */
export function nameInFolder(cell: string): string {
  return posix.normalize(cell.replaceAll('\\', '/')).normalize('NFC');
}

/** Writes a value as a cell. Null becomes `CLEAR`. */
export function cellOf(value: string | number | boolean | string[] | null): string {
  if (value === null) return CLEAR;
  if (!Array.isArray(value)) return String(value).replace(/^(\\*-)$/, '\\$1');
  const plain = value.join(', ');
  const isSame = plain !== CLEAR && JSON.stringify(tags.safeParse(plain).data) === JSON.stringify(value);
  return isSame && value.length > 0 ? plain : JSON.stringify(value);
}

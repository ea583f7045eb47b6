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
    .transform((cell) => Number(cell.replace(',', '.')))
    .refine(Number.isFinite, 'is too large');

const AMBIGUOUS = {
  error: 'is ambiguous, because its last three digits may be decimals or thousands; write 1000 or 1.0',
  abort: true,
};

/** Marks of checkboxes, and TRUE and FALSE in common languages of Excel. */
const TRUE =
  'true t 1 yes on y enabled checked x ✓ ✔ ☑ ✅ wahr vrai verdadero vero verdadeiro waar sant sann sand tosi prawda ' +
  'pravda igaz истина doğru';
const FALSE =
  'false f 0 no off n disabled unchecked ☐ ✗ ✘ ❌ falsch faux falso onwaar falskt usann falsk epätosi fałsz nepravda ' +
  'hamis ложь yanlış yanliş';
const NEITHER = 'is neither true nor false; write TRUE or FALSE';
export const truth = z
  .string()
  // Remove the variation selector of colored symbols.
  .transform((cell) => cell.normalize('NFC').toLowerCase().replace('\ufe0f', ''))
  .pipe(z.stringbool({ truthy: TRUE.split(' '), falsy: FALSE.split(' '), error: NEITHER }));

/** Returns whether a cell is the result of a failed formula, in any language, or of a column that is too narrow. */
export const isErrorValue = (cell: string) =>
  /^(#([¡¿]?[\p{Lu}/0]{2,}[!?]|\p{Lu}\/\p{Lu}|NV|GETTING_DATA|#+)|Err:\d{3})$/u.test(cell);

const isSpecial = (cell: string) => cell === CLEAR || isErrorValue(cell);
const isEscaped = (cell: string) => isSpecial(cell.replace(/^\\+/, ''));
const unescaped = (cell: string) => (cell.startsWith('\\') && isEscaped(cell) ? cell.slice(1) : cell);

const isStorable = (text: string) => !/\0|\p{Cs}/u.test(text);
const UNSTORABLE = 'contains a character that cannot be stored';

/** Unchanged text, with white space and line breaks. `\-` is a hyphen, and `\#N/A` is no error value. */
export const text = z.string().transform(unescaped);

/** A name on one line; or a JSON string, which stays unchanged, if that cannot be written otherwise. */
export const name = z
  .string()
  .refine((cell) => !/[\r\n]/.test(cell), 'has a line break; delete it, or check the quotes before it')
  .transform(nameIn)
  .refine((cell) => cell.replace(INVISIBLE, '') !== '', 'has no visible character')
  .refine(isStorable, UNSTORABLE);

function nameIn(cell: string): string {
  const exact = cell.startsWith('"') ? parseJson(cell, z.string()) : undefined;
  return exact !== undefined && nameIn(exact) !== exact ? exact : oneLine(unescaped(cell));
}

/** Invisible characters, as in the database function private.is_proper_name. */
const INVISIBLE = /\s|\p{Cf}|\u034f|[\u115f\u1160\u3164\uffa0]/gu;

/** A date-time in ISO 8601 or the form of Postgres, as in 2026-06-23 09:00:00+00. */
export const moment = z
  .string()
  .transform((cell) => cell.replace(/^(\S{10}) /, '$1T').replace(/(:\S*[+-]\d\d)(?::?(\d\d))?$/, offsetOf))
  .pipe(z.iso.datetime({ offset: true, error: 'is not a date-time such as 2026-06-23T09:00:00.000Z' }))
  .transform((text) => new Date(text).toISOString());
const offsetOf = (_: string, hours: string, minutes = '00') => `${hours}:${minutes}`;

/** Keys of sounds, separated by commas, or as JSON. */
export const keys = z.string().transform((cell) => listIn(cell) ?? cell.split(/[\s,]*,[\s,]*/).filter(Boolean));

/** Tags with common separators, without duplicates; or a JSON array, which stays unchanged. */
export const tags = z
  .string()
  .transform((cell) => {
    const json = listIn(cell);
    if (json) return json;
    const inner = cell.replace(/^\{(.*)\}$/s, '$1').trim();
    const hashtags = /^(#[^\s#,;]+\s*)+$/u.test(inner) ? inner.split('#') : undefined;
    const items = (hashtags ?? inner.match(ITEMS) ?? []).map((item) => oneLine(item.trim().replace(WRAPPED, '$2$3')));
    const unique = new Map(items.toReversed().map((item) => [item.toLowerCase().normalize('NFC'), item]));
    return [...unique.values()].toReversed().filter(Boolean);
  })
  .refine((items) => items.every(isStorable), UNSTORABLE);

/** Matches items in quotes, and items between separators of Latin, Arabic, Chinese and Japanese text. */
const ITEMS = /"[^"]*"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|[^,;|\r\n\t，、；،؛]+/gu;
const WRAPPED = /^(["'“„«])(.*)["'”“»]$|^#(\S+)$/su;

const listIn = (cell: string) => (cell.startsWith('[') ? parseJson(cell, z.array(z.string())) : undefined);

function parseJson<T>(cell: string, schema: z.ZodType<T>): T | undefined {
  try {
    return schema.parse(JSON.parse(cell));
  } catch {
    return undefined;
  }
}

/** Returns a file name with `/` instead of the backslashes of Windows, and in NFC. */
export function nameInFolder(cell: string): string {
  return posix.normalize(cell.replaceAll('\\', '/')).normalize('NFC');
}

/** Writes a value as a cell. Null becomes `CLEAR`. @param isName true for a value of the schema `name` */
export function cellOf(value: unknown, isName = false): string {
  if (value === null || value === undefined) return CLEAR;
  if (!Array.isArray(value)) {
    const cell = isEscaped(String(value)) ? `\\${value}` : String(value);
    return isName && name.safeParse(cell).data !== value ? JSON.stringify(value) : cell;
  }
  const plain = value.join(', ');
  const isSame = !isSpecial(plain) && JSON.stringify(tags.safeParse(plain).data) === JSON.stringify(value);
  return isSame && value.length > 0 ? plain : JSON.stringify(value);
}

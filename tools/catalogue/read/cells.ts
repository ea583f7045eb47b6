import { posix } from 'node:path';
import { z } from 'zod';
import { oneLine } from '../shared/text.ts';

// Reads the cells of sheets, and writes values so that they can be read back unchanged.

/** Cell that clears its field. */
export const clearCell = '-';

/** Sign that separates the decimals of a sheet. A point is accepted as well. */
export type DecimalMark = '.' | ',';

/** Returns the schema of a number in a sheet with this decimal mark. */
export function numberIn(mark: DecimalMark) {
  // 1,000 and, in countries with decimal commas, 1.000 may be 1 or 1000.
  const ambiguous = mark === ',' ? /^[+-]?\d{1,3}([.,]\d{3})+$/ : /^[+-]?\d{1,3}(,\d{3})+$/;
  return z
    .string()
    .refine((cell) => !ambiguous.test(cell), {
      error: 'is ambiguous, because its last three digits may be decimals or thousands; write 1000 or 1.0',
      abort: true,
    })
    .transform((cell) => cell.replace(mark, '.'))
    .refine((cell) => /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(cell), 'is not a number')
    .transform(Number)
    .refine(Number.isFinite, 'is too large');
}

/** Returns the decimal mark of a sheet. Spreadsheets that write decimal commas separate cells by semicolons. */
export function decimalMarkOf(delimiter: string, cells: string[]): DecimalMark {
  const hasCommas = delimiter === ';' || cells.some((cell) => /^[+-]?\d+,(\d{1,2}|\d{4,})$/.test(cell));
  return hasCommas ? ',' : '.';
}

/** Words of forms and spreadsheets in English, and marks of checkboxes. */
const trueWords = 'true t yes y 1 on checked x ✓ ✔ ☑ ✅';
const falseWords = 'false f no n 0 off unchecked ☐ ✗ ✘ ❌';
export const truth = z
  .string()
  // Remove the variation selector of colored symbols.
  .transform((cell) => cell.replace('\ufe0f', ''))
  .pipe(
    z.stringbool({
      truthy: trueWords.split(' '),
      falsy: falseWords.split(' '),
      error: 'is neither true nor false; write TRUE or FALSE',
    }),
  );

/** Tells whether a cell is the result of a failed formula, in any language, or of a column that is too narrow. */
export const isErrorValue = (cell: string) =>
  /^(#([¡¿]?[\p{Lu}/0]{2,}[!?]|\p{Lu}\/\p{Lu}|NV|GETTING_DATA|#+)|Err:\d{3})$/u.test(cell);

/** Tells whether a spreadsheet would calculate a cell instead of showing it. */
const isFormula = (cell: string) => /^[=+@-]/.test(cell);

const isSpecial = (cell: string) => isFormula(cell) || isErrorValue(cell);
const isEscaped = (cell: string) => isSpecial(cell.replace(/^\\+/, ''));
const unescaped = (cell: string) => (cell.startsWith('\\') && isEscaped(cell) ? cell.slice(1) : cell);

const isStorable = (text: string) => !/\0|\p{Cs}/u.test(text);
const unstorable = 'contains a character that cannot be stored';

/** Unchanged text, with white space and line breaks. A backslash before `-`, `=A1` or `#N/A` makes it plain text. */
export const text = z.string().transform(unescaped);

/** A name on one line. A JSON string stays unchanged if a plain cell could not contain the name. */
export const name = z
  .string()
  .refine((cell) => !/[\r\n]/.test(cell), 'has a line break; delete it, or check the quotes before it')
  .transform(nameIn)
  .refine((cell) => cell.replace(invisible, '') !== '', 'has no visible character')
  .refine(isStorable, unstorable);

function nameIn(cell: string): string {
  const exact = cell.startsWith('"') ? parseJson(cell, z.string()) : undefined;
  return exact !== undefined && nameIn(exact) !== exact ? exact : oneLine(unescaped(cell));
}

/** Invisible characters, as in the database function private.is_proper_name. */
const invisible = /\s|\p{Cf}|\u034f|[\u115f\u1160\u3164\uffa0]/gu;

/** A date-time in ISO 8601 or the form of Postgres, as in 2026-06-23 09:00:00+00. */
export const moment = z
  .string()
  .transform((cell) => cell.replace(/^(\S{10}) /, '$1T').replace(/(:\S*[+-]\d\d)(?::?(\d\d))?$/, offsetOf))
  .pipe(z.iso.datetime({ offset: true, error: 'is not a date-time such as 2026-06-23T09:00:00.000Z' }))
  .transform((text) => new Date(text).toISOString());
const offsetOf = (_: string, hours: string, minutes = '00') => `${hours}:${minutes}`;

/** Keys of sounds, separated by commas, or as JSON. */
export const keys = z.string().transform((cell) => listIn(cell) ?? cell.split(/[\s,]*,[\s,]*/).filter(Boolean));

/** Tags with common separators, without duplicates. A JSON array stays unchanged. */
export const tags = z
  .string()
  .transform((cell) => {
    const json = listIn(cell);
    if (json) return json;
    const inner = cell.replace(/^\{(.*)\}$/s, '$1').trim();
    const hashtags = /^(#[^\s#,;]+\s*)+$/u.test(inner) ? inner.split('#') : undefined;
    const items = (hashtags ?? inner.match(listItems) ?? []).map((item) =>
      oneLine(item.trim().replace(wrapped, '$2$3')),
    );
    const unique = new Map(items.toReversed().map((item) => [item.toLowerCase().normalize('NFC'), item]));
    return [...unique.values()].toReversed().filter(Boolean);
  })
  .refine((items) => items.every(isStorable), unstorable);

/** Matches items in quotes, and items between separators of Latin, Arabic, Chinese and Japanese text. */
const listItems = /"[^"]*"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|[^,;|\r\n\t，、；،؛]+/gu;
const wrapped = /^(["'“„«])(.*)["'”“»]$|^#(\S+)$/su;

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

/** Writes a value as a cell. Null becomes `clearCell`. @param isName true for a value of the schema `name` */
export function cellOf(value: unknown, isName = false): string {
  if (value === null || value === undefined) return clearCell;
  if (typeof value === 'number') return String(value);
  if (!Array.isArray(value)) {
    const cell = isEscaped(String(value)) ? `\\${value}` : String(value);
    return isName && name.safeParse(cell).data !== value ? JSON.stringify(value) : cell;
  }
  const plain = value.join(', ');
  const isSame = !isSpecial(plain) && JSON.stringify(tags.safeParse(plain).data) === JSON.stringify(value);
  return isSame && value.length > 0 ? plain : JSON.stringify(value);
}

import { posix } from 'node:path';
import { z } from 'zod';

// How the cells of sheets are read, and written so that they are read again as the same.

/** In a cell of its own, it clears the field. */
export const CLEAR = '-';
const LITERAL_CLEAR = '\\-';

// A comma before three digits may stand for thousands, so that is rejected.
export const number = z
  .string()
  .transform((text) => Number(text.replace(/,(?!\d{3}$)/, '.')))
  .refine(Number.isFinite, 'is not a number');
export const truth = z.stringbool({ error: 'is neither true nor false' });
/** As it stands there, spaces and lines included. */
export const text = z.string().transform((cell) => (cell === LITERAL_CLEAR ? CLEAR : cell));
// The database composes titles, and what it has is compared with this.
export const name = text.transform((cell) => cell.normalize('NFC').trim());
export const moment = z.iso
  .datetime({ offset: true, error: 'is not a date-time such as 2026-06-23T09:00:00.000Z' })
  .transform((text) => new Date(text).toISOString());
export const list = z.string().transform((cell) => {
  if (cell.startsWith('[')) return listOfJson(cell);
  const items = cell.replace(/^\{(.*)\}$/, '$1').split(',');
  return items.map((item) => item.trim()).filter(Boolean);
});

function listOfJson(cell: string): string[] {
  try {
    return z.array(z.string()).parse(JSON.parse(cell));
  } catch {
    return cell.split(',').map((item) => item.trim());
  }
}

/** macOS writes "é" as two characters, Windows a folder with a backslash. */
export function nameInFolder(cell: string): string {
  return posix.normalize(cell.replaceAll('\\', '/')).normalize('NFC');
}

/** What a value is in a cell; nothing is one that clears the field. */
export function cellOf(value: string | number | boolean | string[] | null): string {
  if (value === null) return CLEAR;
  if (value === CLEAR) return LITERAL_CLEAR;
  if (!Array.isArray(value)) return String(value);
  const isPlain = value.length > 0 && value.every((item) => item === item.trim() && !/[,{}[\]]/.test(item));
  return isPlain ? value.join(', ') : JSON.stringify(value);
}

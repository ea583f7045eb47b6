import { DateTime } from 'luxon';
import { z } from 'zod';
import { exactText } from './fields.ts';

const wrong = 'must be the next_cursor of an earlier page';

/** Of seconds: hh:mm:ss or hhmmss, with a point or a comma. */
const fractionOfSeconds = /(?<=T\d\d(?::\d\d:|\d\d)\d\d)[.,]\d+/;

/** A whole date in any form, a time, and an offset that exists: luxon takes less, and counts on beyond 23:59. */
const wholeDateTime =
  /^\d{4}(-\d\d-\d\d|\d{4}|-?W\d\d-?\d|-?\d{3})T\d[\d:]*(Z|[+-]([01]\d|2[0-3])(:?[0-5]\d)?)?$/;

/**
 * The moment that an ISO 8601 date-time of any spelling names, in milliseconds; NaN when it is none. The fraction is rounded
 * to the millisecond, since a client may have carried it through a type of another precision.
 */
export function momentOf(text: string): number {
  const spelling = text
    .toUpperCase()
    .replace(/^([\d-]+) /, '$1T')
    .replace(/ (?=\d\d(:?\d\d)?$)/, '+'); // a "+" that was not percent-encoded arrives as a space
  const fraction = fractionOfSeconds.exec(spelling)?.[0] ?? '';
  const wholeSeconds = spelling.replace(fraction, '');
  if (!wholeDateTime.test(wholeSeconds)) return Number.NaN;
  return (
    DateTime.fromISO(wholeSeconds, { zone: 'utc' }).toMillis() +
    Math.round(Number(`0${fraction.replace(',', '.')}`) * 1000)
  );
}

const earliest = Date.UTC(1970, 0);
const latest = Date.UTC(10_000, 0) - 1;

/**
 * The cursor of GET /sounds: an ISO 8601 date-time of the years 1970 to 9999, without an offset in UTC. One that was cut to the
 * second finds its sound in the database: `private.list_position`.
 * Resolves to the form YYYY-MM-DDTHH:MM:SS.mmmZ.
 */
export const cursor = z.string({ error: 'must be given once' }).transform((value, check) => {
  const moment = momentOf(value);
  if (moment >= earliest && moment <= latest) return new Date(moment).toISOString();
  check.addIssue(Number.isNaN(moment) ? wrong : 'must lie between the years 1970 and 9999');
  return z.NEVER;
});

/** The orders of GET /sounds besides its own. */
export const soundOrder = z
  .enum(['newest', 'title', 'popular'], 'must be newest, title or popular, given once')
  .meta({ id: 'SoundOrder' });

/** The cursor of GET /sounds: a date-time, or what the database has written for another order, which it reads itself. */
export const soundCursor = z
  .string({ error: 'must be given once' })
  .transform((value, check) => {
    if (/^[0-9a-f]{20,4000}$/.test(value)) return value;
    const { data, error } = cursor.safeParse(value);
    if (data !== undefined) return data;
    check.addIssue(error?.issues[0]?.message ?? wrong);
    return z.NEVER;
  })
  // What a JSON Schema can say of it.
  .meta({ override: { minLength: 1, maxLength: 4000, pattern: '^[\\w:.,+ -]+$' } });

/** Plain text to generated clients: those that know a format parse it, and send back another spelling. */
export const nextCursor = z.string().meta({
  description:
    'Send it as `cursor` to get the next page; null on the last one. An ISO 8601 date-time, with `sort` any text: keep it as it is, it ' +
    'is a position and not a time to calculate with.',
  pattern: '^[A-Za-z0-9_:.-]+$',
  examples: ['2026-06-23T09:30:00.000Z'],
});

type Position = { last_played_at: string; sound_id: string };

/**
 * The cursor of GET /history: the position of an entry, its moment and its sound, since moments may be shared. It is opaque,
 * so that no client makes one.
 */
export const historyCursor = exactText(200).transform((value, check): Position => {
  const parts = Buffer.from(value, 'base64url').toString().split(' ');
  const { data } = z.tuple([cursor, z.guid()]).safeParse(parts);
  if (data !== undefined) return { last_played_at: data[0], sound_id: data[1] };
  check.addIssue(wrong);
  return z.NEVER;
});

/** @returns what `historyCursor` reads */
export const historyCursorAt = ({ last_played_at, sound_id }: Position) =>
  Buffer.from(`${last_played_at} ${sound_id}`).toString('base64url');

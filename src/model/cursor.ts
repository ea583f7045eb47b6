import { z } from 'zod';
import { exactText } from './fields.ts';

const wrong = 'must be the next_cursor of an earlier page';

/** Matches RFC 3339 date-times, variants that clients print, and a "+" that was decoded as a space. */
const dateTimeForm = /^(\d{4}-\d\d-(\d\d))[T ](\d\d:\d\d(?::\d\d)?)(?:[.,](\d+))?(?:(Z)|([+ -])(\d\d)(?::?(\d\d))?)$/i;

/** Returns Unix milliseconds or NaN. Rounds the fraction, because a client may have parsed it with less precision. */
function momentOf(text: string): number {
  const [, date = '', day, time, fraction = '0', utc, sign, hours, minutes = '00'] = dateTimeForm.exec(text) ?? [];
  if (new Date(date).getUTCDate() !== Number(day)) return Number.NaN; // Date reads February 30 as March 1
  const offset = utc ? 'Z' : `${sign === '-' ? '-' : '+'}${hours}:${minutes}`;
  return Date.parse(`${date}T${time}${offset}`) + Math.round(Number(`0.${fraction}`) * 1000);
}

const earliest = Date.UTC(1970, 0);
const latest = Date.UTC(10_000, 0) - 1;

/** Date-time of the years 1970 to 9999, in UTC if it has no offset. Resolves to the form YYYY-MM-DDTHH:MM:SS.mmmZ. */
export const cursor = z.string({ error: 'must be given once' }).transform((value, check) => {
  const withOffset = momentOf(value);
  const moment = Number.isNaN(withOffset) ? momentOf(`${value}Z`) : withOffset;
  if (moment >= earliest && moment <= latest) return new Date(moment).toISOString();
  check.addIssue(Number.isNaN(moment) ? wrong : 'must lie between the years 1970 and 9999');
  return z.NEVER;
});

export const soundOrder = z
  .enum(['newest', 'title', 'popular'], 'must be newest, title or popular, given once')
  .meta({ id: 'SoundOrder' });

/** Cursor of GET /sounds: a date-time, or with `sort` a text that the database writes and reads. */
export const soundCursor = z
  .string({ error: 'must be given once' })
  .transform((value, check) => {
    if (/^[0-9a-f]{20,4000}$/.test(value)) return value;
    const { data, error } = cursor.safeParse(value);
    if (data !== undefined) return data;
    check.addIssue(error?.issues[0]?.message ?? wrong);
    return z.NEVER;
  })
  // JSON Schema can express only a part of the rule.
  .meta({ override: { minLength: 1, maxLength: 4000, pattern: '^[\\w:.,+ -]+$' } });

/** Has no format, because generated clients would parse a date-time and send it back in another form. */
export const nextCursor = z.string().meta({
  description:
    'Send it unchanged as `cursor` to get the next page; null on the last one. Without `sort` it is an RFC 3339 ' +
    'date-time, but do not calculate with it, because it is a position.',
  pattern: '^[A-Za-z0-9_:.-]+$',
  examples: ['2026-06-23T09:30:00.000Z'],
});

interface Position {
  last_played_at: string;
  sound_id: string;
}

/** Cursor of GET /history: time and sound, because times may be equal. Encoded, so that clients do not make one. */
export const historyCursor = exactText(200).transform((value, check): Position => {
  const parts = Buffer.from(value, 'base64url').toString().split(' ');
  const { data } = z.tuple([cursor, z.guid()]).safeParse(parts);
  if (data !== undefined) return { last_played_at: data[0], sound_id: data[1] };
  check.addIssue(wrong);
  return z.NEVER;
});

export const historyCursorAt = ({ last_played_at, sound_id }: Position) =>
  Buffer.from(`${last_played_at} ${sound_id}`).toString('base64url');

/** Bounds of reported times, because Postgres has no year 0 and reads years of four digits. */
const earliestReport = Date.parse('0001-01-01T00:00:00.000Z');
const latestReport = Date.parse('9999-12-31T23:59:59.999Z');

/** Time of a play or a position that an app reports, perhaps later. */
export const reportedAt = z
  .string({ error: ({ input }) => (input === undefined ? 'is required' : 'must be a date-time') })
  .transform((value, check) => {
    const moment = momentOf(value);
    if (!Number.isNaN(moment)) return new Date(Math.min(Math.max(moment, earliestReport), latestReport)).toISOString();
    check.addIssue('must be a date-time such as 2026-06-23T09:30:00.000Z');
    return z.NEVER;
  })
  .meta({
    override: { format: 'date-time' },
    description: 'Time on the device. Up to five minutes ahead counts as now; a later time is `in_future`.',
    examples: ['2026-06-23T09:30:00.000Z'],
  });

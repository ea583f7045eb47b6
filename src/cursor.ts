import { z } from 'zod';

/**
 * The cursor of GET /sounds: an RFC 3339 date-time of the years 1970 to 9999 with any fraction, rounded to the
 * millisecond, since a client may have carried it through a type of another precision. One that was cut to the second
 * finds its sound in the database: `private.sounds_in_list_order`.
 * Resolves to the form YYYY-MM-DDTHH:MM:SS.mmmZ.
 */
export const cursor = z
  .string({ error: 'must be given once' })
  // A "+" that was not percent-encoded arrives as a space.
  .transform((value) => value.toUpperCase().replace(/ (?=\d\d:\d\d$)/, '+'))
  .pipe(z.iso.datetime({ offset: true, error: 'must be the next_cursor of an earlier page' }))
  .transform((value, check) => {
    const fraction = /\.\d+/.exec(value)?.[0] ?? '';
    const wholeSeconds = Date.parse(value.replace(fraction, ''));
    const moment = new Date(wholeSeconds + Math.round(Number(`0${fraction}`) * 1000));
    if (moment.getUTCFullYear() < 1970 || moment.getUTCFullYear() > 9999) {
      check.addIssue('must lie between the years 1970 and 9999');
      return z.NEVER;
    }
    return moment.toISOString();
  })
  .meta({ override: { format: 'date-time' } });

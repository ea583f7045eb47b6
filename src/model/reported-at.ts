import { z } from 'zod';
import { momentOf } from './cursor.ts';

/** Bounds of reported times, because Postgres has no year 0 and reads years of four digits. */
const earliest = Date.parse('0001-01-01T00:00:00.000Z');
const latest = Date.parse('9999-12-31T23:59:59.999Z');

/** Time of a play or a position that an app reports, perhaps later. */
export const reportedAt = z
  .string({ error: ({ input }) => (input === undefined ? 'is required' : 'must be a date-time') })
  .transform((value, check) => {
    const moment = momentOf(value);
    if (!Number.isNaN(moment)) return new Date(Math.min(Math.max(moment, earliest), latest)).toISOString();
    check.addIssue('must be a date-time such as 2026-06-23T09:30:00.000Z');
    return z.NEVER;
  })
  .meta({
    override: { format: 'date-time' },
    description: 'Time on the device. Up to five minutes ahead counts as now; a later time is `in_future`.',
    examples: ['2026-06-23T09:30:00.000Z'],
  });

import { z } from 'zod';
import { endpoint, inEnvelope } from '../endpoint.ts';
import { body, uuid } from '../model/fields.ts';
import { ProgressEntry, ProgressResult } from '../model/progress.ts';
import { reportedAt } from '../model/reported-at.ts';

const sound_id = '50000000-0000-4000-8000-000000000001';
const example = { sound_id, position_sec: 754.5, updated_at: '2026-06-23T09:30:00.000Z' };

const outOfRange = 'must be a number of seconds from 0 to 86400, or null';

const ProgressReport = z
  .object({
    sound_id: uuid,
    position_sec: z
      .number({ error: ({ input }) => (input === undefined ? 'is required' : outOfRange) })
      .min(0, outOfRange)
      .max(86_400, outOfRange)
      .nullable()
      .meta({
        description: 'Position in seconds. Null when the sound was finished or started over.',
        examples: [754.5],
      }),
    updated_at: reportedAt.meta({
      description:
        'Time at which the user was there. Up to five minutes ahead counts as now; a later time is `in_future`.',
    }),
  })
  .meta({ id: 'ProgressReport' });

export const progressEndpoints = [
  endpoint({
    method: 'get',
    path: '/progress',
    operation: 'listProgress',
    summary: 'List where the caller stopped',
    description:
      'The newest 200 positions of the caller, newest first, for a shelf "Continue listening". A deleted sound leaves ' +
      'the list.',
    guard: 'bearer',
    response: z.object({ data: z.array(ProgressEntry) }).meta({ id: 'ProgressListResponse' }),
    cache: 'revalidate',
    handle: async ({ context, caller }) => inEnvelope('data', await context.data.json(caller, 'list_progress')),
  }),

  endpoint({
    method: 'put',
    path: '/progress',
    operation: 'saveProgress',
    summary: 'Save where the caller stopped',
    description:
      'Saves up to 100 positions, from any device, also later; the request can be repeated. A `position_sec` of null ' +
      'removes the position. For each sound the newest `updated_at` wins, in whatever order reports arrive; at equal ' +
      'times a removal wins, then the higher position. A time that is ahead is cut to now at each arrival, so a ' +
      'repeated report from such a clock can replace one that is up to five minutes newer. A removal is kept for 30 ' +
      'days, so that an older position from another device stays removed. The statuses have the order of the entries. ' +
      'One invalid entry returns 400, and nothing is saved.',
    guard: 'bearer',
    body: body({
      entries: z
        .array(ProgressReport, 'must be a list of entries')
        .min(1, 'must hold at least one entry')
        .max(100, 'must hold at most 100 entries')
        .meta({ examples: [[example]] }),
    }).meta({ id: 'ProgressRequest' }),
    maxBody: '32kb',
    response: z.object({ data: z.array(ProgressResult) }).meta({ id: 'ProgressResultListResponse' }),
    handle: async ({ context, caller, body: { entries } }) => ({
      data: await context.data.call(caller, 'save_progress', { entries }),
    }),
  }),
];

import { z } from 'zod';
import { endpoint, inEnvelope } from '../endpoint.ts';
import { reportedAt } from '../model/cursor.ts';
import { body, uuid } from '../model/fields.ts';
import { ProgressEntry, ProgressResult } from '../model/progress.ts';

const sound_id = '50000000-0000-4000-8000-000000000001';
const example = { sound_id, position_sec: 754.5, updated_at: '2026-06-23T09:30:00.000Z' };

const wrong = 'must be a number of seconds from 0 to 86400, or null';
const position = z
  .number(wrong)
  .min(0, wrong)
  .max(86_400, wrong)
  .nullable()
  .meta({ examples: [754.5] });

const ProgressReport = z
  .object({ sound_id: uuid, position_sec: position, updated_at: reportedAt })
  .meta({ id: 'ProgressReport' });

export const progressEndpoints = [
  endpoint('listProgress', 'GET /progress', {
    summary: 'List where the caller stopped',
    description: 'The newest 200 positions of the caller, newest first. A deleted sound leaves the list.',
    response: z.object({ data: z.array(ProgressEntry) }).meta({ id: 'ProgressListResponse' }),
    cache: 'revalidate',
    handle: async ({ context, caller }) => inEnvelope('data', await context.data.json(caller, 'list_progress')),
  }),

  endpoint('saveProgress', 'PUT /progress', {
    summary: 'Save where the caller stopped',
    description:
      'Saves up to 100 positions in seconds, also later; null removes one, when the sound was finished or started ' +
      'over. For each sound the newest `updated_at` wins, in whatever order reports arrive; at equal times a removal ' +
      'wins, then the higher position. A time that is ahead is cut to now at each arrival, so a repeated report can ' +
      'replace one that is up to five minutes newer. A removal is kept for 30 days, so that older positions stay ' +
      'removed. The statuses have the order of the entries. One invalid entry returns 400, and nothing is saved.',
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

import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { historyCursor, historyCursorAt } from '../model/cursor.ts';
import { pageSize, uuid } from '../model/fields.ts';
import { HistoryPage } from '../model/history.ts';

export const historyEndpoints = [
  endpoint('listHistory', 'GET /history', {
    summary: 'List history',
    description:
      'One entry for each sound that the caller played, most recent first. Page through them with `next_cursor`. A ' +
      'sound that is played meanwhile moves to the front. A deleted sound leaves the history.',
    query: z.object({
      limit: pageSize.optional().meta({ description: 'Page size.' }),
      cursor: historyCursor.optional().meta({ description: 'The `next_cursor` of the previous page.' }),
    }),
    response: HistoryPage,
    cache: 'revalidate',
    handle: async ({ context, caller, query: { limit, cursor } }) => {
      const { data, has_more } = await context.data.call(caller, 'list_history', {
        ...(limit !== undefined && { page_size: limit }),
        ...(cursor && { before_moment: cursor.last_played_at, before_sound: cursor.sound_id }),
      });
      const last = data.at(-1);
      return { data, next_cursor: has_more && last ? historyCursorAt(last) : null };
    },
  }),

  endpoint('clearHistory', 'DELETE /history', {
    summary: 'Clear the history',
    description:
      'Removes all entries and all positions (`GET /progress`). The time is kept for 30 days, so that plays and ' +
      'positions from before, which arrive later, do not come back. Play counts of sounds stay as they are.',
    handle: ({ context, caller }) => context.data.call(caller, 'clear_history'),
  }),

  endpoint('removeFromHistory', 'DELETE /history/{soundId}', {
    summary: 'Remove a sound from the history',
    description:
      'Also removes its position (`GET /progress`). The time is kept for 30 days, so that plays and positions from ' +
      'before, which arrive later, do not come back. Idempotent: removing a sound that is not there returns the same. The play ' +
      'count of the sound stays.',
    params: z.object({ soundId: uuid.meta({ description: 'Id of the sound.' }) }),
    resource: 'sound',
    handle: ({ context, caller, params }) =>
      context.data.call(caller, 'remove_from_history', { sound: params.soundId }),
  }),
];

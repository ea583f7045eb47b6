import { z } from 'zod';
import { soundId } from './sound.ts';

export const PlayCount = z
  .object({ id: soundId, play_count: z.int().meta({ examples: [1290] }) })
  .meta({ id: 'PlayCount' });

const PlayStatus = z.enum(['counted', 'duplicate', 'not_found', 'too_old', 'in_future', 'over_limit']).meta({
  id: 'PlayStatus',
  description:
    'counted; duplicate: a play with this id was counted before; not_found: there is no such active sound; too_old: ' +
    'played more than 30 days ago; in_future: played more than five minutes ahead, by a wrong clock; over_limit: not ' +
    'counted, because 1,000 plays of the user (100,000 of an API key) have arrived on this day (UTC). All are final: ' +
    'do not send the play again.',
});

export const PlayResult = z.object({ id: z.guid(), status: PlayStatus }).meta({ id: 'PlayResult' });

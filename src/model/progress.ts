import { z } from 'zod';
import { dateTime, SoundPreviewOrNull, soundId } from './sound.ts';

const positionSec = z.number().meta({ description: 'Position in seconds.', examples: [754.5] });

export const ProgressEntry = z
  .object({
    sound_id: soundId,
    position_sec: positionSec,
    updated_at: dateTime.meta({ description: 'Time at which the caller was there.' }),
    sounds: SoundPreviewOrNull.meta({ description: 'Null while the sound is inactive.' }),
  })
  .meta({ id: 'ProgressEntry' });

/** Position or removal as it is stored, for the export. */
export const StoredProgress = ProgressEntry.omit({ sounds: true })
  .extend({ position_sec: positionSec.nullable().meta({ description: 'Null for a removal, kept for 30 days.' }) })
  .meta({ id: 'StoredProgress' });

const ProgressStatus = z.enum(['saved', 'older', 'in_future', 'not_found']).meta({
  id: 'ProgressStatus',
  description:
    'saved: the service has this state; older: a newer one stays, 200 newer positions do, the history was cleared ' +
    'since, or it is from more than 30 days ago; in_future: more than five minutes ahead, by a wrong clock; not_found: there is no such active sound. All are final: do not send the entry again.',
});

export const ProgressResult = z.object({ sound_id: z.guid(), status: ProgressStatus }).meta({ id: 'ProgressResult' });

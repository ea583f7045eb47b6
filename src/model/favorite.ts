import { z } from 'zod';
import { dateTime, SoundPreviewOrNull, soundId } from './sound.ts';

export const Favorite = z
  .object({
    sound_id: soundId,
    created_at: dateTime,
    sounds: SoundPreviewOrNull.meta({
      description: 'Null while the sound is inactive; the favorite itself is kept.',
    }),
  })
  .meta({ id: 'Favorite' });

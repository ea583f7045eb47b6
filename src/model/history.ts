import { z } from 'zod';
import { dateTime, SoundPreviewOrNull, soundId } from './sound.ts';

export const HistoryEntry = z
  .object({
    sound_id: soundId,
    last_played_at: dateTime,
    plays: z.int().meta({ description: 'Plays by the caller since the history was last cleared.', examples: [7] }),
    sounds: SoundPreviewOrNull.meta({ description: 'Null while the sound is inactive.' }),
  })
  .meta({ id: 'HistoryEntry' });

export const HistoryPage = z
  .object({
    data: z.array(HistoryEntry),
    next_cursor: z.nullable(z.string()).meta({
      description: 'Send it as `cursor` to get the next page; null on the last one. It is opaque.',
      examples: ['MjAyNi0wNi0yM1QwOTozMDowMC4wMDBaIDJmNmMxZjBlLThhNTEtNGEwZS05YjVlLTZmMWQxYzBiN2E0Mg'],
    }),
  })
  .meta({ id: 'HistoryListResponse' });

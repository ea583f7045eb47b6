import { z } from 'zod';
import { dateTime, SoundPreviewOrNull, soundId } from './sound.ts';

export const exampleListId = '6a1f0c52-3b7d-4e8a-9c10-2f4b8d7e5a31';

const SavedListItem = z
  .object({
    sound_id: soundId,
    volume: z
      .number()
      .nullable()
      .meta({
        description: 'From 0 to 1. Multiply it with the gain of the loudness. Null if none was set.',
        examples: [0.4],
      }),
    sounds: SoundPreviewOrNull.meta({ description: 'Null while the sound is inactive. A deleted sound is absent.' }),
  })
  .meta({ id: 'SavedListItem' });

export const SavedList = z
  .object({
    id: z.guid().meta({ examples: [exampleListId] }),
    name: z.string().meta({ examples: ['Night'] }),
    is_mix: z.boolean().meta({
      description: 'True for a mix, which plays all sounds at once; false for a playlist, which plays them in order.',
      examples: [true],
    }),
    items: z.array(SavedListItem),
    version: z.int().meta({ description: 'Send it with an edit that began from this state.', examples: [3] }),
    updated_at: dateTime.meta({ description: 'Time of the last change.' }),
  })
  .meta({ id: 'SavedList' });

const ListStatus = z.enum(['saved', 'changed', 'deleted', 'too_many']).meta({
  id: 'ListStatus',
  description:
    'saved: the service has this content, or the removal is done; changed: another device was faster, and nothing was ' +
    'written: merge the edit with `list`, and send it with its version; deleted: the list was removed before, so drop ' +
    'the edit; too_many: the user would have more than 200 lists, or 5,000 items in all.',
});

export const ListResult = z
  .object({
    id: z.guid().meta({ examples: [exampleListId] }),
    status: ListStatus,
    list: z
      .object(SavedList.shape)
      .nullable()
      .meta({ id: 'SavedListOrNull', description: 'The list as it is now. Null if there is none.' }),
  })
  .meta({ id: 'ListResult' });

/** Removal of a list as it is remembered, for the export. */
export const RemovedList = z
  .object({ id: z.guid().meta({ examples: [exampleListId] }), removed_at: dateTime })
  .meta({ id: 'RemovedList' });

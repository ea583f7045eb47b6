import { z } from 'zod';
import { SubCategory } from './category.ts';
import { HomeSection } from './home-section.ts';
import { audioFacts, dateTime, fileVersion, Sound, soundId } from './sound.ts';

const order = (others: string) =>
  z.int().meta({
    description: `Position. Smaller numbers come first; among equal ones, ${others} come first.`,
    examples: [0],
  });

const CopiedSound = Sound.extend({
  sort_order: order('the newest sounds'),
  audio_version: fileVersion,
  cover_version: fileVersion,
  ...audioFacts,
})
  .nullable()
  .meta({ id: 'CopiedSound' });

const CopiedCategory = SubCategory.extend({
  parent_id: z
    .guid()
    .nullable()
    .meta({ description: 'Id of the parent intention. Null for an intention without a parent.' }),
})
  .nullable()
  .meta({ id: 'CopiedCategory' });

const CopiedHomeSection = HomeSection.omit({ sounds: true })
  .extend({
    sort_order: order('the oldest sections'),
    created_at: dateTime,
    sound_ids: z.array(soundId).meta({ description: 'Ids of its sounds, in display order.' }),
  })
  .nullable()
  .meta({ id: 'CopiedHomeSection' });

const CatalogueChange = z
  .object({
    kind: z.enum(['sound', 'category', 'home_section']).meta({ id: 'CatalogueChangeKind' }),
    id: soundId,
    sound: CopiedSound,
    category: CopiedCategory,
    home_section: CopiedHomeSection,
  })
  .meta({
    id: 'CatalogueChange',
    description:
      'The field that `kind` names contains the current resource. If it is null, remove the resource from the copy.',
  });

export const CatalogueChanges = z
  .object({
    data: z.array(CatalogueChange),
    next: z.string().meta({ description: 'Send it as `since` the next time.', examples: ['9f86d081.1289'] }),
    has_more: z.boolean().meta({ description: 'True if there are more changes already.' }),
    reset: z.boolean().meta({
      description:
        'True if `since` is too old or of another database. Empty the copy: this response begins the whole catalogue.',
    }),
  })
  .meta({ id: 'CatalogueChangesResponse' });

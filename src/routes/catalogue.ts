import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { dateTime, fileVersion, Sound, soundId } from '../model/sound.ts';
import { SubCategory } from './categories.ts';
import { HomeSection } from './home.ts';

const order = (others: string) =>
  z.int().meta({ description: `Smaller numbers come first; among equal ones ${others}.`, examples: [0] });

const CopiedSound = Sound.extend({
  sort_order: order('the newest'),
  audio_version: fileVersion,
  cover_version: fileVersion,
}).meta({ id: 'CopiedSound' });

const CopiedCategory = SubCategory.extend({
  parent_id: z.guid().nullable().meta({ description: 'Of a sub-intention: the intention it lies under.' }),
}).meta({ id: 'CopiedCategory' });

const CopiedHomeSection = HomeSection.omit({ sounds: true })
  .extend({
    sort_order: order('the oldest'),
    created_at: dateTime,
    sound_ids: z.array(soundId).meta({ description: 'What it shows, in its order.' }),
  })
  .meta({ id: 'CopiedHomeSection' });

const CatalogueChange = z
  .object({
    kind: z.enum(['sound', 'category', 'home_section']).meta({ id: 'CatalogueChangeKind' }),
    id: soundId,
    sound: CopiedSound.nullable(),
    category: CopiedCategory.nullable(),
    home_section: CopiedHomeSection.nullable(),
  })
  .meta({
    id: 'CatalogueChange',
    description:
      'Under the name of its kind stands the thing as it is now. Null there means that it is gone: remove it from the copy.',
  });

const CatalogueChanges = z
  .object({
    data: z.array(CatalogueChange),
    next: z.string().meta({ description: 'Send it as `since` the next time.', examples: ['9f86d081.1289'] }),
    has_more: z.boolean().meta({ description: 'Whether there are more changes already.' }),
    reset: z.boolean().meta({
      description:
        '`since` is too old, or of another database: empty the copy, this answer begins the whole catalogue.',
    }),
  })
  .meta({ id: 'CatalogueChangesResponse' });

const since = z
  .string({ error: 'must be given once' })
  .regex(/^[0-9a-f]{8}(\.\d{1,18}){1,2}$/, 'must be the next of an earlier answer')
  .optional()
  .meta({ description: 'The `next` of the last answer.', examples: ['9f86d081.1289'] });

export const catalogueEndpoints = [
  endpoint({
    method: 'get',
    path: '/catalogue/changes',
    operation: 'listCatalogueChanges',
    summary: 'What changed in the catalogue',
    description:
      'For apps that keep a copy of the catalogue: what to do to it, oldest first, up to 500 changes at a time. Without `since` ' +
      'the whole catalogue. Store each answer and its `next` together, and go on while `has_more`. Of a thing that changed several ' +
      'times only the last change comes. Plays are no change: `play_count` is that of the moment. A `since` of up to 90 days is good.',
    guard: 'bearer',
    query: z.object({ since }),
    response: CatalogueChanges,
    errors: ['invalid_request', 'unauthorized', 'rate_limited'],
    cache: 'revalidate',
    shared: true,
    handle: async ({ context, caller, query }) => {
      const filters = JSON.stringify(query);
      const changes = await context.data.service.call(caller, 'list_catalogue_changes', { filters });
      return changes as z.infer<typeof CatalogueChanges>;
    },
  }),
];

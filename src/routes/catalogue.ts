import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { dateTime, Sound, soundId } from '../model/sound.ts';
import { SubCategory } from './categories.ts';
import { HomeSection } from './home.ts';

const version = z
  .string()
  .nullable()
  .meta({
    description: 'Another one when the file has changed; null when there is none.',
    examples: ['d41d8cd98f00b204'],
  });

const sortOrder = z.int().meta({ description: 'Smaller numbers come first.', examples: [0] });

const CopiedSound = Sound.extend({
  sort_order: sortOrder.meta({ description: 'Smaller numbers come first; among equal ones the newest.' }),
  audio_version: version,
  cover_version: version,
}).meta({ id: 'CopiedSound' });

const CopiedCategory = SubCategory.extend({
  parent_id: z.guid().nullable().meta({ description: 'Of a sub-intention: the intention it lies under.' }),
}).meta({ id: 'CopiedCategory' });

const CopiedHomeSection = HomeSection.omit({ sounds: true })
  .extend({
    sort_order: sortOrder.meta({ description: 'Smaller numbers come first; among equal ones the oldest.' }),
    created_at: dateTime,
    sound_ids: z.array(soundId).meta({ description: 'What it shows, in its order.' }),
  })
  .meta({ id: 'CopiedHomeSection' });

const CatalogueChange = z
  .object({
    kind: z.enum(['sound', 'category', 'home_section']).meta({ id: 'CatalogueChangeKind' }),
    id: z.guid().meta({ examples: ['2f6c1f0e-8a51-4a0e-9b5e-6f1d1c0b7a42'] }),
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
    query: z.object({
      since: z
        .string({ error: 'must be given once' })
        .regex(/^[0-9a-f]{8}(\.\d{1,18}){1,2}$/, 'must be the next of an earlier answer')
        .optional()
        .meta({ description: 'The `next` of the last answer.', examples: ['9f86d081.1289'] }),
    }),
    response: CatalogueChanges,
    errors: ['invalid_request', 'unauthorized', 'rate_limited'],
    cache: 'revalidate',
    shared: true,
    handle: async ({ context, caller, query }) =>
      (await context.data.service.call(caller, 'list_catalogue_changes', {
        filters: JSON.stringify(query),
      })) as z.infer<typeof CatalogueChanges>,
  }),
];

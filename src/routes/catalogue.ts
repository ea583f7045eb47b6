import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { CatalogueChanges } from '../model/catalogue-change.ts';

const since = z
  .string({ error: 'must be given once' })
  .regex(/^[0-9a-f]{8}(\.\d{1,18}){1,2}$/, 'must be the next of an earlier response')
  .optional()
  .meta({ description: 'The `next` of the last response.' });

export const catalogueEndpoints = [
  endpoint('listCatalogueChanges', 'GET /catalogue/changes', {
    summary: 'List changes of the catalogue',
    description:
      'Changes for apps that keep a copy of the catalogue, oldest first, up to 1,000 at a time. Without `since`, ' +
      'returns the whole catalogue. Store each response together with its `next`, and continue while `has_more` is ' +
      'true. A resource that changed several times appears once, with its last change. Plays do not count as ' +
      'changes: `play_count` is the current value. A `since` is valid for 90 days.',
    query: z.object({ since }),
    response: CatalogueChanges,
    cache: 'shared',
    handle: ({ context, caller, query }) =>
      context.data.service.json(caller, 'list_catalogue_changes', { filters: JSON.stringify(query) }),
  }),
];

import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { CatalogueChanges } from '../model/catalogue-change.ts';

const since = z
  .string({ error: 'must be given once' })
  .regex(/^[0-9a-f]{8}(\.\d{1,18}){1,2}$/, 'must be the next of an earlier answer')
  .optional()
  .meta({ description: 'The `next` of the last response.' });

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
    handle: ({ context, caller, query }) =>
      context.data.service.call(caller, 'list_catalogue_changes', { filters: JSON.stringify(query) }),
  }),
];

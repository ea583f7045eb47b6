import { z } from 'zod';
import { endpoint, inEnvelope } from '../endpoint.ts';
import { notFound } from '../errors.ts';
import { Favorite } from '../model/favorite.ts';
import { body, uuid } from '../model/fields.ts';

export const favoriteEndpoints = [
  endpoint('listFavorites', 'GET /favorites', {
    summary: 'List favorites',
    description: "The caller's favorites, newest first.",
    response: z.object({ data: z.array(Favorite) }).meta({ id: 'FavoriteListResponse' }),
    cache: 'revalidate',
    handle: async ({ context, caller }) => inEnvelope('data', await context.data.json(caller, 'list_favorites')),
  }),

  endpoint('addFavorite', 'POST /favorites', {
    summary: 'Add favorite',
    description:
      'Idempotent: adding a sound that is already a favorite changes nothing and returns the same. A sound that does ' +
      'not exist or is not active gets 404. A user has at most 5,000 favorites: one more gets 400.',
    body: body({ sound_id: uuid }).meta({ id: 'AddFavoriteRequest' }),
    status: 201,
    errors: ['not_found'],
    handle: async ({ context, caller, body }) => {
      const added = await context.data.call(caller, 'add_favorite', { sound: body.sound_id });
      if (!added) throw notFound('sound');
    },
  }),

  endpoint('removeFavorite', 'DELETE /favorites/{soundId}', {
    summary: 'Remove favorite',
    description: 'Idempotent: removing a sound that is not a favorite returns the same.',
    params: z.object({ soundId: uuid.meta({ description: 'Id of the sound.' }) }),
    resource: 'sound',
    handle: ({ context, caller, params }) => context.data.call(caller, 'remove_favorite', { sound: params.soundId }),
  }),
];

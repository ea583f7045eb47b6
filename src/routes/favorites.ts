import { z } from 'zod';
import { Done, endpoint, inEnvelope } from '../endpoint.ts';
import { notFound } from '../errors.ts';
import { Favorite } from '../model/favorite.ts';
import { body, uuid } from '../model/fields.ts';

export const favoriteEndpoints = [
  endpoint({
    method: 'get',
    path: '/favorites',
    operation: 'listFavorites',
    summary: 'List favorites',
    description: "The caller's favorites, newest first.",
    guard: 'bearer',
    response: z.object({ data: z.array(Favorite) }).meta({ id: 'FavoriteListResponse' }),
    cache: 'revalidate',
    handle: async ({ context, caller }) => inEnvelope('data', await context.data.json(caller, 'list_favorites')),
  }),

  endpoint({
    method: 'post',
    path: '/favorites',
    operation: 'addFavorite',
    summary: 'Add favorite',
    description:
      'Idempotent: adding a sound that is already a favorite changes nothing and returns the same. A sound that does ' +
      'not exist or is not active gets 404. A user has at most 5,000 favorites: one more gets 400.',
    guard: 'bearer',
    body: body({ sound_id: uuid }).meta({ id: 'AddFavoriteRequest' }),
    status: 201,
    response: Done,
    errors: ['not_found'],
    handle: async ({ context, caller, body }) => {
      const added = await context.data.call(caller, 'add_favorite', { sound: body.sound_id });
      if (!added) throw notFound('sound');
      return { data: { ok: true } };
    },
  }),

  endpoint({
    method: 'delete',
    path: '/favorites/{soundId}',
    operation: 'removeFavorite',
    summary: 'Remove favorite',
    description: 'Idempotent: removing a sound that is not a favorite returns the same.',
    guard: 'bearer',
    params: z.object({ soundId: uuid.meta({ description: 'Id of the sound.' }) }),
    response: Done,
    handle: async ({ context, caller, params }) => {
      await context.data.call(caller, 'remove_favorite', { sound: params.soundId });
      return { data: { ok: true } };
    },
  }),
];

import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { notFound } from '../errors.ts';
import { body, uuid } from '../parse.ts';
import { dateTime, SoundPreview } from '../sound.ts';

const Favorite = z.object({ sound_id: z.guid(), created_at: dateTime, sounds: SoundPreview.nullable() });
const Done = z.object({ data: z.object({ ok: z.boolean() }) });

export const favoriteEndpoints = [
  endpoint({
    method: 'get',
    path: '/favorites',
    operation: 'listFavorites',
    summary: 'List favorites',
    guard: 'bearer',
    response: z.object({ data: z.array(Favorite) }),
    errors: ['unauthorized', 'rate_limited'],
    cache: 'revalidate',
    handle: async ({ context, caller, deadline }) => ({
      data: (await context.supabase.callFunction(caller, 'list_favorites', deadline)) as z.input<
        typeof Favorite
      >[],
    }),
  }),

  endpoint({
    method: 'post',
    path: '/favorites',
    operation: 'addFavorite',
    summary: 'Add favorite',
    guard: 'bearer',
    body: body({ sound_id: uuid }),
    status: 201,
    response: Done,
    errors: ['invalid_request', 'unauthorized', 'not_found', 'rate_limited'],
    cache: 'no-store',
    handle: async ({ context, caller, body, deadline }) => {
      const args = { liked_sound: body.sound_id };
      const added = await context.supabase.callFunction(caller, 'add_favorite', deadline, args);
      if (added !== true) throw notFound('sound');
      return { data: { ok: true } };
    },
  }),

  endpoint({
    method: 'delete',
    path: '/favorites/{soundId}',
    operation: 'removeFavorite',
    summary: 'Remove favorite',
    guard: 'bearer',
    params: z.object({ soundId: uuid }),
    response: Done,
    errors: ['unauthorized', 'not_found', 'rate_limited'],
    cache: 'no-store',
    handle: async ({ context, caller, params, deadline }) => {
      await context.supabase.callFunction(caller, 'remove_favorite', deadline, {
        disliked_sound: params.soundId,
      });
      return { data: { ok: true } };
    },
  }),
];

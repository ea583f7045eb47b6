import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { notFound } from '../errors.ts';
import { cursor, nextCursor } from '../model/cursor.ts';
import { optionalQueryText, pageSize, queryBoolean, uuid } from '../model/fields.ts';
import { Sound, SoundDetail, signedUrlLifetimeSeconds } from '../model/sound.ts';

const SoundPath = z.object({ id: uuid.meta({ description: 'Id of the sound.' }) });

const SoundPage = z
  .object({
    data: z.array(Sound),
    next_cursor: nextCursor.nullable(),
  })
  .meta({ id: 'SoundListResponse' });

type SoundPage = z.infer<typeof SoundPage>;

/** What public.get_sound returns: the Sound and the names of its files. */
type StoredSound = z.infer<typeof Sound> & { audio_path: string | null; cover_image_path: string | null };

export const soundEndpoints = [
  endpoint({
    method: 'get',
    path: '/sounds',
    operation: 'listSounds',
    summary: 'List sounds',
    description:
      'Active sounds by sort order, then most recent first. Page through them with `next_cursor`: every sound appears ' +
      'exactly once, even if others are added or removed in between. Only one that is moved in the order meanwhile may ' +
      'appear again, or be missed. Unknown parameters are ignored; a repeated parameter or an invalid value gets 400. ' +
      '`data` is empty if nothing matches.',
    guard: 'bearer',
    query: z.object({
      category: optionalQueryText(100).meta({
        description: 'Only sounds of the category with this slug, a parent intention or a sub-intention.',
      }),
      include_children: queryBoolean.optional().meta({
        description: 'With a parent intention as `category`: also sounds of its sub-intentions.',
      }),
      featured: queryBoolean.optional().meta({
        description: 'true: only featured sounds. false: only sounds that are not.',
      }),
      search: optionalQueryText(100).meta({
        description:
          'Only sounds whose title contains this text, ignoring case and accents. A blank value is ignored.',
      }),
      limit: pageSize.optional().meta({ description: 'Page size.', examples: [20] }),
      cursor: cursor.optional().meta({
        description:
          'The `next_cursor` of the previous page: an ISO 8601 date-time of the years 1970 to 9999 in any spelling.',
        examples: ['2026-06-23T09:30:00.000Z'],
      }),
    }),
    response: SoundPage,
    errors: ['invalid_request', 'unauthorized', 'rate_limited'],
    cache: 'revalidate',
    shared: true,
    handle: async ({ context, caller, query }) =>
      (await context.data.service.call(caller, 'list_sounds', {
        filters: JSON.stringify(query),
      })) as SoundPage,
  }),

  endpoint({
    method: 'get',
    path: '/sounds/{id}',
    operation: 'getSound',
    summary: 'Sound with signed audio URL',
    description:
      'The signed URLs are valid for 5 minutes. Request them right before playback; do not cache them. An unknown id ' +
      'and that of an inactive sound get the same 404.',
    guard: 'bearer',
    params: SoundPath,
    response: z.object({ data: SoundDetail }).meta({ id: 'SoundResponse' }),
    errors: ['unauthorized', 'not_found', 'rate_limited'],
    cache: 'no-store',
    handle: async ({ context, caller, params, log }) => {
      const args = { wanted_sound: params.id };
      const stored = (await context.data.find(caller, 'get_sound', args)) as StoredSound | null;
      if (stored === null) throw notFound('sound');
      const { audio_path, cover_image_path, ...sound } = stored;

      const sign = async (bucket: string, path: string | null) => {
        if (path === null) return null;
        const url = await context.files.signUrl(bucket, path, signedUrlLifetimeSeconds);
        if (url === null)
          log.warn({ soundId: sound.id, bucket, path }, 'A file of this sound is missing in Storage');
        return url;
      };
      const [audioUrl, coverUrl] = await Promise.all([
        sign('audio', audio_path),
        sign('covers', cover_image_path),
      ]);
      return {
        data: {
          ...sound,
          cover_image_url: coverUrl,
          audio_url: audioUrl,
          audio_url_expires_in: signedUrlLifetimeSeconds,
        },
      };
    },
  }),
];

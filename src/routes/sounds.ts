import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { notFound } from '../errors.ts';
import { soundCursor, soundOrder } from '../model/cursor.ts';
import {
  body,
  optionalQueryText,
  pageSize,
  queryBoolean,
  querySeconds,
  queryUuids,
  repeatable,
  uuid,
  uuids,
} from '../model/fields.ts';
import { SoundDetail, SoundFiles, SoundPage, type StoredFiles, signedUrlLifetimeSeconds } from '../model/sound.ts';

const SoundPath = z.object({ id: uuid.meta({ description: 'Id of the sound.' }) });

const SoundQuery = z
  .object({
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
      description: 'Only sounds whose title contains this text, ignoring case and accents. A blank value is ignored.',
    }),
    tag: repeatable(10)
      .optional()
      .meta({ description: 'Only sounds with this tag. Repeat it to require several tags.' }),
    min_duration: querySeconds.optional().meta({ description: 'Only sounds of at least this many seconds.' }),
    max_duration: querySeconds.optional().meta({ description: 'Only sounds of at most this many seconds.' }),
    q: optionalQueryText(100).meta({
      description:
        'Up to six words to find in title, tags, category and description, in any order, or twelve in scripts without ' +
        'spaces. The last word may be the beginning of a longer one. Returns one page: the best results first, then ' +
        'titles that contain the text. If there are none, corrects words that no sound has (`corrected_q`); if there ' +
        'are still none, leaves out words of up to three Latin letters, and up to half of the others that any sound ' +
        'has. A blank value is ignored.',
    }),
    ids: queryUuids(100).optional().meta({
      description:
        'Returns these sounds in this order. Separate ids by commas or repeat the parameter. Unknown and inactive sounds are left out.',
    }),
    sort: soundOrder.optional().meta({
      description: 'Another order. `popular` uses play counts that are at most an hour old.',
    }),
    limit: pageSize.optional().meta({ description: 'Page size.' }),
    cursor: soundCursor.optional().meta({
      description:
        'The `next_cursor` of the previous page with the same `sort`. Without `sort` an RFC 3339 date-time of the ' +
        'years 1970 to 9999, with any offset and any number of fractional digits.',
    }),
  })
  .superRefine(({ ids, q, sort, cursor, ...others }, check) => {
    const wrong = (field: string, message: string) => check.addIssue({ code: 'custom', path: [field], message });
    if (ids && Object.values({ q, sort, cursor, ...others }).some((value) => value !== undefined))
      wrong('ids', 'cannot be combined with other parameters');
    if (q && (sort || cursor)) wrong('q', 'cannot be combined with sort or cursor');
    if (cursor && cursor.endsWith('Z') !== (sort === undefined))
      wrong('cursor', 'must be the next_cursor of a page with the same sort');
  });

export const soundEndpoints = [
  endpoint('listSounds', 'GET /sounds', {
    summary: 'List sounds',
    description:
      'Active sounds by sort order, then most recent first. Page through them with `next_cursor`: every sound ' +
      'appears exactly once, even if others are added or removed in between. Only a sound whose position changes ' +
      'meanwhile, for example by plays, may appear twice or not at all. Unknown parameters are ignored; a repeated ' +
      'parameter, except `tag` and `ids`, or an invalid value gets 400. `data` is empty if nothing matches.',
    query: SoundQuery,
    response: SoundPage,
    cache: 'shared',
    handle: ({ context, caller, query }) =>
      context.data.service.json(caller, 'list_sounds', { filters: JSON.stringify(query) }),
  }),

  endpoint('getSound', 'GET /sounds/{id}', {
    summary: 'Sound with signed audio URL',
    description:
      'The signed URLs are valid for 5 minutes. Request them right before playback; do not cache them. An unknown id ' +
      'and that of an inactive sound get the same 404. A premium sound is locked for callers without premium: ' +
      '`is_locked` is true and `audio_url` null. The next request after a change of premium applies it.',
    params: SoundPath,
    resource: 'sound',
    response: z.object({ data: SoundDetail }).meta({ id: 'SoundResponse' }),
    handle: async ({ context, caller, params, log }) => {
      const stored = await context.data.find(caller, 'get_sound', { sound: params.id });
      if (stored === null) throw notFound('sound');
      const { audio_path, cover_image_path, loudness_lufs, true_peak_dbtp, waveform, is_locked, ...sound } = stored;

      const sign = async (bucket: string, path: string | null) => {
        if (path === null) return null;
        const url = await context.files.signUrl(bucket, path, signedUrlLifetimeSeconds);
        if (url === null) log.warn({ soundId: sound.id, bucket, path }, 'A file of this sound is missing in Storage');
        return url;
      };
      const [audioUrl, coverUrl] = await Promise.all([sign('audio', audio_path), sign('covers', cover_image_path)]);
      return {
        data: {
          ...sound,
          cover_image_url: coverUrl,
          audio_url: audioUrl,
          audio_url_expires_in: signedUrlLifetimeSeconds,
          loudness_lufs,
          true_peak_dbtp,
          waveform,
          is_locked,
        },
      };
    },
  }),

  endpoint('signSoundFiles', 'POST /sounds/files', {
    summary: 'Signed URLs of many sounds',
    description:
      'For downloads: the files of up to 50 sounds, in the requested order; unknown and inactive sounds are left ' +
      'out. The URLs are valid for 5 minutes. The audio of a locked sound is null; its cover is not.',
    body: body({ ids: uuids(50).meta({ examples: [['50000000-0000-4000-8000-000000000001']] }) }).meta({
      id: 'SoundFilesRequest',
    }),
    response: z.object({ data: z.array(SoundFiles) }).meta({ id: 'SoundFilesResponse' }),
    handle: async ({ context, caller, body }) => {
      const stored = await context.data.call(caller, 'list_sound_files', { wanted: JSON.stringify(body) });
      const expires_at = Math.floor(Date.now() / 1000) + signedUrlLifetimeSeconds;
      const sign = async (bucket: string, kind: 'audio' | 'cover') => {
        const paths = stored.flatMap((sound) => sound[kind]?.path ?? []);
        const urls = await context.files.signUrls(bucket, paths, signedUrlLifetimeSeconds);
        return (sound: StoredFiles) => {
          if (sound[kind] === null) return null;
          const { path, ...file } = sound[kind];
          const url = urls.get(path);
          return url ? { url, expires_at, ...file } : null;
        };
      };
      const [audio, cover] = await Promise.all([sign('audio', 'audio'), sign('covers', 'cover')]);
      return { data: stored.map((sound) => ({ ...sound, audio: audio(sound), cover: cover(sound) })) };
    },
  }),
];

import { z } from 'zod';
import { nextCursor } from './cursor.ts';

// SQL builds this JSON, in the views private.sound and private.sound_preview.

/** Date-time in UTC with three fractional digits. */
export const dateTime = z
  .stringFormat('date-time', /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
  .meta({ examples: ['2026-06-23T09:30:00.000Z'] });

export const soundId = z.guid().meta({ examples: ['50000000-0000-4000-8000-000000000001'] });

/** Sound of the contract, as lists contain it. */
export const Sound = z
  .object({
    id: soundId,
    title: z.string().meta({ examples: ['Himalayan bowl in C'] }),
    description: z.nullable(z.string()).meta({ examples: ['A hand-hammered bowl, struck once and left to ring.'] }),
    bowl_note: z.nullable(z.string()).meta({ description: 'The note that a bowl is tuned to.', examples: ['C4'] }),
    frequency_hz: z.nullable(z.number()).meta({ description: 'In hertz.', examples: [261.63] }),
    duration_sec: z.nullable(z.number()).meta({ description: 'In seconds.', examples: [48] }),
    category: z.nullable(z.string()).meta({ description: 'Slug of a category.', examples: ['singing-bowls'] }),
    tags: z.nullable(z.array(z.string())).meta({ examples: [['calm', 'meditation']] }),
    cover_image_url: z.nullable(z.string()).meta({
      description: 'Path in the public storage: append it to `storage_url` of `/config`.',
      examples: ['covers/bowls/c4-singing-bowl.jpg'],
    }),
    is_featured: z.boolean().meta({ examples: [true] }),
    play_count: z.int().meta({ description: 'All plays, by all users.', examples: [1289] }),
    created_at: dateTime,
    cover_placeholder: z.nullable(z.string()).meta({
      description: 'ThumbHash of the cover in base64, to show until the cover has loaded.',
      examples: ['3OcRJYB4d3h/iIeHeEh3eIhw+j3A'],
    }),
    is_premium: z.boolean().meta({
      description: 'True if only customers with premium can play the sound. The same for all callers.',
      examples: [false],
    }),
  })
  .meta({ id: 'Sound' });

/** Compact form in home sections and favorites. */
export const SoundPreview = Sound.pick({
  id: true,
  title: true,
  category: true,
  cover_image_url: true,
  duration_sec: true,
  cover_placeholder: true,
  is_premium: true,
}).meta({ id: 'SoundPreview' });

/** Has its own component, because generators lose a field that is a reference or null. */
export const SoundPreviewOrNull = z.object(SoundPreview.shape).nullable().meta({ id: 'SoundPreviewOrNull' });

const isLocked = z.boolean().meta({
  description: 'True if the sound is premium and the caller has no premium now: there is no audio then.',
  examples: [false],
});

export const audioFacts = {
  loudness_lufs: z.nullable(z.number()).meta({
    description: 'Integrated loudness in LUFS (EBU R 128). Null if it was not measured, or for silence.',
    examples: [-23.4],
  }),
  true_peak_dbtp: z.nullable(z.number()).meta({
    description: 'True peak in dBTP. It may be above 0. Null if it was not measured, or for silence.',
    examples: [-1.2],
  }),
  waveform: z
    .array(z.int())
    .nullable()
    .meta({
      description: 'Peaks of 200 equal parts of the recording, from 0 (silence) to 100 (its highest peak).',
      examples: [Array.from({ length: 200 }, (_, part) => Math.round(100 * 0.98 ** part))],
    }),
};

/** Lifetime of a signed URL, from the contract. */
export const signedUrlLifetimeSeconds = 300;

const storage = 'https://example.supabase.co/storage/v1/object/sign';

export const SoundDetail = Sound.extend({
  cover_image_url: z.nullable(z.string()).meta({
    description: 'Signed URL of the cover, valid as long as `audio_url`.',
    examples: [`${storage}/covers/bowls/c4-singing-bowl.jpg?token=eyJhbGciOi...`],
  }),
  audio_url: z.nullable(z.string()).meta({
    description:
      'Signed URL of the audio, valid for 5 minutes; range requests work. Request it right before playback and do ' +
      'not store it. On any 4xx from it, get this sound again and use the new URL. Null when there is no file, or ' +
      '`is_locked`.',
    examples: [`${storage}/audio/bowls/c4.m4a?token=eyJhbGciOi...`],
  }),
  audio_url_expires_in: z.int().meta({
    description: 'Seconds for which the signed URLs are valid.',
    examples: [signedUrlLifetimeSeconds],
  }),
  ...audioFacts,
  is_locked: isLocked,
}).meta({ id: 'SoundDetail' });

export const fileVersion = z.nullable(z.string()).meta({
  description: 'Changes whenever the content of the file changes; null when there is no file.',
  examples: ['d41d8cd98f00b204e9800998ecf8427e'],
});

const SoundFile = z
  .object({
    url: z.string().meta({
      description: 'Signed URL; range requests work. Begin the download before it expires.',
      examples: [`${storage}/audio/bowls/c4.m4a?token=eyJhbGciOi...`],
    }),
    expires_at: z.int().meta({ description: 'Unix time at which the URL expires.', examples: [1782207300] }),
    content_type: z.nullable(z.string()).meta({ examples: ['audio/mp4'] }),
    bytes: z.nullable(z.int()).meta({ examples: [1048576] }),
    version: fileVersion,
  })
  .nullable()
  .meta({ id: 'SoundFile' });

export const SoundFiles = z
  .object({
    id: soundId,
    audio: SoundFile.meta({ description: 'Null when there is no file, or `is_locked`.' }),
    cover: SoundFile,
    is_locked: isLocked,
  })
  .meta({ id: 'SoundFiles' });

export const SoundPage = z
  .object({
    data: z.array(Sound),
    next_cursor: nextCursor.nullable(),
    corrected_q: z
      .string()
      .optional()
      .meta({
        description:
          'The text of `q` with corrected words, if no sound has the words as typed and `data` are the sounds for this ' +
          'text. Show it ("Showing results for rain"). Absent otherwise.',
        examples: ['rain'],
      }),
  })
  .meta({ id: 'SoundListResponse' });

/** Sound with the paths of its files, as the database returns it. */
export const StoredSound = Sound.extend({
  cover_image_path: z.string().nullable(),
  audio_path: z.string().nullable(),
  ...audioFacts,
  is_locked: isLocked,
});

const StoredFile = SoundFile.unwrap().omit({ url: true, expires_at: true }).extend({ path: z.string() }).nullable();

/** Paths of the files of a sound, as the database returns them. */
export const StoredFiles = SoundFiles.extend({ audio: StoredFile, cover: StoredFile });
export type StoredFiles = z.infer<typeof StoredFiles>;

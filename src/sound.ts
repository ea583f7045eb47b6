import { z } from 'zod';

// The JSON of these nouns is built in SQL (private.sound_json, private.sound_preview_json); this is its shape.

/** Always UTC with three fraction digits. */
export const dateTime = z.iso.datetime({ precision: 3 });

/** A Sound of the contract, as lists carry it. */
export const Sound = z.object({
  id: z.guid(),
  title: z.string(),
  description: z.string().nullable(),
  bowl_note: z.string().nullable(),
  frequency_hz: z.number().nullable(),
  duration_sec: z.number().nullable(),
  category: z.string().nullable(),
  tags: z.array(z.string()).nullable(),
  cover_image_url: z.string().nullable(),
  is_featured: z.boolean(),
  play_count: z.int(),
  created_at: dateTime,
});

/** The compact form inside home sections and favorites. */
export const SoundPreview = Sound.pick({
  id: true,
  title: true,
  category: true,
  cover_image_url: true,
  duration_sec: true,
});

/** How long a signed address lives, in seconds (contract: 5 minutes). */
export const signedUrlLifetimeSeconds = 300 as const;

export const SoundDetail = Sound.extend({
  audio_url: z.string().nullable(),
  audio_url_expires_in: z.literal(signedUrlLifetimeSeconds),
});

// What the stub of Supabase answers: of the size and shape that the service has with a small catalogue.

const uuid = (index: number) => `7d9f1a52-4f0e-4b43-9a5e-${String(index).padStart(12, '0')}`;
const dateTime = (index: number) => new Date(Date.UTC(2026, 5, 1) + index * 61_001).toISOString();
const list = <T>(length: number, item: (index: number) => T) =>
  Array.from({ length }, (_, index) => item(index));

const preview = (index: number) => ({
  id: uuid(index),
  title: `Crystal bowl number ${index}, struck softly`,
  category: 'singing-bowls',
  duration_sec: 300 + index,
  cover_image_url: `covers/bowls/${index}.jpg`,
});

const sound = (index: number) => ({
  ...preview(index),
  description: 'A crystal bowl that is struck once and left to ring until it can be heard no more.',
  bowl_note: 'C4',
  frequency_hz: 261.6,
  tags: ['calm', 'sleep', 'crystal'],
  is_featured: index % 7 === 0,
  play_count: 1_000 + index,
  created_at: dateTime(index),
});

const category = (index: number) => ({
  id: uuid(index),
  name: `Intention ${index}`,
  slug: `intention-${index}`,
  description: 'What these sounds are for, in one sentence.',
  sort_order: index,
});

const section = (index: number) => ({
  id: uuid(index),
  slug: `section-${index}`,
  title: `Section ${index}`,
  mode: 'rule',
  rule_type: 'newest',
  rule_value: null,
  rule_include_children: false,
  sounds: list(12, preview),
});

const customer = {
  id: uuid(1),
  email: 'somebody@example.com',
  full_name: 'Somebody Anybody',
  avatar_url: null,
  phone: '+491701234567',
  provider: 'email',
  source: 'email',
  locale: 'de-DE',
  country: 'DE',
  marketing_opt_in: false,
  is_active: true,
  last_seen_at: dateTime(2),
  created_at: dateTime(1),
  updated_at: dateTime(2),
};

/** The sound that is asked for by its id. */
export const soundId = uuid(1);

/** Paths of the Supabase API, and the JSON that it answers there. */
export const answers = {
  '/rest/v1/rpc/list_home_sections': list(4, section),
  '/rest/v1/rpc/list_sounds': { data: list(50, sound), next_cursor: dateTime(50) },
  '/rest/v1/rpc/list_categories': list(8, (index) => ({ ...category(index), children: list(3, category) })),
  '/rest/v1/rpc/get_customer': customer,
  '/rest/v1/rpc/list_favorites': list(12, (index) => ({
    sound_id: uuid(index),
    created_at: dateTime(index),
    sounds: preview(index),
  })),
  '/rest/v1/rpc/get_sound': { ...sound(1), audio_path: 'bowls/1.m4a', cover_image_path: 'bowls/1.jpg' },
  '/rest/v1/rpc/count_play': { id: soundId, play_count: 1_001 },
  '/storage/v1/object/sign/audio/bowls/1.m4a': {
    signedURL: `/object/sign/audio/bowls/1.m4a?token=${'t'.repeat(220)}`,
  },
  '/storage/v1/object/sign/covers/bowls/1.jpg': {
    signedURL: `/object/sign/covers/bowls/1.jpg?token=${'t'.repeat(220)}`,
  },
  '/auth/v1/health': { name: 'GoTrue' },
  '/auth/v1/.well-known/jwks.json': { keys: [] },
};

import { createSounds, type Favorite } from 'sounds-client';

// The server of this page passes /api on to the service.
export const sounds = createSounds({
  url: `${location.origin}/api/v1`,
  store: localStorage,
  onSession: ({ type }) => void dispatchEvent(new Event(type)),
});

/** What all lists tell of a sound. */
export type Preview = NonNullable<Favorite['sounds']>;

export const favorites = new Set<string>();

export async function loadFavorites() {
  const list = await sounds.favorites.list();
  favorites.clear();
  for (const { sound_id } of list) favorites.add(sound_id);
  dispatchEvent(new Event('favorites'));
  return list;
}

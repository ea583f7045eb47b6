import { createSounds, type Favorite, type SessionEvent, type Wait } from 'sounds-client';

// What happens in one part of the page, and others show; `player` and `favorites` without more.
declare global {
  interface WindowEventMap {
    session: CustomEvent<SessionEvent>;
    wait: CustomEvent<Wait>;
  }
}

// The server of this page passes /api on to the service.
export const api = createSounds({
  url: `${location.origin}/api/v1`,
  store: localStorage,
  onSession: (detail) => dispatchEvent(new CustomEvent('session', { detail })),
  onWait: (detail) => dispatchEvent(new CustomEvent('wait', { detail })),
});

export type Preview = NonNullable<Favorite['sounds']>;

export const favorites = new Set<string>();

const channel = new BroadcastChannel('favorites');
channel.onmessage = ({ data: [id, isFavorite] }: MessageEvent<[string, boolean]>) => mark(id, isFavorite);

function mark(id: string, isFavorite: boolean) {
  if (isFavorite) favorites.add(id);
  else favorites.delete(id);
  dispatchEvent(new Event('favorites'));
}

export async function setFavorite(id: string, isFavorite: boolean) {
  mark(id, isFavorite);
  channel.postMessage([id, isFavorite]);
  await (isFavorite ? api.favorites.add(id) : api.favorites.remove(id));
}

export async function loadFavorites() {
  const list = await Array.fromAsync(api.favorites.list());
  favorites.clear();
  for (const { sound_id } of list) favorites.add(sound_id);
  dispatchEvent(new Event('favorites'));
  return list;
}

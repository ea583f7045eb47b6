import { createSounds, type Favorite, type SessionEvent, type Wait } from 'sounds-client';

/** What happens in one part of the page, and others show. */
export type Events = { session: SessionEvent; wait: Wait; favorites: undefined; player: undefined };

export function emit<Name extends keyof Events>(name: Name, detail?: Events[Name]) {
  dispatchEvent(new CustomEvent(name, { detail }));
}

export function on<Name extends keyof Events>(name: Name, listener: (detail: Events[Name]) => void) {
  addEventListener(name, (event) => listener((event as CustomEvent<Events[Name]>).detail));
}

// The server of this page passes /api on to the service.
export const sounds = createSounds({
  url: `${location.origin}/api/v1`,
  store: localStorage,
  onSession: (event) => emit('session', event),
  onWait: (wait) => emit('wait', wait),
});

export type Preview = NonNullable<Favorite['sounds']>;

export const favorites = new Set<string>();

const channel = new BroadcastChannel('favorites');
channel.onmessage = ({ data: [id, isFavorite] }: MessageEvent<[string, boolean]>) => mark(id, isFavorite);

function mark(id: string, isFavorite: boolean) {
  if (isFavorite) favorites.add(id);
  else favorites.delete(id);
  emit('favorites');
}

export async function setFavorite(id: string, isFavorite: boolean) {
  mark(id, isFavorite);
  channel.postMessage([id, isFavorite]);
  await (isFavorite ? sounds.favorites.add(id) : sounds.favorites.remove(id));
}

export async function loadFavorites() {
  const list = await sounds.favorites.list();
  favorites.clear();
  for (const { sound_id } of list) favorites.add(sound_id);
  emit('favorites');
  return list;
}

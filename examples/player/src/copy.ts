import type { Category } from 'sounds-client';
import { api, lists, type Preview } from './api.ts';
import { readPositions } from './positions.ts';
import { premiumUntil } from './premium.ts';

// Parts of the copy on the device that all screens need.

export const favorites = new Set<string>();
export let categories: Category[] = [];
/** Most frequent tags. */
export let tags: string[] = [];
let syncedAt: Date | null = null;

/** Reads the copy. */
async function read() {
  const [sounds, liked] = await Promise.all([api.offline.list(), api.offline.favorites(), readPositions()]);
  categories = await api.offline.categories();
  syncedAt = await api.offline.syncedAt();
  tags = mostFrequent(sounds.flatMap((sound) => sound.tags ?? [])).slice(0, 12);
  favorites.clear();
  for (const { sound_id } of liked) favorites.add(sound_id);
  dispatchEvent(new Event('favorites'));
}

/** Returns each text once, the most frequent one first. */
function mostFrequent(texts: string[]) {
  const counts: Record<string, number> = {};
  for (const text of texts) counts[text] = (counts[text] ?? 0) + 1;
  return Object.keys(counts).sort((a, b) => (counts[b] ?? 0) - (counts[a] ?? 0));
}

/** Updates the copy. If this fails, the next call updates it. */
async function sync() {
  if ((await api.auth.user()) === null) return;
  await Promise.allSettled([api.offline.sync(), premiumUntil(), lists.sync()]);
  await read().catch(async (error) => {
    if ((await api.auth.user()) !== null) throw error; // not signed out meanwhile
  });
}

/** Settles when the copy of the last visit has been read, which needs no network. */
export const restored = api.auth.user().then((user) => (user ? read() : undefined));

/** Settles when the copy has been made or updated. Without a network, settles with the copy of the last visit. */
export let ready = restored.then(() => (copyInUse() ? undefined : sync()));
addEventListener('online', sync);
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) void sync();
});
addEventListener('session', ({ detail: { type } }) => {
  if (type === 'signedIn') ready = sync();
  if (type === 'adopted') ready = ready.then(sync); // a copy in progress may lack what the guest did
});

/** Returns the date of the copy if there is no network. Otherwise, or without a copy, returns null. */
export const copyInUse = () => (navigator.onLine ? null : syncedAt);

export function categoryOf({ category }: Preview): string {
  const all = categories.flatMap((parent) => [parent, ...parent.children]);
  return all.find(({ slug }) => slug === category)?.name ?? '';
}

export async function setFavorite(id: string, isFavorite: boolean) {
  if (isFavorite) favorites.add(id);
  else favorites.delete(id);
  dispatchEvent(new Event('favorites'));
  await (isFavorite ? api.favorites.add(id) : api.favorites.remove(id));
}

import {
  type Category,
  createSounds,
  type Favorite,
  type ProgressEntry,
  type SessionEvent,
  type Wait,
} from 'sounds-client';
import { createLists } from 'sounds-client/lists';

// Events between the parts of the page. `player`, `favorites` and `positions` have no data.
declare global {
  interface WindowEventMap {
    session: CustomEvent<SessionEvent>;
    wait: CustomEvent<Wait>;
  }
}

// The server of this page forwards /api to the service.
export const api = createSounds({
  url: `${location.origin}/api/v1`,
  store: localStorage,
  onSession: (detail) => dispatchEvent(new CustomEvent('session', { detail })),
  onWait: (detail) => dispatchEvent(new CustomEvent('wait', { detail })),
});

/** Mixes and playlists of the user. */
export const lists = createLists({ api, store: localStorage });

/** A sound in a list. */
export type Preview = NonNullable<Favorite['sounds']>;

// Parts of the copy on the device that all screens need.
export const favorites = new Set<string>();
/** Seconds at which the user stopped, by the id of the sound. */
export const positions = new Map<string, number>();
export let categories: Category[] = [];
/** Most frequent tags. */
export let tags: string[] = [];
let syncedAt: Date | null = null;
/** Undefined until it is known. */
let hasPremium: boolean | undefined;

/** Tells whether the user needs premium for a sound. The service decides; this is for the screens. */
export const isLocked = ({ is_premium }: Preview) => is_premium && hasPremium === false;

/** Returns the end of the user's premium, or null. */
export async function premiumUntil() {
  const { premium_until } = await api.customer.get();
  hasPremium = premium_until !== null && new Date(premium_until) > new Date();
  return hasPremium ? premium_until : null;
}

async function read() {
  const [sounds, liked] = await Promise.all([api.offline.list(), api.offline.favorites(), readPositions()]);
  categories = await api.offline.categories();
  syncedAt = await api.offline.syncedAt();
  const counts: Record<string, number> = {};
  for (const tag of sounds.flatMap((sound) => sound.tags ?? [])) counts[tag] = (counts[tag] ?? 0) + 1;
  const byCount = Object.entries(counts).sort(([, a], [, b]) => b - a);
  tags = byCount.slice(0, 12).map(([tag]) => tag);
  favorites.clear();
  for (const { sound_id } of liked) favorites.add(sound_id);
  dispatchEvent(new Event('favorites'));
}

/** Settles when the last position is stored. */
let saving = Promise.resolve();

async function readPositions() {
  let heard: ProgressEntry[];
  let saved: typeof saving;
  do {
    saved = saving;
    await saved.catch(() => {});
    heard = await api.progress.list();
  } while (saved !== saving); // otherwise an older position would replace the one that was saved meanwhile
  positions.clear();
  for (const { sound_id, position_sec, sounds } of heard)
    if (canResume(position_sec, sounds?.duration_sec)) positions.set(sound_id, position_sec);
  dispatchEvent(new Event('positions'));
}

/** Tells whether to resume at a position. Ignores the first and last 15 s, where other apps may save positions. */
export const canResume = (seconds: number, length?: number | null) =>
  seconds >= 15 && !(length && seconds > length - 15);

/** Time limit for the positions of other devices, because the user waits for the sound. */
const catchUpLimitMs = 1_500;

let caughtUpAt = 0;

/**
 * Gets the positions of other devices before a sound plays, unless that takes long.
 * @param knownForMs time for which positions are not requested again
 */
export async function catchUp(knownForMs = 0) {
  if (!navigator.onLine || Date.now() - caughtUpAt < knownForMs) return;
  try {
    await api.progress.sync({ signal: AbortSignal.timeout(catchUpLimitMs) });
    caughtUpAt = Date.now();
    await readPositions();
  } catch {
    // The sound starts at the newest position that this device has.
  }
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
  if (document.hidden) void api.progress.flush({ keepalive: true }).catch(() => {});
  else void sync();
});
addEventListener('session', ({ detail: { type } }) => {
  if (type === 'signedIn') ready = sync();
  if (type === 'adopted') ready = ready.then(sync); // a copy in progress may lack what the guest did
  if (type !== 'signedOut') return;
  positions.clear();
  hasPremium = undefined;
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

/** Sends positions at once, because the user may go on with another device. */
export const sendPositions = () => saving.then(() => api.progress.flush()).catch(() => {});

/** Saves where the user is in a sound. Null removes the position. */
export async function savePosition(id: string, seconds: number | null) {
  if (seconds === null) positions.delete(id);
  else positions.set(id, seconds);
  dispatchEvent(new Event('positions'));
  saving = api.progress.save(id, seconds);
  await saving;
}

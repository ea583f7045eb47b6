import { type CallOptions, dataOf, signalOf } from './call.ts';
import { previewOf, uuid } from './catalogue.ts';
import { bySound } from './entries.ts';
import { createFavoriteChanges } from './favorite-changes.ts';
import type { Parts } from './parts.ts';
import type { Favorite } from './resources.ts';

/** Maximum number of ids in one call of `GET /sounds`. */
const idsAtOnce = 100;

const favoriteOf = (sound: Parameters<typeof previewOf>[0]): Favorite => ({
  sound_id: sound.id,
  created_at: new Date().toISOString(),
  sounds: previewOf(sound),
});

/** The user's favorites, which can be changed without a network. */
export interface Favorites extends Omit<ReturnType<typeof createFavorites>, 'outbox'> {}

export function createFavorites(parts: Parts) {
  const { api, session, favoritesCopy: copy, find, withCovers } = parts;
  const changes = createFavoriteChanges(parts);

  async function want(id: string, isFavorite: boolean) {
    const { user } = await session.current();
    await changes.update(user.id, (unsent) => {
      unsent[id] = isFavorite;
    });
    const sound = await find(id);
    await copy.update(user.id, (favorites) => {
      if (!isFavorite) delete favorites[id];
      else if (sound) favorites[id] ??= favoriteOf(sound);
    });
    changes.sendSoon();
  }

  /** Returns favorites that are not sent yet. Omits sounds that no longer exist. */
  async function newFavorites(ids: string[], options?: CallOptions): Promise<Favorite[]> {
    const found: Favorite[] = [];
    for (let first = 0; first < ids.length; first += idsAtOnce) {
      const query = { ids: ids.slice(first, first + idsAtOnce) };
      const data = await dataOf(api.GET('/sounds', { params: { query }, ...signalOf(options) }));
      found.push(...data.map(favoriteOf));
    }
    return found;
  }

  return {
    /** Adds a favorite. Resolves when the change is stored; it is sent at once, or later by `flush`. */
    add: (id: string) => want(id, true),

    /** Removes a favorite. Resolves when the change is stored, as `add` does. */
    remove: (id: string) => want(id, false),

    /**
     * Lists the favorites, newest first, including unsent changes. `sounds` is null while a sound is hidden.
     */
    async *list(options?: CallOptions): AsyncGenerator<Favorite, void> {
      const { user } = await session.current();
      const before = await changes.read(user.id);
      const data = await withCovers(dataOf(api.GET('/favorites', signalOf(options))));
      const wishes = { ...before, ...(await changes.read(user.id)) };
      const known = new Set(data.map(({ sound_id }) => sound_id));
      const added = Object.keys(wishes)
        .filter((id) => wishes[id] && !known.has(id) && uuid.test(id))
        .reverse();
      const list = [
        ...(await newFavorites(added, options)),
        ...data.filter(({ sound_id }) => wishes[sound_id] !== false),
      ];
      await copy.replace(user.id, bySound(list));
      yield* list;
    },

    /**
     * Sends unsent changes. The client does this after each change, when it is created, and when a browser is online
     * again. In React Native, call it when the network is back.
     * @throws SoundsError if changes are kept, or if the service has refused one since the last call, such as by
     *   `too_many_favorites`; only a refused change is dropped
     */
    flush: changes.flush,

    outbox: changes,
  };
}

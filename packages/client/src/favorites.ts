import type { Client } from 'openapi-fetch';
import { answer, type CallOptions, signalOf } from './call.ts';
import { type Finder, previewOf } from './catalogue.ts';
import type { paths } from './document.types.ts';
import { createEntries, type Entries } from './entries.ts';
import { SoundsError } from './error.ts';
import type { Schema } from './schema.ts';
import type { DeviceSession } from './session.ts';
import type { Store } from './store.ts';

/** A favorite of the user; `sounds` is null while the sound is hidden. */
export interface Favorite extends Schema<'Favorite'> {}

type Options = {
  api: Client<paths>;
  session: DeviceSession;
  store: Store;
  /** The copy for use without a network. */
  copy: Entries<Favorite>;
  find: Finder;
  /** Loads the address of covers. */
  covers: () => Promise<void>;
};

/** The favorite that a sound becomes now. */
const favoriteOf = (sound: Parameters<typeof previewOf>[0]): Favorite => ({
  sound_id: sound.id,
  created_at: new Date().toISOString(),
  sounds: previewOf(sound),
});

const isNotFound = (error: unknown) => error instanceof SoundsError && error.code === 'not_found';

/** The user's favorites, which can be changed without a network. */
export interface Favorites extends Omit<ReturnType<typeof createFavorites>, 'forget'> {}

export function createFavorites({ api, session, store, copy, find, covers }: Options) {
  /** Changes that the service does not have yet: true adds a favorite, false removes it. */
  const wanted = createEntries<boolean>(store, 'favorites');

  /** Why the service did not take a wish; `flush` tells. */
  let rejection: SoundsError | undefined;

  async function want(id: string, isFavorite: boolean) {
    const { user } = await session.current();
    await wanted.update(user.id, (entries) => {
      entries[id] = isFavorite;
    });
    const sound = await find(id);
    await copy.update(user.id, (entries) => {
      if (!isFavorite) delete entries[id];
      else if (sound) entries[id] ??= favoriteOf(sound);
    });
    send().catch(() => {}); // it stays wanted
  }

  async function send(options?: CallOptions): Promise<void> {
    const user = (await session.load())?.user.id;
    if (user === undefined) return;
    await wanted.sending(user, async () => {
      for (const [id, isFavorite] of Object.entries(await wanted.read(user))) {
        await sendOne(user, id, isFavorite, options);
        await wanted.update(user, (entries) => {
          if (entries[id] === isFavorite) delete entries[id]; // or they changed their mind meanwhile
        });
      }
    });
  }

  /** Resolves, too, where the service will never take it. @throws SoundsError what holds for all others, too */
  async function sendOne(user: string, id: string, isFavorite: boolean, options?: CallOptions) {
    const fetch = (request: Request) => session.fetch(request, { userId: user });
    const init = { fetch, ...signalOf(options) };
    try {
      if (isFavorite) await api.POST('/favorites', { body: { sound_id: id }, ...init });
      else await api.DELETE('/favorites/{soundId}', { params: { path: { soundId: id } }, ...init });
    } catch (error) {
      if (isNotFound(error)) return;
      if (!(error instanceof SoundsError) || error.code !== 'invalid_request') throw error;
      rejection ??= error;
    }
  }

  /** A favorite that the service does not know of yet; none where the sound is gone. */
  async function newFavorite(id: string, options?: CallOptions): Promise<Favorite[]> {
    const init = { params: { path: { id } }, ...signalOf(options) };
    try {
      const { data } = await answer(api.GET('/sounds/{id}', init));
      return [favoriteOf(data)];
    } catch (error) {
      if (isNotFound(error)) return [];
      throw error;
    }
  }

  return {
    /** Resolves when the wish is stored. It is sent at once, or when there is a network: see `flush`. */
    add: (id: string) => want(id, true),

    /** As `add`. */
    remove: (id: string) => want(id, false),

    /**
     * The favorites as the user wants them, the newest first, whether or not the service knows. One whose `sounds` is null
     * is hidden at present.
     */
    async *list(options?: CallOptions): AsyncGenerator<Favorite, void> {
      const { user } = await session.current();
      const before = await wanted.read(user.id);
      const asked = api.GET('/favorites', signalOf(options));
      const [{ data }] = await Promise.all([answer(asked), covers()]);
      const wishes = { ...before, ...(await wanted.read(user.id)) };
      const known = new Set(data.map(({ sound_id }) => sound_id));
      const added = Object.keys(wishes).filter((id) => wishes[id] && !known.has(id));
      const list = [
        ...(await Promise.all(added.map((id) => newFavorite(id, options)))).flat(),
        ...data.filter(({ sound_id }) => wishes[sound_id] !== false),
      ];
      if ((await session.current()).user.id === user.id)
        await copy.replace(user.id, Object.fromEntries(list.map((each) => [each.sound_id, each])));
      yield* list;
    },

    /**
     * Sends what waits. The client does so by itself after each change, when it is made, and when a browser is back on the
     * network; elsewhere, call it then. @throws SoundsError what kept something waiting, or why the service rejected something
     * since the last time, such as `too_many_favorites`: that is dropped
     */
    async flush(options?: CallOptions): Promise<void> {
      await send(options);
      const rejected = rejection;
      rejection = undefined;
      if (rejected) throw rejected;
    },

    forget: wanted.forget,
  };
}

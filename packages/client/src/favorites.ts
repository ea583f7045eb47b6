import { answer, type CallOptions, signalOf } from './call.ts';
import { previewOf, uuid } from './catalogue.ts';
import { createEntries } from './entries.ts';
import { SoundsError } from './error.ts';
import type { Parts } from './parts.ts';
import type { Favorite } from './resources.ts';
import { pause } from './wait.ts';

/** Maximum number of ids in one call of `GET /sounds`. */
const idsAtOnce = 100;

/** Share of the user's requests that unsent changes leave to the app. */
const shareOfApp = 1 / 3;

const favoriteOf = (sound: Parameters<typeof previewOf>[0]): Favorite => ({
  sound_id: sound.id,
  created_at: new Date().toISOString(),
  sounds: previewOf(sound),
});

const isNotFound = (error: unknown) => error instanceof SoundsError && error.code === 'not_found';

/** The user's favorites, which can be changed without a network. */
export interface Favorites extends Omit<ReturnType<typeof createFavorites>, 'forget'> {}

export function createFavorites({ api, session, waiting, store, favoritesCopy: copy, find, covers }: Parts) {
  const { timeLimitMs, service } = waiting;

  /** Unsent changes: true adds a favorite, false removes it. */
  const wanted = createEntries<boolean>(store, 'favorites');

  /** Error of a change that the service rejected. The next `flush` throws it. */
  let rejection: SoundsError | undefined;

  /** Timer of the next call of `send`. */
  let sendingLater: ReturnType<typeof setTimeout> | undefined;

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
    sendSoon();
  }

  function sendSoon() {
    send().catch(() => {}); // a failed change stays in `wanted`
  }

  /** Sends unsent changes until the time limit. Sends the others when the service allows more requests. */
  async function send(options?: CallOptions): Promise<void> {
    const deadline = performance.now() + timeLimitMs;
    const user = (await session.load())?.user.id;
    if (user === undefined) return;
    const sendAll = async () => {
      for (const [id, isFavorite] of Object.entries(await wanted.read(user))) {
        const pauseMs = service.pauseMs(shareOfApp);
        if (performance.now() + pauseMs >= deadline) {
          clearTimeout(sendingLater);
          sendingLater = setTimeout(sendSoon, pauseMs);
          return;
        }
        if (pauseMs > 0) await pause(pauseMs, options?.signal);
        await sendOne(user, id, isFavorite, options);
        await wanted.update(user, (entries) => {
          if (entries[id] === isFavorite) delete entries[id]; // unless the user has changed it again meanwhile
        });
      }
    };
    await wanted.sending(user, timeLimitMs, sendAll, options?.signal);
  }

  /** Sends one change, or sets `rejection`. @throws SoundsError if the other changes cannot be sent either */
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

  /** Returns favorites that are not sent yet, without sounds that do not exist any more. */
  async function newFavorites(ids: string[], options?: CallOptions): Promise<Favorite[]> {
    const found: Favorite[] = [];
    for (let first = 0; first < ids.length; first += idsAtOnce) {
      const query = { ids: ids.slice(first, first + idsAtOnce) };
      const { data } = await answer(api.GET('/sounds', { params: { query }, ...signalOf(options) }));
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
      const before = await wanted.read(user.id);
      const asked = api.GET('/favorites', signalOf(options));
      const [{ data }] = await Promise.all([answer(asked), covers()]);
      const wishes = { ...before, ...(await wanted.read(user.id)) };
      const known = new Set(data.map(({ sound_id }) => sound_id));
      const added = Object.keys(wishes)
        .filter((id) => wishes[id] && !known.has(id) && uuid.test(id))
        .reverse();
      const list = [
        ...(await newFavorites(added, options)),
        ...data.filter(({ sound_id }) => wishes[sound_id] !== false),
      ];
      if ((await session.current()).user.id === user.id)
        await copy.replace(user.id, Object.fromEntries(list.map((each) => [each.sound_id, each])));
      yield* list;
    },

    /**
     * Sends unsent changes. The client does this after each change, when it is created, and when a browser is online
     * again. In React Native, call it when the network is back.
     * @throws SoundsError if changes cannot be sent, or if the service has rejected one since the last call, such as by
     *   `too_many_favorites`; a rejected change is dropped
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

import { type CallOptions, signalOf } from './call.ts';
import { createEntries } from './entries.ts';
import { SoundsError } from './error.ts';
import type { Parts } from './parts.ts';
import { canGoOn, createFlush } from './refusal.ts';
import { pause } from './wait.ts';

/** Share of the user's requests that unsent changes leave to the app. */
const shareOfApp = 1 / 3;

/** Tells whether the service refuses a favorite. Other errors say nothing about it. */
const isRefusal = ({ reason, field }: SoundsError) =>
  reason === 'too_many_favorites' || (reason === 'validation' && field === 'sound_id');

/** Keeps changes of the user's favorites until they are sent. */
export function createFavoriteChanges({ session, waiting, store }: Parts) {
  const { timeLimitMs, service } = waiting;

  /** Unsent changes: true adds a favorite, false removes it. */
  const wanted = createEntries<boolean>(store, 'favorites');

  /** Timer of the next call of `send`. */
  let sendingLater: ReturnType<typeof setTimeout> | undefined;

  const { flush, refuse } = createFlush(send);

  function sendSoon() {
    send().catch(() => {}); // a failed change stays in `wanted`
  }

  /** Sends unsent changes until the time limit. Sends the others when the service allows more requests. */
  async function send(options?: CallOptions): Promise<void> {
    const deadline = performance.now() + timeLimitMs;
    const user = (await session.load())?.user.id;
    if (user === undefined) return;
    await wanted.sending(user, timeLimitMs, () => sendAll(user, deadline, options), options?.signal);
  }

  /** @throws SoundsError if changes are kept, after it has sent the others */
  async function sendAll(user: string, deadline: number, options?: CallOptions) {
    let kept: SoundsError | undefined;
    for (const [id, isFavorite] of Object.entries(await wanted.read(user))) {
      const pauseMs = service.pauseMs(shareOfApp);
      if (performance.now() + pauseMs >= deadline) {
        clearTimeout(sendingLater);
        if (!kept) sendingLater = setTimeout(sendSoon, pauseMs);
        break;
      }
      if (pauseMs > 0) await pause(pauseMs, options?.signal);
      const error = await sendOne(user, id, isFavorite, options);
      kept ??= error;
      await wanted.update(user, (entries) => {
        if (entries[id] !== isFavorite) return; // the user has changed it again meanwhile
        delete entries[id];
        if (error) entries[id] = isFavorite; // at the end, so that it does not hold up the others
      });
    }
    if (kept) throw kept;
  }

  /**
   * Sends one change.
   * @returns the error if the change must be kept
   * @throws SoundsError if the other changes cannot be sent either
   */
  async function sendOne(user: string, id: string, isFavorite: boolean, options?: CallOptions) {
    const api = session.api({ userId: user });
    try {
      if (isFavorite) await api.POST('/favorites', { body: { sound_id: id }, ...signalOf(options) });
      else await api.DELETE('/favorites/{soundId}', { params: { path: { soundId: id } }, ...signalOf(options) });
    } catch (error) {
      if (!(error instanceof SoundsError)) throw error;
      if (isRefusal(error)) refuse(error);
      else if (error.reason !== 'no_such_sound') {
        if (!canGoOn(error)) throw error;
        return error;
      }
    }
    return undefined;
  }

  return {
    read: wanted.read,
    forget: wanted.forget,
    send,
    flush,

    /** Stores a change, and calls `copied` before it is sent. */
    async want(user: string, id: string, isFavorite: boolean, copied: () => Promise<void>) {
      await wanted.update(user, (entries) => {
        entries[id] = isFavorite;
      });
      await copied();
      sendSoon();
    },
  };
}

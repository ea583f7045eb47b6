import type { Api } from './api.ts';
import { type CallOptions, signalOf } from './call.ts';
import { createEntries } from './entries.ts';
import type { SoundsError } from './error.ts';
import type { Parts } from './parts.ts';
import { canSendOthers, createFlush } from './refusal.ts';
import { pause } from './wait.ts';

/** Share of the user's request limit that sending changes leaves free for the app. */
const shareOfApp = 1 / 3;

/** Tells whether the service rejects the favorite itself. Other errors concern the request. */
const isRefusal = ({ reason, field }: SoundsError) =>
  reason === 'too_many_favorites' || (reason === 'validation' && field === 'sound_id');

/** Keeps changes of the user's favorites until they are sent: true adds a favorite, false removes it. */
export function createFavoriteChanges({ session, store, waiting: { timeLimitMs, service } }: Parts) {
  const changes = createEntries<boolean>(store, 'favorites');
  /** Timer of the next call of `send`. */
  let sendingLater: ReturnType<typeof setTimeout> | undefined;

  const { flush, refuse } = createFlush(send);

  function sendSoon() {
    send().catch(() => {}); // a failed change stays in the store
  }

  /** Sends unsent changes until the time limit. Sends the rest when the service allows more requests. */
  async function send(options?: CallOptions): Promise<void> {
    const deadline = performance.now() + timeLimitMs;
    const user = (await session.load())?.user.id;
    if (user === undefined) return;
    await changes.sending(user, timeLimitMs, () => sendAll(user, deadline, options), options?.signal);
  }

  /** Sends all changes of a user. @throws SoundsError at the end if some of them could not be sent */
  async function sendAll(user: string, deadline: number, options?: CallOptions) {
    const api = session.api({ userId: user });
    let kept: SoundsError | undefined;
    for (const [id, isFavorite] of Object.entries(await changes.read(user))) {
      const pauseMs = service.pauseMs(shareOfApp);
      if (performance.now() + pauseMs >= deadline) {
        clearTimeout(sendingLater);
        if (!kept) sendingLater = setTimeout(sendSoon, pauseMs);
        break;
      }
      if (pauseMs > 0) await pause(pauseMs, options?.signal);
      let error: SoundsError | undefined;
      try {
        await sendChange(api, id, isFavorite, options);
      } catch (thrown) {
        if (!canSendOthers(thrown)) throw thrown;
        if (isRefusal(thrown)) refuse(thrown);
        else if (thrown.reason !== 'no_such_sound') error = thrown;
      }
      kept ??= error;
      await changes.update(user, (entries) => {
        if (entries[id] !== isFavorite) return; // the user has changed it again meanwhile
        delete entries[id];
        if (error) entries[id] = isFavorite; // at the end, so that it does not hold up the others
      });
    }
    if (kept) throw kept;
  }

  return { ...changes, send, sendSoon, flush };
}

async function sendChange(api: Api, id: string, isFavorite: boolean, options?: CallOptions) {
  if (isFavorite) await api.POST('/favorites', { body: { sound_id: id }, ...signalOf(options) });
  else await api.DELETE('/favorites/{soundId}', { params: { path: { soundId: id } }, ...signalOf(options) });
}

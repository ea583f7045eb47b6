import { createApi } from './api.ts';
import { answer, type CallOptions, signalOf } from './call.ts';
import { createEntries, type Entries } from './entries.ts';
import type { SoundsError } from './error.ts';
import { exclusively } from './lock.ts';
import { canSendOthers } from './refusal.ts';
import { send, type Waiting } from './send.ts';
import { type DeviceSession, tokenlessClient, withNewTokens, withToken } from './session.ts';
import type { Store } from './store.ts';
import { type Session, type SessionEvent, toSession, type User, userOf } from './stored-session.ts';

interface Shared {
  url: string;
  waiting: Waiting;
  session: DeviceSession;
}

/** Parts of the client that an adoption needs. */
export interface Adopting extends Shared {
  store: Store;
  /** Sessions of guests that wait for their adoption, for each user. A sign-in over a guest adds one (keepGuest). */
  guests: Entries<Session>;
  /** Sends what is unsent, and reads the copies of favorites, history and positions anew. */
  data: { send: () => void; refresh: () => Promise<unknown> };
  onSession: (event: SessionEvent) => void;
}

/** Names of the outboxes that the client keeps for each user. */
const outboxes = ['favorites', 'plays', 'progress', 'lists'];

/** Returns the user of this device, or makes a guest. Concurrent calls make only one guest. */
export const continueAsGuest = ({ url, waiting, session }: Shared, options?: CallOptions): Promise<User> =>
  exclusively(
    'sounds.guest',
    async () => {
      const present = (await session.load())?.user;
      if (present) return present;
      const client = tokenlessClient(url, waiting, false);
      const { data } = await answer(client.POST('/auth/guest', signalOf(options)));
      const signedIn = (await session.load())?.user; // while the guest was made, which may take a minute
      if (signedIn) return signedIn;
      const guest = toSession(data, userOf(data.user));
      await session.begin(guest);
      return guest.user;
    },
    waiting.timeLimitMs,
  );

/**
 * Has the user adopt the guests that wait for it. One that the service answers with an error, also with a 5xx, is
 * reported as `notAdopted`, stays, and does not hold up the others.
 * @throws SoundsError if none can be adopted now: without an answer of the service, or at a 401 or 429
 */
export async function adoptGuests(parts: Adopting, user: User): Promise<void> {
  const { guests, waiting, data, onSession } = parts;
  let isAdopted = false;
  async function adoptAll() {
    for (const guest of Object.values(await guests.read(user.id)))
      try {
        await adoptGuest(parts, user.id, guest);
        isAdopted = true;
      } catch (error) {
        if (!canSendOthers(error)) throw error;
        onSession({ type: 'notAdopted', user, error });
      }
  }
  try {
    await guests.sending(user.id, waiting.timeLimitMs, adoptAll);
  } finally {
    if (isAdopted) {
      data.send();
      await data.refresh().catch(() => {}); // the app can read the collections again
      onSession({ type: 'adopted', user }); // lists.ts then reads the lists again
    }
  }
}

/** Adopts a guest, and moves what it has not sent to the user. */
async function adoptGuest(parts: Adopting, owner: string, guest: Session): Promise<void> {
  const { store, guests } = parts;
  await callAdoption(parts, owner, guest);
  await createEntries<{ version: number }>(store, 'lists').update(guest.user.id, asNew);
  for (const name of outboxes) await moveUnsent(createEntries(store, name), guest.user.id, owner);
  await guests.update(owner, (sessions) => {
    delete sessions[guest.user.id];
  });
}

/**
 * Sends the favorites that the guest has removed, then calls the adoption. Succeeds also if it was done before and its
 * response was lost, or if the guest's session is over: what the guest has sent is lost then, because nobody can sign
 * in as the guest.
 */
async function callAdoption(parts: Adopting, owner: string, guest: Session): Promise<void> {
  const post = async (tokens: Session) => {
    await sendRemovals(parts, tokens);
    const { access_token } = tokens;
    await parts.session.api({ userId: owner }).POST('/me/guest', { body: { access_token } });
  };
  try {
    await post(guest);
  } catch (error) {
    const { reason } = error as SoundsError;
    if (reason === 'no_such_guest') return; // adopted before
    // `token_invalid` comes from sendRemovals, because the client renews the token of the user itself.
    if (reason !== 'token_invalid' && reason !== 'guest_token_invalid') throw error;
    const fresh = await refreshed(parts, owner, guest);
    if (fresh) await post(fresh); // otherwise the session is over
  }
}

/**
 * Sends the unsent removals of a guest's favorites as the guest, because as the user they would also remove what the user
 * had before.
 */
async function sendRemovals({ url, waiting, store }: Adopting, guest: Session): Promise<void> {
  const api = createApi(url, (request, isAnswer) =>
    send(withToken(request, guest), { ...waiting, repeatable: true, isAnswer }),
  );
  const unsent = createEntries<boolean>(store, 'favorites');
  for (const [soundId, isFavorite] of Object.entries(await unsent.read(guest.user.id))) {
    if (isFavorite) continue;
    await api.DELETE('/favorites/{soundId}', { params: { path: { soundId } } }).catch((error: SoundsError) => {
      if (error.reason !== 'no_such_sound') throw error;
    });
    await unsent.update(guest.user.id, (changes) => {
      delete changes[soundId];
    });
  }
}

/** Stores and returns new tokens of a guest; null if its session is over. */
async function refreshed({ url, waiting, guests }: Adopting, owner: string, guest: Session): Promise<Session | null> {
  const fresh = await withNewTokens(url, waiting, guest);
  if (fresh)
    await guests.update(owner, (sessions) => {
      sessions[guest.user.id] = fresh;
    });
  return fresh;
}

/**
 * Makes edits of lists count as new lists, because a list for which the user had no room was not moved. The service
 * answers `too_many` then, so that the edit stays, and not `deleted`. Edits of lists that were moved are merged.
 */
function asNew(edits: Record<string, { version: number }>) {
  for (const edit of Object.values(edits)) edit.version = 0;
}

/**
 * Moves unsent changes of a guest to the user. If both have changed the same thing, keeps the newer change where changes
 * have a time (positions and lists), and the user's own otherwise (favorites). Drops removals of favorites that could
 * not be sent as the guest.
 */
const moveUnsent = (outbox: Entries<{ updated_at?: string }>, guest: string, owner: string): Promise<void> =>
  outbox.update(guest, (unsent) =>
    outbox.update(owner, (own) => {
      for (const [key, change] of Object.entries(unsent)) {
        delete unsent[key];
        if (!change) continue; // a removal of a favorite
        const present = own[key];
        const isNewer = (change.updated_at ?? '') > (present?.updated_at ?? ''); // false for changes without a time
        if (present === undefined || isNewer) own[key] = change;
      }
    }),
  );

import { answer, type CallOptions, signalOf } from './call.ts';
import { createEntries, type Entries } from './entries.ts';
import type { SoundsError } from './error.ts';
import { exclusively } from './lock.ts';
import type { Waiting } from './send.ts';
import { type DeviceSession, tokenlessClient } from './session.ts';
import type { Store } from './store.ts';
import { type Session, type SessionEvent, toSession, type User, userOf } from './stored-session.ts';

interface Shared {
  url: string;
  waiting: Waiting;
  session: DeviceSession;
}

interface Adopting extends Shared {
  store: Store;
  /** Sessions of guests that wait for their adoption, for each user. */
  guests: Entries<Session>;
  /** Sends what is unsent, and reads the copies of lists anew. */
  data: { send: () => void; refresh: () => Promise<unknown> };
  onSession: (event: SessionEvent) => void;
}

/** Outboxes that the client keeps for each user. */
const outboxes = ['favorites', 'plays', 'progress', 'lists'];

/** Returns the user of this device, or makes a guest. Concurrent calls make only one guest. */
export const continueAsGuest = ({ url, waiting, session }: Shared, options?: CallOptions): Promise<User> =>
  exclusively('sounds.guest', async () => {
    const present = (await session.load())?.user;
    if (present) return present;
    const client = tokenlessClient(url, waiting, false);
    const { data } = await answer(client.POST('/auth/guest', signalOf(options)));
    const guest = toSession(data, userOf(data.user));
    await session.begin(guest);
    return guest.user;
  });

/** Has the user adopt the guests that wait for it. @throws SoundsError at the first guest that cannot be adopted yet */
export async function adoptGuests(parts: Adopting, user: User): Promise<void> {
  const { guests, waiting, data, onSession } = parts;
  await guests.sending(user.id, waiting.timeLimitMs, () => adoptAll(parts, user.id));
  data.send();
  await data.refresh().catch(() => {}); // the app can read the lists again
  onSession({ type: 'adopted', user });
}

async function adoptAll(parts: Adopting, owner: string): Promise<void> {
  const { store, guests } = parts;
  for (const [id, guest] of Object.entries(await guests.read(owner))) {
    await adopt(parts, owner, guest);
    for (const name of outboxes) await moveUnsent(createEntries(store, name), id, owner);
    await guests.update(owner, (waiting) => {
      delete waiting[id];
    });
  }
}

/** Adopts a guest. Succeeds also if that was done before, and the response was lost. */
async function adopt(parts: Adopting, owner: string, guest: Session): Promise<void> {
  const fresh = await refreshed(parts, owner, guest);
  const body = { access_token: (fresh ?? guest).access_token };
  try {
    await parts.session.api({ userId: owner }).POST('/me/guest', { body });
  } catch (error) {
    const { reason } = error as SoundsError;
    const isGone = reason === 'no_such_guest' || (fresh === null && reason === 'guest_token_invalid');
    if (!isGone) throw error;
  }
}

/** Stores and returns new tokens of a guest; null if its session is over. */
async function refreshed({ url, waiting, guests }: Adopting, owner: string, guest: Session): Promise<Session | null> {
  const client = tokenlessClient(url, waiting);
  try {
    const { data } = await answer(client.POST('/auth/refresh', { body: { refresh_token: guest.refresh_token } }));
    const next = toSession(data, guest.user);
    await guests.update(owner, (waiting) => {
      waiting[guest.user.id] = next;
    });
    return next;
  } catch (error) {
    if ((error as SoundsError).reason === 'session_ended') return null;
    throw error;
  }
}

/** Moves unsent changes of a guest to the user. If both have a change with the same key, keeps the newer one. */
async function moveUnsent(outbox: Entries<{ updated_at?: string }>, guest: string, owner: string): Promise<void> {
  const unsent = await outbox.read(guest);
  await outbox.update(owner, (own) => {
    for (const [key, change] of Object.entries(unsent)) {
      const present = own[key];
      if (present === undefined || (change.updated_at ?? '') > (present.updated_at ?? '')) own[key] = change;
    }
  });
  await outbox.forget(guest);
}

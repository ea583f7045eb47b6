import { createSounds, type Favorite, type SessionEvent, type Wait } from 'sounds-client';
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

import { browser } from './browser.ts';
import type { CallOptions } from './call.ts';
import { previewOf } from './catalogue.ts';
import { createCopy, newestFirst } from './entries.ts';
import { sessionOver, tooMany } from './error.ts';
import type { Sounds } from './index.ts';
import { beginningOf, type Edit, type StoredList } from './list-calls.ts';
import { contentOf, createListEdits } from './list-edits.ts';
import { type Content, fits, type ListItem, merge } from './list-merge.ts';
import { createListeners } from './listeners.ts';
import { type Store, storesOf } from './store.ts';

export type { ListItem } from './list-merge.ts';

export interface ListsOptions {
  api: Pick<Sounds, 'fetch' | 'auth' | 'session' | 'offline'>;
  /** The stores of `createSounds`, so that the deletion of the account also removes the lists. */
  store?: Store | undefined;
  offlineStore?: Store | undefined;
}

/** A mix, which plays all sounds at once, or a playlist, which plays them in order. */
export interface SavedList extends Content {
  /** UUID that the app makes for a new list. */
  id: string;
  /** Version number at the service. With an unsent edit, the version that was edited; 0 for a new list. */
  version: number;
  updated_at: string;
  items: Required<ListItem>[];
}

/** A list to save: a changed list from `all`, or a new one with `version: 0`. */
export interface ListToSave extends Content {
  id: string;
  version: number;
  /** Value that `all` gave, which tells apart states of one version. Default: that of the newest one. */
  updated_at?: string | undefined;
}

/** Mixes and playlists of the user, which can be changed without a network. */
export interface Lists extends ReturnType<typeof createLists> {}

/** Maximum number of keys of states that are remembered for later edits. Each state has two keys. */
const maxStates = 2_000;

/** Creates lists, and sends the edits of the last start. Make one object for the whole app. */
export function createLists(options: ListsOptions) {
  const { api } = options;
  const { store, copies } = storesOf(options);
  const isSignedIn = async (userId: string) => (await api.auth.user())?.id === userId;
  const copy = createCopy<StoredList>(copies, 'lists', isSignedIn);
  const { notify: changed, subscribe } = createListeners();
  const edits = createListEdits({ api, store, copy, changed });
  const states = createStates();

  const sendSoon = () => void edits.send().catch(() => {}); // unsent edits stay in the store
  browser.addEventListener?.('online', sendSoon);
  api.session.subscribe(() => {
    states.forget();
    edits.exceeding.clear();
    changed();
    sync().catch(() => {}); // the next call tries again
  });
  sendSoon();

  async function currentUser(): Promise<string> {
    const user = await api.auth.user();
    if (!user) throw sessionOver();
    return user.id;
  }

  const sync = async (options?: CallOptions): Promise<void> => edits.sync(await currentUser(), options);

  return {
    /** Lists all mixes and playlists, newest change first, with unsent edits. Needs no network. */
    async all(): Promise<SavedList[]> {
      const user = await currentUser();
      const unsent = await edits.read(user); // first, because sending moves edits into the copy
      const lists = withEdits(await copy.read(user), unsent);
      for (const list of lists) states.remember(list);
      return Promise.all(lists.map((list) => withPreviews(list, api)));
    },

    /**
     * Saves a list as a whole. Resolves when the edit is stored; it is sent at once, or later by `flush`. A list that
     * was removed, here or on another device, stays removed: to bring it back, save it with a new id and version 0.
     * @param edited changed list from `all`, or a new one. The edit is the difference to what was saved last with this
     *   `version` and `updated_at`, otherwise to what `all` gave. Other changes since then, also of other devices, stay
     * @throws SoundsError `too_many` if the list has more than 200 sounds then, or a mix more than 20
     */
    async save(edited: ListToSave): Promise<void> {
      const list = inLowerCase(edited);
      const user = await currentUser();
      const copied = (await copy.read(user))[list.id];
      await edits.update(user, (unsent) => {
        const edit = unsent[list.id];
        if (edit?.mine === null) return; // removed on this device
        const next = editOf(list, edit, copied, states.of(list));
        delete unsent[list.id]; // at the end, as the newest change
        unsent[list.id] = next;
        states.remember(list); // the next save of this object is compared with this one
      });
      edits.exceeding.delete(list.id);
      changed();
      sendSoon();
    },

    /** Removes a list. Resolves when the removal is stored, as `save` does. */
    async remove(listId: string): Promise<void> {
      const id = listId.toLowerCase();
      const user = await currentUser();
      const copied = (await copy.read(user))[id];
      await edits.update(user, (unsent) => {
        const version = unsent[id]?.version ?? copied?.version ?? 0;
        unsent[id] = { serviceState: null, version, mine: null, updated_at: new Date().toISOString() };
      });
      edits.exceeding.clear(); // there may be room now
      changed();
      sendSoon();
    },

    /** Calls `listener` after each change of the lists. @returns a function that ends the subscription */
    subscribe,

    /**
     * Sends unsent edits and gets the lists of other devices, which `all` returns. The client does this when a user
     * signs in, and when the user has adopted a guest.
     */
    sync,

    /**
     * Sends unsent edits. The client does this after each edit, when it is created, and when a browser is online again.
     * In React Native, call it when the network is back.
     * @throws SoundsError with the reason why an edit stays on the device, `too_many` if it does not fit, or the error of
     *   an edit that the service has rejected since the last call, which is dropped
     */
    flush: edits.flush,
  };
}

/** Remembers the states that the app has got or saved, because it may edit one that the copy no longer has. */
function createStates() {
  const states = new Map<string, Content>();
  const keyOf = ({ id, version, updated_at }: ListToSave) => `${id} ${version} ${updated_at ?? 'newest'}`;

  function keep(key: string, content: Content) {
    states.delete(key);
    states.set(key, content);
    const [oldest = ''] = states.keys();
    if (states.size > maxStates) states.delete(oldest);
  }

  return {
    of: (list: ListToSave) => states.get(keyOf(list)),
    forget: () => states.clear(),
    remember(list: ListToSave) {
      keep(keyOf(list), contentOf(list));
      keep(keyOf({ ...list, updated_at: undefined }), contentOf(list));
    },
  };
}

/** Converts ids to the form of the service, because Swift and databases also write them in upper case. */
const inLowerCase = (list: ListToSave): ListToSave => ({
  ...list,
  id: list.id.toLowerCase(),
  items: list.items.map((item) => ({ ...item, sound_id: item.sound_id.toLowerCase() })),
});

/**
 * Returns the unsent edit after a save.
 * @param before unsent edit of the list before
 * @param copied list as the service had it last
 * @param remembered state that the app has edited, if it is remembered
 * @throws SoundsError `too_many` if the result has too many sounds
 */
function editOf(list: ListToSave, before?: Edit, copied?: StoredList, remembered: Content | null = null): Edit {
  const unknown = { serviceState: remembered, version: list.version };
  const { serviceState, version } = before ?? (copied ? beginningOf(copied) : unknown);
  const editedState = remembered ?? (version === list.version ? serviceState : null);
  const present = before?.mine ?? copied;
  // Merges with the changes that were made on this device since the state that the app has edited.
  const mine = present ? merge(editedState, contentOf(list), present) : contentOf(list);
  if (!fits(mine)) throw tooMany();
  return { serviceState, version, mine, updated_at: new Date().toISOString() };
}

/** Returns the lists of a copy with unsent edits, newest change first. */
function withEdits(
  copied: Record<string, StoredList>,
  unsent: Record<string, Edit>,
): (ListToSave & { updated_at: string })[] {
  const others = newestFirst(
    Object.values(copied).filter(({ id }) => !unsent[id]),
    'updated_at',
  );
  const edited = Object.entries(unsent)
    .reverse()
    .flatMap(([id, { mine, version, updated_at }]) => (mine ? [{ id, ...mine, version, updated_at }] : []));
  return [...edited, ...others];
}

/** Adds previews to items that have none, from the copy of the catalogue. */
async function withPreviews(list: ListToSave & { updated_at: string }, { offline }: Pick<Sounds, 'offline'>) {
  const withPreview = async ({ sound_id, volume, sounds }: ListItem) => {
    const sound = sounds ?? (await offline.get(sound_id));
    return { sound_id, volume, sounds: sound && previewOf(sound) };
  };
  return { ...list, items: await Promise.all(list.items.map(withPreview)) };
}

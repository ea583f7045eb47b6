import { browser } from './browser.ts';
import type { CallOptions } from './call.ts';
import { previewOf } from './catalogue.ts';
import { createCopy, createEntries } from './entries.ts';
import { sessionOver } from './error.ts';
import type { Sounds } from './index.ts';
import type { Content, ListItem, ListToSave, StoredList } from './list-content.ts';
import type { Edit } from './list-edit.ts';
import { createListSender } from './list-sender.ts';
import { createListeners } from './listeners.ts';
import { createLocalLists } from './local-lists.ts';
import { type Store, storesOf } from './store.ts';

export type { ListItem, ListToSave } from './list-content.ts';

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

/** Mixes and playlists of the user, which can be changed without a network. */
export interface Lists extends ReturnType<typeof createLists> {}

// local-lists.ts makes edits on the device, list-sender.ts decides which to send, list-delivery.ts sends them and applies
// their results, by the rules in list-edit.ts and list-merge.ts.

/** Creates lists, and sends the edits of the last start. Make one object for the whole app. */
export function createLists(options: ListsOptions) {
  const { api } = options;
  const { store, copies } = storesOf(options);
  const isSignedIn = async (userId: string) => (await api.auth.user())?.id === userId;
  const copy = createCopy<StoredList>(copies, 'lists', isSignedIn);
  const { notify: changed, subscribe } = createListeners();
  const unsent = createEntries<Edit>(store, 'lists');
  const local = createLocalLists(copy, unsent);
  const sender = createListSender(api, copy, unsent, changed);

  const sendSoon = () => void sender.send().catch(() => {}); // unsent edits stay in the store
  browser.addEventListener?.('online', sendSoon);
  api.session.subscribe(() => {
    local.forget();
    sender.exceeding.clear();
    changed();
    sync().catch(() => {}); // the next call tries again
  });
  sendSoon();

  async function currentUser(): Promise<string> {
    const user = await api.auth.user();
    if (!user) throw sessionOver();
    return user.id;
  }

  const sync = async (options?: CallOptions): Promise<void> => sender.sync(await currentUser(), options);

  return {
    /** Lists all mixes and playlists, newest change first, with unsent edits. Needs no network. */
    async all(): Promise<SavedList[]> {
      const lists = await local.all(await currentUser());
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
      await local.save(await currentUser(), list);
      sender.exceeding.delete(list.id);
      changed();
      sendSoon();
    },

    /** Removes a list. Resolves when the removal is stored, as `save` does. */
    async remove(listId: string): Promise<void> {
      const id = listId.toLowerCase();
      await local.remove(await currentUser(), id);
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
    flush: sender.flush,
  };
}

/** Converts ids to the form of the service, because Swift and databases also write them in upper case. */
const inLowerCase = (list: ListToSave): ListToSave => ({
  ...list,
  id: list.id.toLowerCase(),
  items: list.items.map((item) => ({ ...item, sound_id: item.sound_id.toLowerCase() })),
});

/** Adds previews to items that have none, from the copy of the catalogue. */
async function withPreviews(list: ListToSave & { updated_at: string }, { offline }: Pick<Sounds, 'offline'>) {
  const withPreview = async ({ sound_id, volume, sounds }: ListItem) => {
    const sound = sounds ?? (await offline.get(sound_id));
    return { sound_id, volume, sounds: sound && previewOf(sound) };
  };
  return { ...list, items: await Promise.all(list.items.map(withPreview)) };
}

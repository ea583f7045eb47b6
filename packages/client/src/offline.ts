import type { CallOptions } from './call.ts';
import { type CopiedSound, type Copy, createCatalogueCopy } from './catalogue-copy.ts';
import type { OfflineFilters } from './copied-lists.ts';
import type { createUpdate, OfflineOptions } from './copy-update.ts';
import { type Entries, newestFirst } from './entries.ts';
import { createListeners } from './listeners.ts';
import { loaded } from './loaded.ts';
import type { Category, Favorite, HistoryEntry, HomeSection } from './resources.ts';
import type { Found } from './search.ts';

// Separate modules, so that apps start with less code. `sync` loads them, so that they need no network later.
const loadLists = () => import('./copied-lists.ts');
const loadSearch = () => import('./search.ts');
const loadReaders = () => Promise.allSettled([loadLists(), loadSearch()]);

/** Copies on the device. All methods except `sync` work without a network. */
export interface Offline extends ReturnType<typeof createOffline> {}

export function createOffline(options: OfflineOptions) {
  const { copies, session, restore, favoritesCopy, historyCopy } = options;
  const catalogue = createCatalogueCopy(copies);
  const { notify, subscribe } = createListeners();
  let prepared: { copy: Copy; search: (text: string) => Found<CopiedSound> } | undefined;

  let update: ReturnType<typeof createUpdate> | undefined;

  async function sync(callOptions?: CallOptions): Promise<void> {
    const updates = await loaded(import('./copy-update.ts'));
    update ??= updates.createUpdate({ ...options, catalogue, loadReaders, notify });
    await update(callOptions);
  }

  /** Returns the copy, once the addresses of its covers are known. */
  async function load(): Promise<Copy> {
    await restore();
    return catalogue.load();
  }

  async function entriesOf<Entry>(copied: Entries<Entry>) {
    await restore();
    return Object.values(await copied.read((await session.current()).user.id));
  }

  return {
    /** Updates the copies, and continues an interrupted call. Call it when the app comes to the foreground. */
    sync,

    /** Calls `listener` after each complete copy of the catalogue. @returns a function that ends the subscription */
    subscribe,

    /** Returns the favorites of the last `sync` or `favorites.list` with later changes on this device, newest first. */
    favorites: async (): Promise<Favorite[]> => newestFirst(await entriesOf(favoritesCopy), 'created_at'),

    /** Returns the 100 newest entries of the last `sync` or `history.list` with later plays, newest first. */
    history: async (): Promise<HistoryEntry[]> => newestFirst(await entriesOf(historyCopy), 'last_played_at'),

    /** Returns the time of the last complete `sync` on the clock of this device; null if there was none. */
    async syncedAt(): Promise<Date | null> {
      const { syncedAt } = await load();
      return syncedAt === null ? null : new Date(syncedAt);
    },

    /** Returns a sound of the copy, or null. */
    get: async (id: string): Promise<CopiedSound | null> => (await load()).sound[id] ?? null,

    /** Returns all matching sounds, in the order of GET /sounds. */
    list: async (filters: OfflineFilters = {}): Promise<CopiedSound[]> =>
      (await loadLists()).soundsOf(await load(), filters),

    /**
     * Finds sounds by words of title, tags, category and description, best results first, as the parameter `q` of
     * GET /sounds does.
     * @returns the sounds, and `corrected_q` if they are those for a corrected text
     */
    async search(text: string): Promise<Found<CopiedSound>> {
      const [copy, { inListOrder }, { createSearch }] = await Promise.all([load(), loadLists(), loadSearch()]);
      if (prepared?.copy !== copy)
        prepared = { copy, search: createSearch(inListOrder(copy), Object.values(copy.category)) };
      return prepared.search(text);
    },

    /** Returns the tree of categories, like `categories` of the client. */
    categories: async (): Promise<Category[]> => (await loadLists()).treeOf(await load()),

    /** Returns the sections of the home page, like `home` of the client. */
    home: async (): Promise<HomeSection[]> => (await loadLists()).sectionsOf(await load()),
  };
}

import type { CallOptions } from './call.ts';
import { type CopiedSound, type Copy, createCatalogueCopy } from './catalogue-copy.ts';
import { type Entries, newestFirst } from './entries.ts';
import type { Parts } from './parts.ts';
import type { Category, Favorite, HistoryEntry, HomeSection } from './resources.ts';
import type { Schema } from './schema.ts';
import type { Found } from './search.ts';
import { createSharedRun } from './shared-run.ts';
import type { Store } from './store.ts';

/** Filters of GET /sounds that the copy supports. */
export interface OfflineFilters {
  category?: string;
  /** Includes sounds of the sub-intentions of `category`. */
  include_children?: boolean;
  featured?: boolean;
  /** Tags, all of which a sound must have. */
  tags?: string[];
}

type Options = Parts & {
  /** Store for copies. */
  copies: Store;
  /** Updates the copies of the user's lists. */
  refresh: (options?: CallOptions) => Promise<void>;
};

/** Loads the search, which is a separate module so that apps without it stay small. */
const loadSearch = () => import('./search.ts');

const byOrder = (a: { sort_order: number }, b: { sort_order: number }) => a.sort_order - b.sort_order;

/** Sorts by position in the list, then by creation, newest first. */
const inListOrder = (copy: Copy) =>
  Object.values(copy.sound).sort((a, b) => byOrder(a, b) || (a.created_at < b.created_at ? 1 : -1));

const categoriesIn = (copy: Copy) =>
  Object.values(copy.category).sort((a, b) => byOrder(a, b) || a.name.localeCompare(b.name));

/** Copies on the device. All methods except `sync` work without a network. */
export interface Offline extends ReturnType<typeof createOffline> {}

export function createOffline(options: Options) {
  const { copies, session, refresh, restore, favoritesCopy, historyCopy } = options;
  const catalogue = createCatalogueCopy(options, copies);
  const listeners = new Set<() => void>();
  let prepared: { copy: Copy; search: (text: string) => Found<CopiedSound> } | undefined;

  const sync = createSharedRun(async (callOptions) => {
    await restore();
    await catalogue.update(callOptions);
    await loadSearch().catch(() => {}); // so that it needs no network later
    for (const listener of [...listeners]) listener();
    await refresh(callOptions);
  });

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
    subscribe(listener: () => void): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },

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
    list: async (filters: OfflineFilters = {}): Promise<CopiedSound[]> => listOf(await load(), filters),

    /**
     * Finds sounds by words of title, tags, category and description, best results first, as the parameter `q` of
     * GET /sounds does.
     * @returns the sounds, and `corrected_q` if they are those for a corrected text
     */
    async search(text: string): Promise<Found<CopiedSound>> {
      const [copy, { createSearch }] = await Promise.all([load(), loadSearch()]);
      if (prepared?.copy !== copy)
        prepared = { copy, search: createSearch(inListOrder(copy), Object.values(copy.category)) };
      return prepared.search(text);
    },

    /** Returns the tree of categories, like `categories` of the client. */
    categories: async (): Promise<Category[]> => treeOf(await load()),

    /** Returns the sections of the home page, like `home` of the client. */
    home: async (): Promise<HomeSection[]> => sectionsOf(await load()),
  };
}

function listOf(copy: Copy, { category, include_children, featured, tags = [] }: OfflineFilters): CopiedSound[] {
  const all = categoriesIn(copy);
  const parent = all.find(({ slug }) => slug === category)?.id;
  const slugs = new Set([category]);
  for (const child of all) if (include_children && child.parent_id === parent) slugs.add(child.slug);
  return inListOrder(copy).filter(
    (sound) =>
      (category === undefined || slugs.has(sound.category ?? '')) &&
      (featured === undefined || sound.is_featured === featured) &&
      tags.every((tag) => sound.tags?.some((own) => own.normalize() === tag.normalize())),
  );
}

function treeOf(copy: Copy): Category[] {
  const all = categoriesIn(copy);
  const under = (parent: string | null): Schema<'SubCategory'>[] => all.filter(({ parent_id }) => parent_id === parent);
  return under(null).map((category) => ({ ...category, children: under(category.id) }));
}

function sectionsOf({ sound, home_section }: Copy): HomeSection[] {
  const sections = Object.values(home_section).sort((a, b) => byOrder(a, b) || (a.created_at < b.created_at ? -1 : 1));
  return sections.map(({ sound_ids, ...section }) => ({
    ...section,
    sounds: sound_ids.flatMap((id) => sound[id] ?? []),
  }));
}

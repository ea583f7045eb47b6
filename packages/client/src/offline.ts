import { answer, type CallOptions, signalOf } from './call.ts';
import { type Entries, newestFirst } from './entries.ts';
import { exclusively } from './lock.ts';
import type { Parts } from './parts.ts';
import type { Category, Favorite, HistoryEntry, HomeSection } from './resources.ts';
import type { Schema } from './schema.ts';
import { readItem } from './store.ts';
import { pause, unlessAborted } from './wait.ts';

/** A sound of the copy, with its position in the list and the versions of its files. */
export interface CopiedSound extends Schema<'CopiedSound'> {}

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
  /** Updates the copies of the user's lists. */
  refresh: (options?: CallOptions) => Promise<void>;
};

interface Copy {
  /** Value of `since` for the next request. */
  next: string | null;
  /** Time of the last complete `sync`, in milliseconds on the clock of this device. */
  syncedAt: number | null;
  sound: Record<string, CopiedSound>;
  category: Record<string, Schema<'CopiedCategory'>>;
  home_section: Record<string, Schema<'CopiedHomeSection'>>;
}

/** A call of `sync`, with the number of its callers. */
type Run = { done: Promise<void>; callers: number; controller: AbortController };

/** Loads the search, which is a separate module so that apps without it stay small. */
const loadSearch = () => import('./search.ts');

const emptyCopy = (): Copy => ({ next: null, syncedAt: null, sound: {}, category: {}, home_section: {} });

const key = 'sounds.catalogue';

/** Kinds of changes that are copied. A newer service may send others. */
const kinds = ['sound', 'category', 'home_section'] as const;

/** Number of pages after which the whole copy is stored, because storing takes longer than requesting a page. */
const pagesBetweenStores = 5;

/** Share of the requests of a minute that a long copy leaves to the user. */
const shareOfUser = 1 / 2;

const byOrder = (a: { sort_order: number }, b: { sort_order: number }) => a.sort_order - b.sort_order;

/** Copies on the device. All methods except `sync` work without a network. */
export interface Offline extends ReturnType<typeof createOffline> {}

export function createOffline({ api, store, session, waiting, refresh, restore, favoritesCopy, historyCopy }: Options) {
  let current: Copy | undefined;
  let running: Run | undefined;
  const listeners = new Set<() => void>();

  /** Returns the copy. Returns an empty one if the store has none or fails, and reads it again at the next call. */
  async function load(): Promise<Copy> {
    await restore();
    const found = current ?? (await readItem<Copy>(store, key).catch(() => null));
    // A call of `sync` may have made a new copy meanwhile.
    if (found && kinds.every((kind) => found[kind])) current ??= found;
    return current ?? emptyCopy();
  }

  /** Applies one page of changes to the copy. @returns true if there are more */
  async function readPage(copy: Copy, options?: CallOptions): Promise<boolean> {
    const query = copy.next === null ? {} : { since: copy.next };
    const asked = api.GET('/catalogue/changes', { params: { query }, ...signalOf(options) });
    const { data, next, has_more, reset } = await answer(asked);
    if (reset) Object.assign(copy, emptyCopy());
    for (const change of data) {
      if (!kinds.includes(change.kind)) continue;
      const things: Record<string, unknown> = copy[change.kind];
      const thing = change[change.kind];
      if (thing === null) delete things[change.id];
      else things[change.id] = thing;
    }
    copy.next = next;
    return has_more;
  }

  async function sync(options?: CallOptions): Promise<void> {
    // Change a clone, so that the copy stays unchanged until the clone is stored.
    const copy: Copy = JSON.parse(JSON.stringify(await load()));
    const keep = async () => {
      const text = JSON.stringify(copy);
      await exclusively(key, async () => store.setItem(key, text)).catch(() => {});
      current = JSON.parse(text);
    };
    for (let pages = 1; await readPage(copy, options); pages++) {
      const pauseMs = waiting.service.pauseMs(shareOfUser);
      if (pauseMs > 0 || pages % pagesBetweenStores === 0) await keep();
      if (pauseMs > 0) await pause(pauseMs, options?.signal);
    }
    copy.syncedAt = Date.now();
    await keep();
    await loadSearch().catch(() => {}); // so that it needs no network later
    for (const listener of [...listeners]) listener();
    await refresh(options);
  }

  async function entriesOf<Entry>(copied: Entries<Entry>) {
    await restore();
    return Object.values(await copied.read((await session.current()).user.id));
  }

  function start(): Run {
    const controller = new AbortController();
    return { done: sync(controller), callers: 0, controller };
  }

  /** Sorts by position in the list, then by creation, newest first. */
  const inListOrder = (copy: Copy) =>
    Object.values(copy.sound).sort((a, b) => byOrder(a, b) || (a.created_at < b.created_at ? 1 : -1));

  const categoriesIn = (copy: Copy) =>
    Object.values(copy.category).sort((a, b) => byOrder(a, b) || a.name.localeCompare(b.name));

  return {
    /** Updates the copies, and continues an interrupted call. Call it when the app comes to the foreground. */
    async sync({ signal }: CallOptions = {}): Promise<void> {
      // Concurrent callers share one run, which ends early only if all of them are aborted.
      running ??= start();
      const run = running;
      run.callers += 1;
      try {
        await unlessAborted(run.done, signal);
      } finally {
        run.callers -= 1;
        if (run.callers === 0) {
          run.controller.abort();
          if (running === run) running = undefined;
        }
      }
    },

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
    async list({ category, include_children, featured, tags = [] }: OfflineFilters = {}): Promise<CopiedSound[]> {
      const copy = await load();
      const all = categoriesIn(copy);
      const parent = all.find(({ slug }) => slug === category)?.id;
      const slugs = new Set([category]);
      for (const child of all) if (include_children && child.parent_id === parent) slugs.add(child.slug);
      return inListOrder(copy).filter(
        (sound) =>
          (category === undefined || slugs.has(sound.category ?? '')) &&
          (featured === undefined || sound.is_featured === featured) &&
          tags.every((tag) => sound.tags?.includes(tag)),
      );
    },

    /**
     * Finds sounds by words of title, tags, category and description, best results first, as the parameter `q` of
     * GET /sounds does. Does not correct misspelled words.
     */
    async search(text: string): Promise<CopiedSound[]> {
      const [copy, { searchSounds }] = await Promise.all([load(), loadSearch()]);
      return searchSounds(inListOrder(copy), Object.values(copy.category), text);
    },

    /** Returns the tree of categories, like `categories` of the client. */
    async categories(): Promise<Category[]> {
      const all = categoriesIn(await load());
      const under = (parent: string | null): Schema<'SubCategory'>[] =>
        all.filter(({ parent_id }) => parent_id === parent);
      return under(null).map((category) => ({ ...category, children: under(category.id) }));
    },

    /** Returns the sections of the home page, like `home` of the client. */
    async home(): Promise<HomeSection[]> {
      const { sound, home_section } = await load();
      const sections = Object.values(home_section).sort(
        (a, b) => byOrder(a, b) || (a.created_at < b.created_at ? -1 : 1),
      );
      return sections.map(({ sound_ids, ...section }) => ({
        ...section,
        sounds: sound_ids.flatMap((id) => sound[id] ?? []),
      }));
    },
  };
}

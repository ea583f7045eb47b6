import { answer, type CallOptions, signalOf } from './call.ts';
import { exclusively } from './lock.ts';
import type { Parts } from './parts.ts';
import type { Schema } from './schema.ts';
import { readItem, type Store } from './store.ts';
import { pause } from './wait.ts';

/** A sound of the copy, with its position in the list and the versions of its files. */
export interface CopiedSound extends Schema<'CopiedSound'> {}

export interface Copy {
  /** Value of `since` for the next request. */
  next: string | null;
  /** Time of the last complete `sync`, in milliseconds on the clock of this device. */
  syncedAt: number | null;
  sound: Record<string, CopiedSound>;
  category: Record<string, Schema<'CopiedCategory'>>;
  home_section: Record<string, Schema<'CopiedHomeSection'>>;
}

const emptyCopy = (): Copy => ({ next: null, syncedAt: null, sound: {}, category: {}, home_section: {} });

const key = 'sounds.catalogue';

/** Kinds of changes that are copied. A newer service may send others. */
const kinds = ['sound', 'category', 'home_section'] as const;

/** Number of pages after which the whole copy is stored, because storing takes longer than requesting a page. */
const pagesBetweenStores = 5;

/** Share of the requests of a minute that a long copy leaves to the user. */
const shareOfUser = 1 / 2;

/** Keeps the copy of the catalogue. @param store store for copies */
export function createCatalogueCopy({ api, waiting }: Parts, store: Store) {
  let current: Copy | undefined;

  /** Returns the copy. Returns an empty one if the store has none or fails, and reads it again at the next call. */
  async function load(): Promise<Copy> {
    const found = current ?? (await readItem<Copy>(store, key).catch(() => null));
    // A call of `update` may have made a new copy meanwhile.
    if (found && kinds.every((kind) => found[kind])) current ??= found;
    return current ?? emptyCopy();
  }

  async function save(copy: Copy) {
    const text = JSON.stringify(copy);
    await exclusively(key, async () => store.setItem(key, text)).catch(() => {});
    current = JSON.parse(text);
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

  /** Gets all changes. */
  async function update(options?: CallOptions): Promise<void> {
    // Change a clone, so that the copy stays unchanged until the clone is stored.
    const copy: Copy = JSON.parse(JSON.stringify(await load()));
    for (let pages = 1; await readPage(copy, options); pages++) {
      const pauseMs = waiting.service.pauseMs(shareOfUser);
      if (pauseMs > 0 || pages % pagesBetweenStores === 0) await save(copy);
      if (pauseMs > 0) await pause(pauseMs, options?.signal);
    }
    copy.syncedAt = Date.now();
    await save(copy);
  }

  return { load, update };
}

import { exclusively } from './lock.ts';
import type { Schema } from './schema.ts';
import { readItem, type Store } from './store.ts';

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

export const emptyCopy = (): Copy => ({ next: null, syncedAt: null, sound: {}, category: {}, home_section: {} });

const key = 'sounds.catalogue';

/** Kinds of changes that are copied. A newer service may send others. */
export const kinds = ['sound', 'category', 'home_section'] as const;

export type CatalogueCopy = ReturnType<typeof createCatalogueCopy>;

/** Keeps the copy of the catalogue. @param store store for copies */
export function createCatalogueCopy(store: Store) {
  let current: Copy | undefined;

  return {
    /** Returns the copy. Returns an empty one if the store has none or fails, and reads it again at the next call. */
    async load(): Promise<Copy> {
      const found = current ?? (await readItem<Copy>(store, key).catch(() => null));
      // A call of `save` may have made a new copy meanwhile.
      if (found && kinds.every((kind) => found[kind])) current ??= found;
      return current ?? emptyCopy();
    },

    async save(copy: Copy) {
      const text = JSON.stringify(copy);
      await exclusively(key, async () => store.setItem(key, text)).catch(() => {});
      current = JSON.parse(text);
    },
  };
}

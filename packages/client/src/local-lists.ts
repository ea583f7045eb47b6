import { type Entries, newestFirst } from './entries.ts';
import type { ListToSave, StoredList } from './list-content.ts';
import { type Edit, editAfterSave } from './list-edit.ts';
import { keyOf, remember, type SeenStates } from './seen-states.ts';

/** A list of the service, or an unsent edit of one. */
type LocalList = ListToSave & { updated_at: string };

/**
 * Reads and edits the lists on the device, without sending anything.
 * @param copy lists as the service had them last
 * @param unsent edits that are not sent yet
 */
export function createLocalLists(copy: Entries<StoredList>, unsent: Entries<Edit>) {
  const seen: SeenStates = new Map(); // also what the app has saved

  return {
    /** Returns all lists with unsent edits, newest change first. */
    async all(user: string): Promise<LocalList[]> {
      const edits = await unsent.read(user); // first, because sending moves edits into the copy
      const lists = withEdits(await copy.read(user), edits);
      for (const list of lists) remember(seen, list);
      return lists;
    },

    /** Stores the edit of a list, unless the list was removed. @throws SoundsError `too_many` */
    async save(user: string, list: ListToSave): Promise<void> {
      const copied = (await copy.read(user))[list.id];
      await unsent.update(user, (edits) => {
        const edit = edits[list.id];
        if (edit?.mine === null) return; // removed on this device
        const next = editAfterSave(list, edit, copied, seen.get(keyOf(list)));
        delete edits[list.id]; // at the end, as the newest change
        edits[list.id] = next;
        remember(seen, list); // the next save of this object is an edit of this state
      });
    },

    /** Stores the removal of a list. */
    async remove(user: string, id: string): Promise<void> {
      const copied = (await copy.read(user))[id];
      await unsent.update(user, (edits) => {
        const version = edits[id]?.version ?? copied?.version ?? 0;
        edits[id] = { serviceState: null, version, mine: null, updated_at: new Date().toISOString() };
      });
    },

    /** Forgets which states the app has seen. */
    forget: () => seen.clear(),
  };
}

/** Replaces lists of a copy by their unsent edits. @returns lists that are not removed, newest change first */
function withEdits(copied: Record<string, StoredList>, edits: Record<string, Edit>): LocalList[] {
  const unedited = newestFirst(
    Object.values(copied).filter(({ id }) => !edits[id]),
    'updated_at',
  );
  const edited = Object.entries(edits)
    .reverse()
    .flatMap(([id, { mine, version, updated_at }]) => (mine ? [{ id, ...mine, version, updated_at }] : []));
  return [...edited, ...unedited];
}

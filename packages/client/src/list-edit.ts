import { tooMany } from './error.ts';
import { type Content, contentOf, fits, type ListToSave, type StoredList } from './list-content.ts';
import { merge } from './list-merge.ts';

/** An unsent edit of a list. */
export interface Edit {
  /** Content that the edit began from: that of the service or, without a copy, what the app has seen. Null if new. */
  serviceState: Content | null;
  /** Version of `serviceState`; 0 for a new list. */
  version: number;
  /** Null removes the list. */
  mine: Content | null;
  updated_at: string;
}

/** Result of an edit. `list` is the present one, null if there is none. */
export interface Result {
  id: string;
  status: string;
  list: StoredList | null;
}

/** Returns the fields of an edit that begins from a list of the service. */
const beginningOf = (list: StoredList) => ({ serviceState: contentOf(list), version: list.version });

/**
 * Returns the unsent edit of a list after a save. It begins where the unsent edit began, or else from the copy. Its
 * content is merged with that on the device, which may have changed since the app read the list.
 * @param edited list that the app saves
 * @param unsentEdit edit of the list until now; never a removal, because a removed list cannot be saved
 * @param serviceCopy list as the service had it last
 * @param lastSeen state of the list that the app has changed, if it is remembered
 * @throws SoundsError `too_many` if the result has too many sounds
 */
export function editAfterSave(
  edited: ListToSave,
  unsentEdit?: Edit,
  serviceCopy?: StoredList,
  lastSeen: Content | null = null,
): Edit {
  const asSeen = { serviceState: lastSeen, version: edited.version };
  const { serviceState, version } = unsentEdit ?? (serviceCopy ? beginningOf(serviceCopy) : asSeen);
  const isSameVersion = version === edited.version; // then the app has changed that state, even if it is not remembered
  const base = lastSeen ?? (isSameVersion ? serviceState : null);
  const onDevice = unsentEdit?.mine ?? serviceCopy;
  const { name, is_mix, items } = onDevice ? merge(base, edited, onDevice) : edited;
  const mine = { name, is_mix, items };
  if (!fits(mine)) throw tooMany();
  return { serviceState, version, mine, updated_at: new Date().toISOString() };
}

/**
 * Returns what is left of an edit after its result, by the four statuses of `PUT /lists`.
 * @param edit unsent edit now, which is newer than `sent` if the user has changed the list meanwhile
 * @returns the edit to send next, null if nothing is left, or `edit` itself if it must wait on the device
 */
export function editAfterResult({ status, list }: Result, edit: Edit, sent: Edit): Edit | null {
  const next = list ? { ...edit, ...beginningOf(list) } : edit;
  switch (status) {
    case 'saved': {
      const isDone = edit.mine ? isEqual(edit, sent) : !list; // false if the user has changed or removed it meanwhile
      return isDone ? null : next;
    }
    case 'changed': // another device was faster, so the edit is merged, and a removal is sent for the new version
      return list && edit.mine ? mergedEdit(edit, edit.mine, list) : next;
    case 'deleted': // the list was removed before
      return null;
    default: // `too_many`, which may have room after a removal, or a status that this version does not know
      return edit;
  }
}

/** Merges an edit with a newer list of the service. @returns `edit` itself if there would be too many sounds */
function mergedEdit(edit: Edit, content: Content, list: StoredList): Edit {
  const mine = merge(edit.serviceState, content, list);
  return fits(mine) ? { ...edit, ...beginningOf(list), mine } : edit;
}

export const isEqual = (one: Edit | undefined, other: Edit) => JSON.stringify(one) === JSON.stringify(other);

import type { Content, ListItem } from './list-content.ts';

/**
 * Merges an edit into the present content, which may have changed since the edit began. A sound that either has removed
 * is gone, and the additions of both stay. Name, kind, order and each volume are those of the side that has changed
 * them, those of the edit if both have.
 * @param base content that the edit began from; null if it is not known, so that nothing counts as removed
 */
export function merge(base: Content | null, edited: Content, present: Content): Content {
  const before = base?.items ?? [];
  const ordered = isReordered(before, edited.items) ? edited : present;
  // A Set keeps the first place of each id: those of `ordered`, then those that only the other side has.
  const order = new Set(idsOf([...ordered.items, ...edited.items, ...present.items]));
  const [inBase, inEdited, inPresent] = [bySound(before), bySound(edited.items), bySound(present.items)];
  return {
    name: edited.name === base?.name ? present.name : edited.name,
    is_mix: edited.is_mix === base?.is_mix ? present.is_mix : edited.is_mix,
    items: [...order].flatMap((id) => mergeItem(inBase.get(id), inEdited.get(id), inPresent.get(id)) ?? []),
  };
}

/** Merges one sound. @returns undefined if one side has removed it */
function mergeItem(base?: ListItem, edited?: ListItem, present?: ListItem): ListItem | undefined {
  if (edited && present) {
    const isVolumeEdited = base?.volume !== edited.volume; // also without `base`: then the edit wins
    return isVolumeEdited ? edited : present;
  }
  const isRemoved = base !== undefined; // by the side that lacks it
  return isRemoved ? undefined : (edited ?? present);
}

/** Tells whether an edit has moved sounds, or inserted some before others. Removing and appending is no such change. */
function isReordered(before: ListItem[], after: ListItem[]): boolean {
  const ids = idsOf(after);
  const kept = idsOf(before).filter((id) => ids.includes(id));
  return kept.some((id, place) => ids[place] !== id); // without a move or an insertion, they still come first
}

const idsOf = (items: ListItem[]) => items.map(({ sound_id }) => sound_id);

const bySound = (items: ListItem[]) => new Map(items.map((item) => [item.sound_id, item]));

import type { Content, ListItem } from './list-content.ts';

/**
 * Merges an edit into other content, which may have changed since the edit began. A sound that either has removed is
 * gone, and the additions of both stay. Name, kind, order and each volume are those of the side that has changed them,
 * those of the edit if both have.
 * @param base content that the edit began from; null if it is not known, so that nothing counts as removed
 * @param other content on the device when the app saves, or that of the service when another device was faster
 */
export function merge(base: Content | null, edited: Content, other: Content): Content {
  const before = base?.items ?? [];
  const ordered = isReordered(before, edited.items) ? edited : other;
  // A Set keeps the first place of each id: those of `ordered`, then those that only the other side has.
  const order = new Set(idsOf([...ordered.items, ...edited.items, ...other.items]));
  const [inBase, inEdited, inOther] = [bySound(before), bySound(edited.items), bySound(other.items)];
  return {
    name: edited.name === base?.name ? other.name : edited.name,
    is_mix: edited.is_mix === base?.is_mix ? other.is_mix : edited.is_mix,
    items: [...order].flatMap((id) => mergeItem(inBase.get(id), inEdited.get(id), inOther.get(id)) ?? []),
  };
}

/** Merges one sound. @returns undefined if one side has removed it */
function mergeItem(base?: ListItem, edited?: ListItem, other?: ListItem): ListItem | undefined {
  if (edited && other) {
    const isVolumeEdited = base?.volume !== edited.volume; // also without `base`: then the edit wins
    return isVolumeEdited ? edited : other;
  }
  const isRemoved = base !== undefined; // by the side that lacks it
  return isRemoved ? undefined : (edited ?? other);
}

/** Tells whether an edit has moved sounds, or inserted some before others. Removing and appending is no such change. */
function isReordered(before: ListItem[], after: ListItem[]): boolean {
  const ids = idsOf(after);
  const kept = idsOf(before).filter((id) => ids.includes(id));
  return kept.some((id, place) => ids[place] !== id); // without a move or an insertion, they still come first
}

const idsOf = (items: ListItem[]) => items.map(({ sound_id }) => sound_id);

const bySound = (items: ListItem[]) => new Map(items.map((item) => [item.sound_id, item]));

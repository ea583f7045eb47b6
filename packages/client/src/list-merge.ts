import type { Content, ListItem } from './list-content.ts';

/**
 * Merges two edits that began from the same content. A sound that either has removed is gone, and the additions of both
 * stay. Name, kind, order and each volume are those of the side that has changed them, mine if both have.
 * @param base content that both edits began from; null if it is not known, so that nothing counts as removed
 */
export function merge(base: Content | null, mine: Content, theirs: Content): Content {
  const before = base?.items ?? [];
  const first = isReordered(before, mine.items) ? mine : theirs;
  const order = new Set(idsOf([...first.items, ...mine.items, ...theirs.items])); // keeps the first place of each
  const [inBase, inMine, inTheirs] = [bySound(before), bySound(mine.items), bySound(theirs.items)];
  return {
    name: mine.name === base?.name ? theirs.name : mine.name,
    is_mix: mine.is_mix === base?.is_mix ? theirs.is_mix : mine.is_mix,
    items: [...order].flatMap((id) => mergeItem(inBase.get(id), inMine.get(id), inTheirs.get(id)) ?? []),
  };
}

/** Merges one sound. @returns undefined if one side has removed it */
function mergeItem(base?: ListItem, mine?: ListItem, theirs?: ListItem): ListItem | undefined {
  if (mine && theirs) return mine.volume === base?.volume ? theirs : mine;
  const added = mine ?? theirs;
  return base ? undefined : added;
}

/** Tells whether an edit has moved sounds, or inserted some before others. Removing and appending is no such change. */
function isReordered(before: ListItem[], after: ListItem[]): boolean {
  const ids = idsOf(after);
  const kept = idsOf(before).filter((id) => ids.includes(id));
  return kept.some((id, place) => ids[place] !== id);
}

const idsOf = (items: ListItem[]) => items.map(({ sound_id }) => sound_id);

const bySound = (items: ListItem[]) => new Map(items.map((item) => [item.sound_id, item]));

import type { Schema } from './schema.ts';

/** An item of a list. `sounds` is the preview of its sound; null while the sound is hidden or not known. */
export interface ListItem {
  sound_id: string;
  /** From 0 to 1, or null. */
  volume: number | null;
  sounds?: Schema<'SoundPreview'> | null;
}

/** Content of a list, which an edit replaces as a whole. */
export interface Content {
  name: string;
  is_mix: boolean;
  items: ListItem[];
}

const maxItems = 200;
const maxItemsOfMix = 20;

/** Tells whether the service accepts this number of items. */
export const fits = ({ is_mix, items }: Content) => items.length <= (is_mix ? maxItemsOfMix : maxItems);

const idsOf = ({ items }: Pick<Content, 'items'>) => items.map(({ sound_id }) => sound_id);

const bySound = ({ items }: Pick<Content, 'items'>) => new Map(items.map((item) => [item.sound_id, item]));

/** Tells whether a list has another order than before, apart from removed sounds and from new ones at the end. */
function isReordered(list: Content, before: Pick<Content, 'items'>): boolean {
  const ids = idsOf(list);
  const left = idsOf(before).filter((id) => ids.includes(id));
  return left.some((id, place) => ids[place] !== id);
}

/**
 * Merges two edits that began from the same content. A sound that either has removed is gone, and the additions of both
 * stay. Name, kind, order and each volume are those of the side that has changed them, mine if both have.
 * @param base content that both edits began from; null if it is not known, so that nothing counts as removed
 */
export function merge(base: Content | null, mine: Content, theirs: Content): Content {
  const before = base ?? { items: [] };
  const [began, own, other] = [bySound(before), bySound(mine), bySound(theirs)];
  const isRemoved = (id: string) => began.has(id) && !(own.has(id) && other.has(id));
  const first = isReordered(mine, before) ? mine : theirs;
  const ids = new Set([first, mine, theirs].flatMap(idsOf)); // keeps the first place of each

  function itemOf(id: string): ListItem {
    const [ownItem, otherItem] = [own.get(id), other.get(id)];
    const isChanged = ownItem?.volume !== began.get(id)?.volume;
    return (isChanged ? (ownItem ?? otherItem) : (otherItem ?? ownItem)) as ListItem;
  }

  return {
    name: mine.name === base?.name ? theirs.name : mine.name,
    is_mix: mine.is_mix === base?.is_mix ? theirs.is_mix : mine.is_mix,
    items: [...ids].filter((id) => !isRemoved(id)).map(itemOf),
  };
}

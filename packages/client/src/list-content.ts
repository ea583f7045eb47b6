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

/** A list to save: a changed list from `all`, or a new one with `version: 0`. */
export interface ListToSave extends Content {
  id: string;
  version: number;
  /** Value that `all` gave, which tells apart states of one version. Default: that of the newest one. */
  updated_at?: string | undefined;
}

/** A mix or playlist of the user, as the service has it. */
export type StoredList = Schema<'SavedList'>;

const maxItems = 200;
const maxItemsOfMix = 20;

/** Tells whether the service accepts this number of items. */
export const fits = ({ is_mix, items }: Content) => items.length <= (is_mix ? maxItemsOfMix : maxItems);

/** Returns the content of a list without its other fields, and without the previews of its sounds. */
export const contentOf = ({ name, is_mix, items }: Content): Content => ({
  name,
  is_mix,
  items: items.map(({ sound_id, volume }) => ({ sound_id, volume })),
});

/** The columns of `public.sounds` that an import writes, as the data API has them. */
export interface Fields {
  title?: string;
  description?: string;
  bowl_note?: string;
  frequency_hz?: number;
  duration_sec?: number;
  category?: string;
  tags?: string[];
  cover_image_path?: string;
  audio_path?: string;
  is_featured?: boolean;
  is_active?: boolean;
  sort_order?: number;
}

export type Column = keyof Fields;

/** What messages call them. */
export const COLUMNS: Record<Column, string> = {
  title: 'title',
  description: 'description',
  bowl_note: 'bowl note',
  frequency_hz: 'frequency',
  duration_sec: 'length',
  category: 'category',
  tags: 'tags',
  cover_image_path: 'picture',
  audio_path: 'recording',
  is_featured: 'is_featured',
  is_active: 'is_active',
  sort_order: 'sort order',
};

export const columnsOf = (fields: Fields) => Object.keys(fields) as Column[];

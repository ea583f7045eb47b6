/** The columns of `public.sounds` that an import writes, as in the data API. */
export interface Fields {
  title?: string;
  description?: string | null;
  bowl_note?: string | null;
  frequency_hz?: number | null;
  duration_sec?: number | null;
  category?: string | null;
  tags?: string[] | null;
  cover_image_path?: string | null;
  audio_path?: string | null;
  is_featured?: boolean;
  is_premium?: boolean;
  is_active?: boolean;
  sort_order?: number;
}

/** The columns of `public.sounds` that were measured in the files. */
export interface Facts {
  loudness_lufs?: number | null;
  true_peak_dbtp?: number | null;
  waveform?: number[] | null;
  cover_placeholder?: string | null;
}

export type Column = keyof Fields;

/** Names of the columns in messages. */
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
  is_premium: 'is_premium',
  is_active: 'is_active',
  sort_order: 'sort order',
};

/** Defaults of the database; null for the other columns. */
export const DEFAULTS: Fields = { is_featured: false, is_premium: false, is_active: true, sort_order: 0 };

export const columnsOf = (fields: object) => Object.keys(fields) as Column[];

export function pick(fields: { [Name in Column]?: unknown }, columns: Column[]): Fields {
  return Object.fromEntries(columns.map((column) => [column, fields[column]]));
}

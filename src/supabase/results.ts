import type { z } from 'zod';
import type { CatalogueChanges } from '../model/catalogue-change.ts';
import type { Category } from '../model/category.ts';
import type { Customer } from '../model/customer.ts';
import type { Favorite } from '../model/favorite.ts';
import type { HistoryEntry } from '../model/history.ts';
import type { HomeSection } from '../model/home-section.ts';
import type { PlayCount, PlayResult } from '../model/play.ts';
import type { ProgressEntry, ProgressResult } from '../model/progress.ts';
import type { DeviceSession } from '../model/session.ts';
import type { SoundPage, StoredFiles, StoredSound } from '../model/sound.ts';

/** Result of each SQL function that returns JSON. Contract tests compare it with the database. */
export type Results = {
  count_play: PlayCount;
  count_plays: PlayResult[];
  get_customer: Customer;
  get_sound: StoredSound;
  list_catalogue_changes: z.infer<typeof CatalogueChanges>;
  list_categories: Category[];
  list_favorites: Favorite[];
  list_history: { data: HistoryEntry[]; has_more: boolean };
  list_home_sections: HomeSection[];
  list_progress: ProgressEntry[];
  list_sessions: DeviceSession[];
  list_sound_files: StoredFiles[];
  list_sounds: SoundPage;
  save_progress: ProgressResult[];
  update_customer: Customer;
};

type Shape = 'array' | 'boolean' | readonly string[];

/**
 * Outer shape of the result of each SQL function that the gateway calls: a type, or keys of an object. It distinguishes
 * a result from the JSON of a proxy. Validating all fields would double the time of a request.
 */
const shapes = {
  add_favorite: 'boolean',
  clear_history: 'boolean',
  count_play: ['id', 'play_count'],
  count_plays: 'array',
  end_sessions: 'boolean',
  export_account: ['profile'],
  get_customer: ['id', 'marketing_opt_in'],
  get_sound: ['id', 'audio_path'],
  list_catalogue_changes: ['data', 'next'],
  list_categories: 'array',
  list_favorites: 'array',
  list_history: ['data', 'has_more'],
  list_home_sections: 'array',
  list_progress: 'array',
  list_sessions: 'array',
  list_sound_files: 'array',
  list_sounds: ['data', 'next_cursor'],
  remove_favorite: 'boolean',
  remove_from_history: 'boolean',
  save_progress: 'array',
  touch_last_seen: 'boolean',
  update_customer: ['id', 'marketing_opt_in'],
} as const satisfies Record<keyof Results, Shape> & Record<string, Shape>;

/** SQL function that the gateway calls. */
export type CalledFunction = keyof typeof shapes;

/** Returns the text at the start of the JSON of an object. */
export const startOf = (name: 'export_account') => `{"${shapes[name][0]}"`;

/** Tells whether JSON in parts can be the list or page that a function returns, by its beginning and its end. */
export function isJsonOf(name: CalledFunction, json: readonly Buffer[]): boolean {
  const shape: Shape = shapes[name];
  const start = json[0]?.toString('latin1', 0, 20) ?? '';
  const end = json.at(-1)?.toString('latin1').slice(-1);
  if (shape === 'array') return /^\[(\{"|\]$)/.test(start) && end === ']';
  return start.startsWith(`{"${shape[0]}"`) && end === '}';
}

/** Tells whether a value can be the result of a function. */
export function isResultOf(name: CalledFunction, value: unknown): boolean {
  const shape: Shape = shapes[name];
  if (shape === 'array') return Array.isArray(value);
  if (shape === 'boolean') return typeof value === 'boolean';
  return typeof value === 'object' && value !== null && shape.every((key) => key in value);
}

import { z } from 'zod';
import { AccountExport } from '../model/account-export.ts';
import { CatalogueChanges } from '../model/catalogue-change.ts';
import { Category } from '../model/category.ts';
import { Customer } from '../model/customer.ts';
import { Favorite } from '../model/favorite.ts';
import { HistoryEntry } from '../model/history.ts';
import { HomeSection } from '../model/home-section.ts';
import { PlayCount, PlayResult } from '../model/play.ts';
import { ProgressEntry, ProgressResult } from '../model/progress.ts';
import { DeviceSession } from '../model/session.ts';
import { SoundPage, StoredFiles, StoredSound } from '../model/sound.ts';

/**
 * Type of a result, and how to tell it from the JSON of a proxy: by its value, or by the beginning and the end of its
 * JSON. Validating all fields would double the time of a request.
 */
type Shape<T> = {
  isValue: (value: unknown) => boolean;
  isJson: (beginning: string, end: string) => boolean;
  type?: T;
};

const list = <S extends z.ZodType>(_item: S): Shape<z.output<S>[]> => ({
  isValue: Array.isArray,
  isJson: (beginning, end) => /^\[(\{"|\]$)/.test(beginning) && end === ']',
});
const boolean: Shape<boolean> = { isValue: (value) => typeof value === 'boolean', isJson: () => false };
function object<S extends z.ZodObject>({ shape }: S): Shape<z.output<S>> {
  const [key = ''] = Object.keys(shape);
  return {
    isValue: (value) => typeof value === 'object' && value !== null && key in value,
    isJson: (beginning, end) => beginning.startsWith(`{"${key}"`) && end === '}',
  };
}

/** Result of each SQL function that the gateway calls. Contract tests compare it with the database. */
const results = {
  add_favorite: boolean,
  clear_history: boolean,
  count_play: object(PlayCount),
  count_plays: list(PlayResult),
  end_sessions: boolean,
  export_account: object(AccountExport),
  get_customer: object(Customer),
  get_sound: object(StoredSound),
  list_catalogue_changes: object(CatalogueChanges),
  list_categories: list(Category),
  list_favorites: list(Favorite),
  list_history: object(z.object({ data: z.array(HistoryEntry), has_more: z.boolean() })),
  list_home_sections: list(HomeSection),
  list_progress: list(ProgressEntry),
  list_sessions: list(DeviceSession),
  list_sound_files: list(StoredFiles),
  list_sounds: object(SoundPage),
  remove_favorite: boolean,
  remove_from_history: boolean,
  save_progress: list(ProgressResult),
  touch_last_seen: boolean,
  update_customer: object(Customer),
};

export type CalledFunction = keyof typeof results;

export type Result<Name extends CalledFunction> = NonNullable<(typeof results)[Name]['type']>;

/** Tells whether a value can be the result of a function. */
export const isResultOf = (name: CalledFunction, value: unknown) => results[name].isValue(value);

/** Tells whether JSON in parts can be the result of a function. */
export const isJsonOf = (name: CalledFunction, json: readonly Buffer[]) =>
  results[name].isJson(json[0]?.toString('latin1', 0, 20) ?? '', json.at(-1)?.toString('latin1').slice(-1) ?? '');

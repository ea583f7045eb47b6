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

/** Type of a result, and how its JSON begins and ends, unlike that of a proxy. Validating all fields takes too long. */
type Shape<T> = { begins: RegExp; ends: string; type?: T };

const list = <S extends z.ZodType>(_item: S): Shape<z.output<S>[]> => ({ begins: /^\[(\{"|\]$)/, ends: ']' });
const boolean: Shape<boolean> = { begins: /^(true|false)$/, ends: 'e' };
function object<S extends z.ZodObject>({ shape }: S): Shape<z.output<S>> {
  return { begins: new RegExp(`^\\{"${Object.keys(shape)[0]}"`), ends: '}' };
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

/** SQL function that the gateway calls. */
export type CalledFunction = keyof typeof results;

export type Result<Name extends CalledFunction> = NonNullable<(typeof results)[Name]['type']>;

/** Tells whether JSON in parts can be the result of a function, by its beginning and its end. */
export function isResultOf(name: CalledFunction, json: readonly Buffer[]): boolean {
  const { begins, ends } = results[name];
  return begins.test(json[0]?.toString('latin1', 0, 20) ?? '') && json.at(-1)?.at(-1) === ends.charCodeAt(0);
}

export const isNull = (json: readonly Buffer[]) => json[0]?.toString() === 'null';

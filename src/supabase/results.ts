import { z } from 'zod';
import { AccountExport } from '../model/account-export.ts';
import { AppSettings } from '../model/app-settings.ts';
import { CatalogueChanges } from '../model/catalogue-change.ts';
import { Category } from '../model/category.ts';
import { Customer } from '../model/customer.ts';
import { Favorite } from '../model/favorite.ts';
import { HistoryEntry } from '../model/history.ts';
import { HomeSection } from '../model/home-section.ts';
import { ListResult, SavedList } from '../model/list.ts';
import { PlayCount, PlayResult } from '../model/play.ts';
import { ProgressEntry, ProgressResult } from '../model/progress.ts';
import { DeviceSession } from '../model/session.ts';
import { SoundPage, StoredFiles, StoredSound } from '../model/sound.ts';

/** Check that a value is a result and not the JSON of a proxy. Validating all fields would double a request's time. */
type Check<T> = ((value: unknown) => boolean) & { type?: T };

const boolean: Check<boolean> = (value) => typeof value === 'boolean';

function object<S extends z.ZodObject>({ shape }: S): Check<z.output<S>> {
  const [key = ''] = Object.keys(shape);
  return (value) => typeof value === 'object' && value !== null && key in value;
}

function list<S extends z.ZodObject>(item: S): Check<z.output<S>[]> {
  const isItem = object(item);
  return (value) => Array.isArray(value) && value.every(isItem);
}

/** Functions whose result the gateway reads. Contract tests compare the results with the database. */
const values = {
  adopt_guest: boolean,
  add_favorite: boolean,
  clear_history: boolean,
  count_play: object(PlayCount),
  count_plays: list(PlayResult),
  end_sessions: boolean,
  get_app_settings: object(z.object({ settings: AppSettings, guests: z.boolean() })),
  get_customer: object(Customer),
  get_sound: object(StoredSound),
  list_history: object(z.object({ data: z.array(HistoryEntry), has_more: z.boolean() })),
  list_sessions: list(DeviceSession),
  list_sound_files: list(StoredFiles),
  remove_favorite: boolean,
  remove_from_history: boolean,
  save_lists: list(ListResult),
  save_progress: list(ProgressResult),
  touch_last_seen: boolean,
  update_customer: object(Customer),
};

/** Beginning and end of the JSON of a result. */
interface Frame {
  beginning: string;
  end: string;
}

const objectJson = ({ shape }: z.ZodObject): Frame => ({ beginning: `{"${Object.keys(shape)[0]}"`, end: '}' });
const listJson = ({ shape }: z.ZodObject): Frame => ({ beginning: `[{"${Object.keys(shape)[0]}"`, end: ']' });

/** Functions whose result the gateway passes on as JSON, without reading it. */
const json = {
  export_account: objectJson(AccountExport),
  list_catalogue_changes: objectJson(CatalogueChanges),
  list_categories: listJson(Category),
  list_favorites: listJson(Favorite),
  list_home_sections: listJson(HomeSection),
  list_lists: listJson(SavedList),
  list_progress: listJson(ProgressEntry),
  list_sounds: objectJson(SoundPage),
};

export type ValueFunction = keyof typeof values;
export type JsonFunction = keyof typeof json;
export type CalledFunction = ValueFunction | JsonFunction;

export type Result<Name extends ValueFunction> = NonNullable<(typeof values)[Name]['type']>;

/** Names of the functions that a gateway needs to answer its endpoints. */
export const calledFunctions: readonly string[] = [...Object.keys(values), ...Object.keys(json), 'as_api_key'];

/** Tells whether a value can be the result of a function. */
export const isResultOf = (name: ValueFunction, value: unknown) => values[name](value);

/** Tells whether the first bytes of JSON can begin the result of a function, even if only a few have arrived. */
export function mayBegin(name: JsonFunction, start: Buffer): boolean {
  const { beginning } = json[name];
  const text = start.toString('latin1', 0, beginning.length);
  return text !== '' && beginning.startsWith(text);
}

/** Tells whether JSON in parts can be the result of a function. */
export function isJsonOf(name: JsonFunction, parts: readonly Buffer[]): boolean {
  const { beginning, end } = json[name];
  const [first = Buffer.alloc(0)] = parts;
  const start = (first.length < beginning.length ? Buffer.concat(parts) : first).toString(
    'latin1',
    0,
    beginning.length,
  );
  const isEmptyList = end === ']' && start === '[]';
  return isEmptyList || (start === beginning && parts.at(-1)?.toString('latin1').endsWith(end) === true);
}

import type { Caller, Explainer } from './explain.ts';
import { collectorId } from './load.ts';

/** Statement of one request. */
export interface Statement {
  name: string;
  caller: Caller;
  sql: string;
  /** Matches the indexes of which the plan must read at least one. */
  index: RegExp;
  /** Time limit in the database. Null: the limit is a multiple of reading all titles. */
  msMax: number | null;
  /** Reason why the limit is higher than that of similar requests. */
  why?: string | undefined;
}

type Limit = Statement['msMax'] | [msMax: number, why: string];

const anon: Caller = { role: 'anon' };
const user: Caller = { role: 'authenticated', user: collectorId };
const service: Caller = { role: 'service_role' };

function call(name: string, caller: Caller, sql: string, index: RegExp, limit: Limit = 1): Statement {
  const [msMax, why] = Array.isArray(limit) ? limit : [limit];
  return { name, caller, sql: `select public.${sql}`, index, msMax, why };
}

type Query = Partial<
  Record<'search' | 'category' | 'include_children' | 'featured' | 'cursor' | 'sort' | 'q' | 'min_duration', string>
> & { tag?: string[] };

function page(query: Query, index: RegExp): Statement {
  const shown = Object.entries(query).map(([name, value]) => `${name}=${name === 'cursor' ? '…' : value}`);
  const filters = JSON.stringify(query);
  const name = ['GET /sounds', ...(shown.length > 0 ? [shown.join('&')] : [])].join('?');
  return call(name, service, `list_sounds('${filters}')`, index, limitOf(query));
}

/** Returns the time limit. A search of one or two letters may have to read all titles, because no index covers it. */
function limitOf({ search = '', category, include_children, cursor, sort, tag, q, min_duration }: Query): Limit {
  if (q !== undefined && search !== '') return [120, 'also reads every title that contains the text'];
  if (q !== undefined) return [60, 'reads every sound with the words, to rank them'];
  if (sort ?? tag ?? min_duration) return 6;
  if (search !== '') return search.length < 3 && category === undefined ? null : 12;
  if (include_children) return [4, 'merges one range for each sub-intention'];
  return cursor === undefined ? 2 : [3, 'finds the position of the cursor first'];
}

const search = (term: string) => page({ search: term }, /^sounds_list$|^sounds_title$/);
const words = (q: string) => page({ q }, /^sounds_(words|list|by_title)$/);
const category = 'category-1';
const withChildren = { category, include_children: 'true' };

/** Returns SQL for the body of 100 plays, the maximum of one request. */
const hundredPlays = (sound: string) => `(
  select jsonb_agg(jsonb_build_object(
    'id', gen_random_uuid(), 'sound_id', '${sound}', 'played_at', now() - n * interval '6 hours'))
  from generate_series(1, 100) as n)`;

/** SQL for the body of 100 positions, the maximum of one request. */
const hundredPositions = `(
  select jsonb_agg(jsonb_build_object('sound_id', id, 'position_sec', 60, 'updated_at', now()))
  from (select id from public.sounds order by id limit 100) as sound)`;

/** Returns the statement of the page behind a cursor. */
export const pageAfter = (cursor: string) => page({ cursor }, /^sounds_list$/);

/** Returns the first page of the list, then one behind a cursor, and pages of a category and of featured sounds. */
const pagesInListOrder = (cursor: string): Statement[] => [
  page({}, /^sounds_list$/),
  pageAfter(cursor),
  page(withChildren, /^sounds_category$/),
  page({ ...withChildren, cursor }, /^sounds_category$/),
  page({ featured: 'true' }, /^sounds_featured$/),
  page({ featured: 'true', ...withChildren }, /^sounds_category_featured$|^sounds_featured$/),
  page({ featured: 'false' }, /^sounds_featured$/),
];

/** Searches of GET /sounds by `search`, a part of the title. */
const titleSearches: Statement[] = [
  ...['rain', 'bowl in c3', 'café', 'cafe', 'kyōto', 'midnight heartbeat near', 'owl at 432'].map(search),
  page({ search: 'xylophone' }, /^sounds_title$/),
  ...['a', 'ra', 'zz', 'ж'].map(search),
  page({ search: 'zz', featured: 'false' }, /^sounds_(featured|title)$/),
  page({ search: 'rain', category }, /^sounds_category$|^sounds_title$/),
  page({ search: 'zz', category }, /^sounds_category$|^sounds_title$/),
];

/** Pages of GET /sounds in other orders, and filtered by tag or duration. */
const otherPages: Statement[] = [
  page({ sort: 'newest' }, /^sounds_newest$/),
  page({ sort: 'title' }, /^sounds_by_title$/),
  page({ sort: 'popular' }, /^popularity_order$/),
  page({ sort: 'popular', ...withChildren }, /^popularity_order$|^sounds_category$/),
  page({ tag: ['rain'] }, /^sounds_(list|tags)$/),
  page({ tag: ['rain', 'loop'], sort: 'title' }, /^sounds_(by_title|tags)$/),
  page({ tag: ['nothing'] }, /^sounds_tags$/),
  page({ min_duration: '3590' }, /^sounds_(list|duration)$/),
];

/** Searches of GET /sounds by `q`, words in any order. */
const wordSearches: Statement[] = [
  ...[
    'rain',
    'deep rain by the lake',
    'raim',
    'xylophone',
    'zz',
    'r',
    'recorded cuts',
    'take thunder zen',
    'category 12',
    'midnihgt heartbaet',
    'recorded blue owl at c3 loop',
    'raim bowk gomg wavse wimd fier forset rvier thunedr brids',
    // Frequent words that never occur together, most words, and words of all sounds.
    'at the',
    'in the at on by of',
    'deep soft slow warm bright distant',
    'recorded moor under on take i recorded',
    'sounds for sleep',
    'the in '.repeat(14),
  ].map(words),
  page({ q: 'rain', ...withChildren }, /^sounds_(words|list|category)$/),
  page({ q: 'in', search: 'zz' }, /^sounds_(words|list)$/),
  page({ q: 'at without on', search: 'in the' }, /^sounds_(words|title)$/),
];

/** Returns the statements of the other endpoints. */
const calls = (sound: string, player: string): Statement[] => [
  call('GET /sounds?ids=…', service, `list_sounds('{"ids": ["${sound}"]}')`, /^sounds_pkey$/),
  call('POST /sounds/files', user, `list_sound_files('{"ids": ["${sound}"]}')`, /^sounds_pkey$/),
  call('GET /catalogue/changes', service, 'list_catalogue_changes()', /^catalogue_changes_number_key$/, 50),
  call('GET /sounds/{id}', user, `get_sound('${sound}')`, /^sounds_pkey$/),
  call(
    'POST /sounds/{id}/play',
    service,
    `count_play('${sound}', '${player}', gen_random_uuid()::text)`,
    /^sounds_pkey$/,
  ),
  call('POST /plays', service, `count_plays(${hundredPlays(sound)}, '${player}')`, /^sounds_pkey$/, 15),
  call('GET /history', user, 'list_history()', /^history_newest_first$/, 2),
  call(
    'GET /history?cursor=…',
    user,
    `list_history(50, now() - interval '1500 hours', '${sound}')`,
    /^history_newest_first$/,
    2,
  ),
  call('DELETE /history/{id}', user, `remove_from_history('${sound}')`, /^history_/),
  call('GET /progress', user, 'list_progress()', /^progress_/, 4),
  call('PUT /progress', user, `save_progress(${hundredPositions})`, /^sounds_pkey$/, 15),
  call('GET /categories', anon, 'list_categories()', /^categories_/, 4),
  call('GET /home', service, 'list_home_sections()', /^sounds_category$/, [10, 'fills twenty sections']),
  call('GET /favorites', user, 'list_favorites()', /^favorites_/, [25, 'returns the whole list, here of 2,000']),
  call('POST /favorites', user, `add_favorite('${sound}')`, /^sounds_pkey$/),
  call('DELETE /favorites/{id}', user, `remove_favorite('${sound}')`, /^favorites_/),
  call('GET /me/customer', user, 'get_customer()', /^customers_pkey$/),
  call('PATCH /me/customer', user, `update_customer('{"country": "DE"}')`, /^customers_pkey$/, [
    2,
    'checks the account, and writes the record with its rules',
  ]),
  call('last seen, after a response', user, 'touch_last_seen()', /^customers_pkey$/),
];

/**
 * Returns the statements behind the endpoints.
 * @param cursor `created_at` of a sound far into the list
 * @param sound id of a sound
 * @param player id of the account that plays it
 */
export const statements = (cursor: string, sound: string, player = collectorId): Statement[] => [
  ...pagesInListOrder(cursor),
  ...titleSearches,
  ...otherPages,
  ...wordSearches,
  ...calls(sound, player),
];

/** Tables that a statement may read as a whole, because they are small or a request needs all of their rows. */
const smallTables = ['categories', 'home_sections', 'catalogue_feed', 'objects', 'play_receipts', 'listening_days'];

/** Returns the tables that a statement may read as a whole: `sounds` for short searches, which no index covers. */
export const tablesReadWhole = ({ name }: Pick<Statement, 'name'>) =>
  /[?&](search|q)=.{1,2}(&|$)/.test(name) ? [...smallTables, 'sounds'] : smallTables;

/**
 * Tells whether a request reads rows until its page is full: a search, or a filter without an index in list order. Also
 * true for `ids`, because reading one row costs less than the call.
 */
export const isSearch = ({ name }: Pick<Statement, 'name'>) =>
  /[?&](search|q|tag|min_duration|ids)=|popular&category/.test(name);

/** Reads all titles in list order. */
const allTitles = `
  select id from public.sounds where is_active and octet_length(search_title) < 0
  order by list_rank desc, created_at desc limit 51`;

/**
 * Returns the statement to compare a page of `GET /sounds` with: one that reads its rows by their ids or, for a search
 * of one or two letters, all titles.
 * @returns null for other statements and longer searches, because finding their rows takes longer than reading them
 */
export async function plainRead(statement: Statement, explainer: Explainer): Promise<string | null> {
  const { caller, sql, msMax } = statement;
  if (msMax === null) return allTitles;
  if (!sql.includes('list_sounds') || isSearch(statement)) return null;
  const [page] = await explainer.rows(
    caller,
    `select array(select item ->> 'id' from json_array_elements((${sql}) -> 'data') as item) as ids`,
  );
  return `
    select sound.*, counter.plays
    from public.sounds as sound left join public.play_counts as counter on counter.sound_id = sound.id
    where sound.id = any ('{${page?.['ids']}}')`;
}

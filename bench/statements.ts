import type { Caller, Explainer } from './explain.ts';
import { COLLECTOR } from './load.ts';

/** What one request asks of the database. */
export interface Statement {
  name: string;
  caller: Caller;
  sql: string;
  /** Indexes of which at least one must be read. */
  index: RegExp;
}

const user: Caller = { role: 'authenticated', user: COLLECTOR };
const service: Caller = { role: 'service_role' };

const search = (term: string, index: RegExp, filter = ''): Statement => ({
  name: `GET /sounds?search=${term}${filter && '&category='}${filter.match(/category-\d+/)?.[0] ?? ''}`,
  caller: service,
  sql: `select public.list_sounds(title_search => '${term}'${filter})`,
  index,
});

const inListOrder = /^sounds_list$|^sounds_title$/;
const inCategory = /^sounds_category$|^sounds_title$/;
const intoCategory = `, category_slug => 'category-1'`;

/**
 * The statements behind the endpoints.
 * @param cursor created_at of the sound before the page that lies deep in the list
 * @param sound id of one
 */
export const statements = (cursor: string, sound: string): Statement[] => [
  { name: 'GET /sounds', caller: service, sql: 'select public.list_sounds()', index: /^sounds_list$/ },
  {
    name: 'GET /sounds?cursor=…, far into the list',
    caller: service,
    sql: `select public.list_sounds(after => '${cursor}')`,
    index: /^sounds_list$/,
  },
  {
    name: 'GET /sounds?category=category-1&include_children=true',
    caller: service,
    sql: `select public.list_sounds(category_slug => 'category-1', include_children => true)`,
    index: /^sounds_category$/,
  },
  {
    name: 'GET /sounds?category=category-1&include_children=true&cursor=…',
    caller: service,
    sql: `select public.list_sounds(category_slug => 'category-1', include_children => true, after => '${cursor}')`,
    index: /^sounds_category$/,
  },
  {
    name: 'GET /sounds?featured=true',
    caller: service,
    sql: 'select public.list_sounds(featured => true)',
    index: /^sounds_featured$/,
  },
  {
    name: 'GET /sounds?featured=true&category=category-1&include_children=true',
    caller: service,
    sql: `select public.list_sounds(featured => true, category_slug => 'category-1', include_children => true)`,
    index: /^sounds_category_featured$|^sounds_featured$/,
  },
  {
    name: 'GET /sounds?featured=false',
    caller: service,
    sql: 'select public.list_sounds(featured => false)',
    index: /^sounds_featured$/,
  },
  search('rain', inListOrder),
  search('bowl in c3', inListOrder),
  search('café', inListOrder),
  search('kyōto', inListOrder),
  search('midnight heartbeat near', inListOrder),
  search('owl at 432', inListOrder),
  search('xylophone', /^sounds_title$/),
  search('a', inListOrder),
  search('ra', inListOrder),
  search('zz', inListOrder),
  search('ж', inListOrder),
  {
    name: 'GET /sounds?search=zz&featured=false',
    caller: service,
    sql: `select public.list_sounds(title_search => 'zz', featured => false)`,
    index: /^sounds_(featured|title)$/,
  },
  search('rain', inCategory, intoCategory),
  search('zz', inCategory, intoCategory),
  {
    name: 'GET /sounds/{id}',
    caller: user,
    sql: `select public.get_sound('${sound}')`,
    index: /^sounds_pkey$/,
  },
  {
    name: 'POST /sounds/{id}/play',
    caller: service,
    sql: `select public.count_play('${sound}')`,
    index: /^sounds_pkey$/,
  },
  {
    name: 'GET /categories',
    caller: { role: 'anon' },
    sql: 'select public.list_categories()',
    index: /^categories_/,
  },
  {
    name: 'GET /home',
    caller: service,
    sql: 'select public.list_home_sections()',
    index: /^sounds_category$/,
  },
  { name: 'GET /favorites', caller: user, sql: 'select public.list_favorites()', index: /^favorites_/ },
  {
    name: 'POST /favorites',
    caller: user,
    sql: `select public.add_favorite('${sound}')`,
    index: /^sounds_pkey$/,
  },
  {
    name: 'DELETE /favorites/{id}',
    caller: user,
    sql: `select public.remove_favorite('${sound}')`,
    index: /^favorites_/,
  },
  { name: 'GET /me/customer', caller: user, sql: 'select public.get_customer()', index: /^customers_pkey$/ },
  {
    name: 'PATCH /me/customer',
    caller: user,
    sql: `select public.update_customer('{"country": "DE"}')`,
    index: /^customers_pkey$/,
  },
  {
    name: 'last seen, after a response',
    caller: user,
    sql: 'select public.touch_last_seen()',
    index: /^customers_pkey$/,
  },
];

/** Tables that a request may read as a whole: they are small, or it needs all of it. */
export const SMALL_TABLES = ['categories', 'home_sections'];

/** A search reads titles until its page is full; of another request, only so many rows are read as it needs. */
export const isSearch = ({ name }: Statement) => name.includes('search=');

/** A page of `GET /sounds` that is no search: what it takes is reading its rows and writing them as JSON. */
export const isPage = (statement: Statement) => statement.sql.includes('list_sounds') && !isSearch(statement);

/** Milliseconds that a statement may take in the database. */
export function msMax(statement: Statement): number {
  if (isSearch(statement)) return 25;
  if (isPage(statement)) return 2;
  const ofLists: Record<string, number> = { 'GET /categories': 4, 'GET /home': 8, 'GET /favorites': 18 };
  return ofLists[statement.name.replace(/,.*/, '')] ?? 1;
}

/** The rows of the page that a statement gives, read by their ids alone, with their play counts. */
export async function plainRead(
  { caller, sql }: Statement,
  explainer: Explainer,
): Promise<Pick<Statement, 'caller' | 'sql'>> {
  const [page] = await explainer.rows(
    caller,
    `select array(select item ->> 'id' from json_array_elements((${sql}) -> 'data') as item) as ids`,
  );
  return {
    caller,
    sql: `
      select sound.*, counter.plays
      from public.sounds as sound left join public.play_counts as counter on counter.sound_id = sound.id
      where sound.id = any ('{${page?.['ids']}}')`,
  };
}

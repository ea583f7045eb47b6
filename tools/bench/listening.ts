import { randomUUID } from 'node:crypto';
import type { Database } from '../../src/supabase/database.types.ts';

// What one user asks of the data API in 20 minutes of listening, as docs/deploy.md reckons.

/** Who asks, and about which sound. */
export type Player = { user: string; sound: string };

/** What a request asks of the data API. */
export type Call = Readonly<{
  request: string;
  /** How often. */
  times: number;
  role: 'authenticated' | 'service_role';
  name: keyof Database['public']['Functions'];
  args?: (player: Player) => Record<string, string>;
}>;

const service = 'service_role';
const authenticated = 'authenticated';
const list = (query: string, filters: object, times: number): Call => ({
  request: `GET /sounds${query}`,
  times,
  role: service,
  name: 'list_sounds',
  args: () => ({ filters: JSON.stringify(filters) }),
});
const category = 'category-1';
export const firstPage = list('', {}, 2);

export const calls: readonly Call[] = [
  { request: 'GET /home', times: 1, role: service, name: 'list_home_sections' },
  { request: 'GET /categories', times: 1, role: service, name: 'list_categories' },
  firstPage,
  list(`?category=${category}&include_children=true`, { category, include_children: true }, 1),
  list('?search=rain', { search: 'rain' }, 1),
  {
    request: 'GET /sounds/{id}',
    times: 5,
    role: authenticated,
    name: 'get_sound',
    args: ({ sound }) => ({ wanted_sound: sound }),
  },
  {
    request: 'POST /sounds/{id}/play',
    times: 5,
    role: service,
    name: 'count_play',
    args: ({ user, sound }) => ({ played_sound: sound, player: user, idempotency_key: randomUUID() }),
  },
  { request: 'GET /favorites', times: 1, role: authenticated, name: 'list_favorites' },
  {
    request: 'POST /favorites',
    times: 1,
    role: authenticated,
    name: 'add_favorite',
    args: ({ sound }) => ({ liked_sound: sound }),
  },
  {
    request: 'DELETE /favorites/{id}',
    times: 1,
    role: authenticated,
    name: 'remove_favorite',
    args: ({ sound }) => ({ disliked_sound: sound }),
  },
  { request: 'last seen, after a response', times: 1, role: authenticated, name: 'touch_last_seen' },
];
/** The calls, each as often as it is made. */
export const session = calls.flatMap((call) => Array.from({ length: call.times }, () => call));

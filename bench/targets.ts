import { Agent, fetch, request } from 'undici';
import { LOCAL_KEYS } from '../dev/keys.ts';
import { soundId } from './canned.ts';
import type { Round } from './generator.ts';
import type { User } from './users.ts';

type Call = { method: 'GET' | 'POST'; path: string; body?: object; as: 'user' | 'service' };

/** An endpoint of the gateway, and the calls to Supabase that answer it: each list of them at the same time. */
export type Target = Readonly<{ method: 'GET' | 'POST'; path: string; upstream: Call[][] }>;

const rpc = (name: string, as: Call['as'] = 'user', body = {}): Call => ({
  method: 'POST',
  path: `/rest/v1/rpc/${name}`,
  body,
  as,
});

const sign = (path: string): Call => ({
  method: 'POST',
  path: `/storage/v1/object/sign/${path}`,
  body: { expiresIn: 300 },
  as: 'service',
});

/** One run answers everybody who asks at the same time. */
export const catalogue: Target[] = [
  { method: 'GET', path: '/home', upstream: [[rpc('list_home_sections', 'service')]] },
  { method: 'GET', path: '/sounds', upstream: [[rpc('list_sounds', 'service')]] },
  { method: 'GET', path: '/categories', upstream: [[rpc('list_categories', 'service')]] },
];

/** Answered for each caller anew. `id`, `audio` and `cover` name a sound and its files. */
export const personal = (id = soundId, audio = 'bowls/1.m4a', cover = 'bowls/1.jpg'): Target[] => [
  { method: 'GET', path: '/me/customer', upstream: [[rpc('get_customer')]] },
  { method: 'GET', path: '/favorites', upstream: [[rpc('list_favorites')]] },
  {
    method: 'GET',
    path: `/sounds/${id}`,
    upstream: [
      [rpc('get_sound', 'user', { wanted_sound: id })],
      [sign(`audio/${audio}`), sign(`covers/${cover}`)],
    ],
  },
  {
    method: 'POST',
    path: `/sounds/${id}/play`,
    upstream: [[rpc('count_play', 'service', { played_sound: id })]],
  },
];

/** A target as tables name it. */
export const nameOf = ({ method, path }: Target) => `${method} ${path.replace(/[0-9a-f-]{36}/, '{id}')}`;

/** The bytes that an app sends, once for each user. */
export const requestsOf = ({ method, path }: Target, users: readonly User[], headers = '') =>
  users.map(({ token }) =>
    Buffer.from(
      `${method} /api/v1${path} HTTP/1.1\r\nHost: api.example.com\r\nUser-Agent: Sounds/3.1 (iPhone; iOS 19.4)\r\n` +
        `Accept: application/json\r\nAccept-Language: de-DE,de;q=0.9\r\nAuthorization: Bearer ${token}\r\n` +
        `${headers}${method === 'POST' ? 'Content-Length: 0\r\n' : ''}\r\n`,
    ),
  );

/** The one call that an app makes instead of those to Supabase. */
export const throughGateway = ({ method, path }: Target): Target => ({
  method,
  path,
  upstream: [[{ method, path: `/api/v1${path}`, as: 'user' }]],
});

export const createAgent = () => new Agent({ connections: 128, keepAliveTimeout: 30_000 });

const { publishableKey, secretKey } = LOCAL_KEYS;

/** Makes the upstream calls of a target for a user, with undici alone; resolves to what the last one answered. */
export async function callDirectly(
  url: string,
  { upstream }: Target,
  token: string,
  dispatcher: Agent,
  how: 'request' | 'fetch' = 'request',
): Promise<unknown> {
  async function call({ method, path, body, as }: Call): Promise<unknown> {
    const headers = {
      apikey: as === 'user' ? publishableKey : secretKey,
      Authorization: `Bearer ${as === 'user' ? token : secretKey}`,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    };
    const init = { dispatcher, method, headers, body: body === undefined ? null : JSON.stringify(body) };
    if (how === 'fetch') return (await fetch(url + path, init)).json();
    const answer = await request(url + path, init);
    if (answer.statusCode !== 200) throw new Error(`${path} answered ${answer.statusCode}`);
    return answer.body.json();
  }
  let last: unknown[] = [];
  for (const calls of upstream) last = await Promise.all(calls.map(call));
  return last.at(-1);
}

/** Clients in this process that make the calls of a target directly, each when it has the answers to the last ones. */
export function directly(
  url: string,
  target: Target,
  users: readonly User[],
  clients: number,
  how: 'request' | 'fetch' = 'request',
) {
  const agent = createAgent();
  let next = 0;

  async function repeat(until: number, latencies: number[]) {
    for (let sent = performance.now(); sent < until; sent = performance.now()) {
      const { token } = users[next++ % users.length] as User;
      await callDirectly(url, target, token, agent, how);
      latencies.push(performance.now() - sent);
    }
  }

  return {
    run: async (durationMs: number): Promise<Round> => {
      const latencies: number[] = [];
      const started = performance.now();
      await Promise.all(Array.from({ length: clients }, () => repeat(started + durationMs, latencies)));
      return { seconds: (performance.now() - started) / 1000, latencies };
    },
    close: () => agent.destroy(),
  };
}

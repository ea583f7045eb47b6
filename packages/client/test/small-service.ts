import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { listen } from '../../../test/support/gateway.ts';

type Body = Record<string, unknown>;
interface Play {
  id: string;
  sound_id: string;
  played_at: string;
}
interface Position {
  sound_id: string;
  position_sec: number | null;
  updated_at: string;
}
interface Reply {
  status: number;
  body: Body;
  headers?: Record<string, string>;
}

/**
 * Fate of a request: the service answers it, the answer is lost, the request arrives after later ones, or another server
 * answers instead.
 */
export type Fate =
  | 'answered'
  | 'lost answer'
  | 'late'
  | { status: number; headers: Record<string, string>; body: string };

/** Sound whose reports the service rejects as too large, alone as well. */
export const largeSound = '50000000-0000-4000-8000-000000000009';

/** Maximum number of reports in one request. */
const maxReports = 2;

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;
const user = { id: 'a user', email: 'ada@example.com' };
const seconds = () => Math.floor(Date.now() / 1_000);
const session = () => ({
  ...{ user, access_token: 'a', refresh_token: 'r', expires_at: seconds() + 86_400, expires_in: 86_400 },
});

const done: Reply = { status: 200, body: { data: { ok: true } } };
const error = (status: number, code: string, reason: string, field = ''): Reply => ({
  status,
  body: { error: { code, message: 'Made up.' } },
  headers: { 'X-Error-Reason': reason, ...(field && { 'X-Error-Field': field }) },
});

/** Serves favorites, plays and positions of one user by the rules of the contract, in memory. */
export async function startSmallService() {
  const favorites = new Set<string>();
  const plays = new Map<string, Play>();
  const positions = new Map<string, Position>();
  const sounds = new Set<string>();
  /** Requests that arrive right before the request with the number `at`. */
  const late: { at: number; method: string; path: string; body: Body }[] = [];
  let requests = 0;
  let next: (method: string, path: string) => Fate = () => 'answered';

  function addFavorite({ sound_id }: Body): Reply {
    if (!uuid.test(String(sound_id))) return error(400, 'invalid_request', 'validation', 'sound_id');
    if (!sounds.has(String(sound_id))) return error(404, 'not_found', 'no_such_sound');
    favorites.add(String(sound_id));
    return done;
  }

  function removeFavorite(id: string): Reply {
    if (!uuid.test(id)) return error(404, 'not_found', 'no_such_sound');
    favorites.delete(id);
    return done;
  }

  const isTooLarge = (sent: { sound_id: string }[]) =>
    sent.length > maxReports || sent.some(({ sound_id }) => sound_id === largeSound);

  function countPlays(sent: Play[]): Reply {
    if (isTooLarge(sent)) return error(400, 'invalid_request', 'too_large');
    if (sent.some(({ sound_id }) => !uuid.test(sound_id))) return error(400, 'invalid_request', 'validation', 'plays');
    const data = sent.map((play) => {
      const status = plays.has(play.id) ? 'duplicate' : sounds.has(play.sound_id) ? 'counted' : 'not_found';
      if (status === 'counted') plays.set(play.id, play);
      return { id: play.id, status };
    });
    return { status: 200, body: { data } };
  }

  function savePositions(sent: Position[]): Reply {
    if (isTooLarge(sent)) return error(400, 'invalid_request', 'too_large');
    if (sent.some(({ sound_id }) => !uuid.test(sound_id)))
      return error(400, 'invalid_request', 'validation', 'entries');
    const data = sent.map((entry) => {
      if (!sounds.has(entry.sound_id)) return { sound_id: entry.sound_id, status: 'not_found' };
      const { updated_at = '' } = positions.get(entry.sound_id) ?? {};
      if (entry.updated_at > updated_at) positions.set(entry.sound_id, entry);
      return { sound_id: entry.sound_id, status: entry.updated_at < updated_at ? 'older' : 'saved' };
    });
    return { status: 200, body: { data } };
  }

  function reply(method: string, path: string, body: Body): Reply {
    if (path.startsWith('/auth/signin')) return { status: 200, body: { data: session() } };
    if (path === '/config') return { status: 200, body: { data: {} } };
    if (path === '/progress' && method === 'GET') return { status: 200, body: { data: [] } };
    if (path === '/progress') return savePositions(body['entries'] as Position[]);
    if (path === '/plays') return countPlays(body['plays'] as Play[]);
    if (path === '/favorites') return addFavorite(body);
    if (path.startsWith('/favorites/')) return removeFavorite(decodeURIComponent(path.slice('/favorites/'.length)));
    return error(404, 'not_found', 'no_such_path');
  }

  async function serve(request: IncomingMessage, response: ServerResponse) {
    const { method = '', url = '' } = request;
    response.sendDate = false; // Node would send the real time, not that of the test
    const path = url.replace('/api/v1', '');
    const fate = next(method, path);
    const sent = await text(request);
    if (typeof fate === 'object') return void response.writeHead(fate.status, fate.headers).end(fate.body);
    const sentBody = sent ? JSON.parse(sent) : {};
    requests += 1;
    for (const each of late) if (each.at === requests) reply(each.method, each.path, each.body);
    if (fate === 'late') {
      // Changes of favorites have no time, so the service cannot tell that newer ones came before.
      if (!path.startsWith('/favorites'))
        late.push({ at: requests + 1 + (requests % 3), method, path, body: sentBody });
      return void response.destroy();
    }
    const { status, body, headers } = reply(method, path, sentBody);
    if (fate === 'lost answer') return void response.destroy();
    response.writeHead(status, { 'Content-Type': 'application/json', 'X-Service-Time': Date.now(), ...headers });
    response.end(JSON.stringify(body));
  }

  const { port, close } = await listen(createServer((request, response) => void serve(request, response)));
  onTestFinished(close);
  return {
    url: `http://127.0.0.1:${port}/api/v1`,
    favorites,
    plays,
    positions,
    /** Ids of the sounds that exist. */
    sounds,
    /** Selects the fate of each request. */
    decide(by: typeof next) {
      next = by;
    },
    reset() {
      for (const each of [favorites, plays, positions]) each.clear();
      late.length = 0;
    },
  };
}

import { localKeys } from '@sounds-service/local-supabase/keys';
import autocannon from 'autocannon';
import { SignJWT } from 'jose';
import { median } from 'simple-statistics';

/** Request of an app. `endpoint` contains the method, the path and, for some, JSON. */
export interface Request {
  readonly endpoint: string;
  readonly gzip: boolean;
}

/** Returns a token that is as long as one of Supabase Auth, because its length is part of the work. */
function createToken(index: number): Promise<string> {
  const sub = `c0000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
  const email = `user-${index}@example.com`;
  const metadata = { email, email_verified: true, full_name: `User ${index}`, phone_verified: false, sub };
  const session = { session_id: sub, aal: 'aal1', amr: [{ method: 'password', timestamp: 1_780_000_000 }] };
  return new SignJWT({ email, role: 'authenticated', user_metadata: metadata, ...session })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setIssuer('http://127.0.0.1:54321/auth/v1')
    .setSubject(sub)
    .setAudience('authenticated')
    .setExpirationTime('2h')
    .sign(new TextEncoder().encode(localKeys.jwtSecret));
}

const maxConnections = 64;

/** One token per connection. */
const tokens = await Promise.all(Array.from({ length: maxConnections }, (_, index) => createToken(index)));

/** Returns a request in the form of autocannon and fetch. */
export function requestOf({ endpoint, gzip }: Request, token = tokens[0]) {
  const [method, path, body] = endpoint.split(' ') as ['GET' | 'POST', string, string | undefined];
  const headers = {
    Authorization: `Bearer ${token}`,
    'Accept-Encoding': gzip ? 'gzip' : 'identity',
    'User-Agent': 'Sounds/3.1 (iPhone; iOS 19.4)',
    ...(body && { 'Content-Type': 'application/json' }),
  };
  return { method, path: `/api/v1${path}`, headers, ...(body && { body }) };
}

/** Supabase functions that a server calls for one response; a name is repeated if it is called twice. */
const callsOf: Record<string, string[]> = {
  'GET /home': ['list_home_sections'],
  'GET /sounds': ['list_sounds'],
  'GET /categories': ['list_categories'],
  'GET /catalogue/changes': ['list_catalogue_changes'],
  'POST /sounds/files': ['list_sound_files', 'sign', 'sign'],
  'GET /me/customer': ['get_customer'],
  'GET /favorites': ['list_favorites'],
  'POST /sounds/{id}/play': ['count_play'],
  'GET /sounds/{id}': ['get_sound', 'sign', 'sign'],
};

/** Returns method and path with {id}, without query and JSON. */
export const nameOf = (endpoint: string) => endpoint.replace(/[?].*| \{.*/, '').replace(/[0-9a-f-]{36}/, '{id}');

/** Checks the calls of a server. @throws if it called a function too often, or one that `callsOf` does not list */
async function checkCalls({ endpoint }: Request, responses: number, supabase: { url: string }) {
  const response = await fetch(`${supabase.url}/calls`);
  const calls = (await response.json()) as Record<string, number>;
  const declared = callsOf[nameOf(endpoint)] ?? [];
  for (const [name, count] of Object.entries(calls)) {
    const perResponse = declared.filter((each) => each === name).length;
    // When a load ends, each connection has a request in flight, whose calls may count here or in the next load.
    const allowed = perResponse * (responses + tokens.length) + 2 * tokens.length;
    if (count > allowed)
      throw new Error(`${endpoint}: ${name} was called ${count} times, at most ${allowed} are declared.`);
  }
}

/**
 * Puts a server under load: each connection repeats the request when the response has come.
 * @param supabase the stub behind the server
 * @param extent `duration` in seconds, or the number of requests
 * @returns the number of responses, and the median latency in milliseconds
 * @throws if there was no response, a status other than 2xx, or an undeclared call to Supabase
 */
export async function load(
  url: string,
  request: Request,
  supabase: { url: string },
  extent: { duration: number; connections?: number } | { amount: number },
) {
  const latencies: number[] = []; // autocannon's histogram counts in whole milliseconds
  let clients = 0;
  const { non2xx, errors } = await autocannon({
    url,
    connections: tokens.length,
    sampleInt: 100, // interval in milliseconds at which it checks the duration
    setupClient(client) {
      client.setRequests([requestOf(request, tokens[clients++ % tokens.length])]);
      client.on('response', (_status, _bytes, milliseconds) => latencies.push(milliseconds));
    },
    ...extent,
  });
  if (latencies.length === 0 || non2xx + errors > 0)
    throw new Error(`${request.endpoint}: ${latencies.length} responses, ${non2xx} rejections, ${errors} errors.`);
  await checkCalls(request, latencies.length, supabase);
  return { responses: latencies.length, p50: median(latencies) };
}

import autocannon from 'autocannon';
import { SignJWT } from 'jose';
import { LOCAL_KEYS } from 'local-supabase/keys';
import { median } from 'simple-statistics';

/** A request as an app sends it; `endpoint` is its method and path, and its JSON if it has any. */
export type Request = Readonly<{ endpoint: string; gzip: boolean }>;

/** As long as a token of Supabase Auth: its length is part of the work. */
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
    .sign(new TextEncoder().encode(LOCAL_KEYS.jwtSecret));
}

/** Of a user for each connection. */
const tokens = await Promise.all(Array.from({ length: 64 }, (_, index) => createToken(index)));

/** A request as autocannon and fetch take it. */
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

/**
 * Puts a server under load: every connection sends the requests over and over, each when the one before is answered.
 * @param extent for how many seconds, or how many requests in all; at how many connections
 * @returns how many answers, and the median of their latency in milliseconds
 * @throws an Error when nothing, or anything but success, was answered
 */
export async function load(
  url: string,
  requests: readonly Request[],
  extent: { duration: number; connections?: number } | { amount: number },
) {
  const latencies: number[] = []; // autocannon's own histogram counts in whole milliseconds
  let clients = 0;
  const result = await autocannon({
    url,
    connections: tokens.length,
    sampleInt: 100, // how often it looks whether the time is over, in milliseconds
    setupClient(client) {
      const token = tokens[clients % tokens.length];
      const first = clients++ % requests.length; // connections send different requests at a time
      const inTurn = [...requests.slice(first), ...requests.slice(0, first)];
      client.setRequests(inTurn.map((request) => requestOf(request, token)));
      client.on('response', (_status, _bytes, milliseconds) => latencies.push(milliseconds));
    },
    ...extent,
  });
  const { non2xx, errors } = result;
  if (latencies.length === 0 || non2xx + errors > 0)
    throw new Error(
      `${requests[0]?.endpoint}: ${latencies.length} answers, ${non2xx} rejections, ${errors} errors.`,
    );
  return { answers: latencies.length, p50: median(latencies) };
}

import type { HonoContext, ResolvedKey } from '@supabase/lite';
import type { Context, MiddlewareHandler } from 'hono';
import { localKeys } from '../keys.ts';

// Paths without a key: links in mails, key sets, and Storage, which checks tokens itself.
const pathsWithoutKey =
  /^\/auth\/v1\/(callback|authorize|verify|oauth\/|sso\/|\.well-known\/)|^\/(?!rest\/v1|auth\/v1)/;

const rolesByKey = new Map<string, ResolvedKey>([
  [localKeys.publishableKey, { type: 'publishable', claims: { role: 'anon' } }],
  [localKeys.secretKey, { type: 'secret', claims: { role: 'service_role' } }],
]);

/** Returns the type and role of a local key. Returns null for any other key. */
export const resolveKey = (key: string): Promise<ResolvedKey | null> => Promise.resolve(rolesByKey.get(key) ?? null);

/**
 * Rejects calls without a known API key, as Supabase's gateway does. Lite checks keys only after this middleware, and
 * handles calls of its studio without a key as service_role.
 */
export const requireApiKey: MiddlewareHandler<HonoContext> = async (c, next) => {
  if (c.req.method === 'OPTIONS' || pathsWithoutKey.test(c.req.path) || isStudio(c.req.raw)) return next();
  const key = c.req.header('apikey') ?? c.req.query('apikey');
  if (!key) {
    const hint = 'No `apikey` request header or url param was found.';
    return c.json({ message: 'No API key found in request', hint }, 401);
  }
  if (!(await resolveKey(key))) {
    return c.json({ message: 'Invalid API key', hint: 'Double check your Supabase `apikey`' }, 401);
  }
  return next();
};

/** Tells whether a request has the secret key and no token of a user. */
export async function isService(c: Context): Promise<boolean> {
  const key = c.req.header('apikey') ?? '';
  const bearer = c.req.header('authorization')?.replace(/^Bearer\s+/i, '') ?? key;
  return bearer === key && (await resolveKey(key))?.type === 'secret';
}

/** Tells whether a page of the studio sent a request, by a header that browsers set and pages cannot forge. */
export function isStudio(request: Request): boolean {
  return request.headers.get('sec-fetch-site') === 'same-origin';
}

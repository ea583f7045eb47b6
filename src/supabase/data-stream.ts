import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type { Config } from '../config/config.ts';
import type { UserCaller } from '../model/caller.ts';
import { errorOf } from './data-json.ts';
import type { Upstream } from './fetch.ts';

/** Beginning of the JSON of AccountExport. */
const beginning = '{"profile"';

/** Rejects a body that does not begin like the result, such as the page of a proxy. */
async function expectStart(body: Readable): Promise<Readable> {
  await Promise.race([once(body, 'readable'), once(body, 'end')]); // an empty body never becomes readable
  const start: Buffer | null = body.read();
  if (start !== null && beginning.startsWith(start.toString('latin1', 0, beginning.length))) {
    body.unshift(start);
    return body;
  }
  body.on('error', () => {}).destroy();
  throw new Error('The 200 response is not the result');
}

/** Returns a function that streams the export of a user, one at a time, because it is too large to hold. */
export function createDataStream({ supabase }: Config, { stream }: Upstream) {
  const lastOf = new Map<string, Promise<void>>();

  async function call(token: string): Promise<Readable> {
    const answer = await stream(`${supabase.url}/rest/v1/rpc/export_account`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        apikey: supabase.publishableKey,
        Authorization: `Bearer ${token}`,
      },
      body: '{}',
    });
    if (!('status' in answer)) return expectStart(answer);
    throw await errorOf(answer, 'export_account');
  }

  return async ({ userId, token }: UserCaller): Promise<Readable> => {
    const before = lastOf.get(userId);
    const { promise, resolve } = Promise.withResolvers<void>();
    lastOf.set(userId, promise);
    const end = () => {
      if (lastOf.get(userId) === promise) lastOf.delete(userId);
      resolve();
    };
    try {
      await before;
      return (await call(token)).once('close', end);
    } catch (error) {
      end();
      throw error;
    }
  };
}

import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type { Config } from '../config.ts';
import type { UserCaller } from '../model/caller.ts';
import { errorOf } from './data-json.ts';
import type { Upstream } from './fetch.ts';
import { startOf } from './results.ts';

type StreamedFunction = Parameters<typeof startOf>[0];

/** Rejects a body that does not begin like the result, such as the page of a proxy. */
async function expectStart(body: Readable, expected: string): Promise<Readable> {
  await Promise.race([once(body, 'readable'), once(body, 'end')]); // an empty body never becomes readable
  const start: Buffer | null = body.read();
  if (start !== null && expected.startsWith(start.toString('latin1', 0, expected.length))) {
    body.unshift(start);
    return body;
  }
  body.on('error', () => {}).destroy();
  throw new Error('The 200 response is not the result');
}

/**
 * Streams JSON that is too large to hold, because supabase-js parses every response.
 * @returns a function that calls a SQL function without arguments as its caller, one at a time for each user.
 *   It throws PostgrestError as supabase-js does.
 */
export function createDataStream({ supabase }: Config, { stream }: Upstream) {
  const lastOf = new Map<string, Promise<void>>();

  async function call(name: StreamedFunction, token: string): Promise<Readable> {
    const answer = await stream(`${supabase.url}/rest/v1/rpc/${name}`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        apikey: supabase.publishableKey,
        Authorization: `Bearer ${token}`,
      },
      body: '{}',
    });
    if (!('status' in answer)) return expectStart(answer, startOf(name));
    throw await errorOf(answer, name);
  }

  return async ({ userId, token }: UserCaller, name: StreamedFunction): Promise<Readable> => {
    const before = lastOf.get(userId);
    const { promise, resolve } = Promise.withResolvers<void>();
    lastOf.set(userId, promise);
    const end = () => {
      if (lastOf.get(userId) === promise) lastOf.delete(userId);
      resolve();
    };
    try {
      await before;
      return (await call(name, token)).once('close', end);
    } catch (error) {
      end();
      throw error;
    }
  };
}

export type DataStream = ReturnType<typeof createDataStream>;

import type { Readable } from 'node:stream';
import { PostgrestError } from '@supabase/supabase-js';
import { z } from 'zod';
import type { Config } from '../config.ts';
import type { Upstream } from './fetch.ts';

const ErrorBody = z
  .object({ code: z.string(), message: z.string() })
  .transform((body) => ({ ...body, details: '', hint: '' }));

/**
 * What supabase-js cannot do: it parses every answer.
 * @returns a function that calls a SQL function without arguments as the user of a token, and resolves to its JSON as it comes.
 *   It throws PostgrestError as supabase-js does.
 */
export const createDataStream =
  ({ supabase }: Config, { stream }: Upstream) =>
  async (name: string, token: string): Promise<Readable> => {
    const answer = await stream(`${supabase.url}/rest/v1/rpc/${name}`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        apikey: supabase.publishableKey,
        Authorization: `Bearer ${token}`,
      },
      body: '{}',
    });
    if (!('status' in answer)) return answer;
    throw new PostgrestError(ErrorBody.parse(await answer.json()));
  };

export type DataStream = ReturnType<typeof createDataStream>;

import { PostgrestError } from '@supabase/supabase-js';
import { z } from 'zod';
import type { Config } from '../config/config.ts';
import type { Caller } from '../model/caller.ts';
import type { Fetch } from './fetch.ts';
import type { CalledFunction } from './results.ts';

/**
 * Reads whose result does not depend on the caller. They are sent as GET, so that a read replica can answer them.
 * Arguments with text of a client must begin with "{", because PostgREST reads text such as "in.(a)" as a filter.
 */
export const catalogueReads: ReadonlySet<CalledFunction> = new Set([
  'list_catalogue_changes',
  'list_categories',
  'list_home_sections',
  'list_sounds',
]);

const ErrorBody = z
  .object({ code: z.string().regex(/^(PGRST\w{3}|\w{5})$/), message: z.string() })
  .transform((body) => ({ ...body, details: '', hint: '' }));

/** Returns the error of a response. Omits the text of a proxy, because it may repeat the user's search. */
export async function errorOf(answer: Response, name: string): Promise<Error> {
  const { data } = ErrorBody.safeParse(await answer.json().catch(() => undefined));
  return data ? new PostgrestError(data) : new Error(`The ${answer.status} response to ${name} is not from PostgREST`);
}

type Call = Readonly<{
  name: CalledFunction;
  args: object;
  /** Runs the function as this caller, or as a guest if it is null. */
  caller: Caller | null;
  /** Runs the function with the rights of the service, unless the caller has an API key. */
  asService: boolean;
}>;

/** Returns a function that reads JSON without parsing it, unlike supabase-js. It throws PostgrestError. */
export function createDataJson({ supabase, secrets }: Config, fetch: Fetch) {
  return async ({ name, args, caller, asService }: Call): Promise<readonly Buffer[]> => {
    const viaKey = caller?.via === 'api_key';
    const key = asService || viaKey ? secrets.supabaseSecretKey : supabase.publishableKey;
    const token = asService || caller?.via !== 'jwt' ? key : caller.token;
    const url = new URL(`${supabase.url}/rest/v1/rpc/${viaKey ? 'as_api_key' : name}`);
    const isGet = catalogueReads.has(name) && !viaKey;
    if (isGet) for (const [argument, value] of Object.entries(args)) url.searchParams.set(argument, String(value));
    const body = viaKey ? { key_hash: caller.keyHash, operation: name, arguments: args } : args;
    const answer = await fetch(url.href, {
      method: isGet ? 'GET' : 'POST',
      headers: { 'Content-Type': 'application/json', apikey: key, Authorization: `Bearer ${token}` },
      ...(!isGet && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw await errorOf(answer, name);
    return answer.parts;
  };
}

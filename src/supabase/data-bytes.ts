import type { Readable } from 'node:stream';
import { PostgrestError } from '@supabase/supabase-js';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { Config } from '../config/config.ts';
import type { Caller } from '../model/caller.ts';
import type { Upstream } from './fetch.ts';
import { createReplica, type WholeAnswer } from './replica.ts';
import type { JsonFunction } from './results.ts';

/**
 * Reads whose result does not depend on the caller. They are sent as GET, so that a read replica can answer them.
 * Arguments with text of a client must begin with "{", because PostgREST reads text such as "in.(a)" as a filter.
 */
export const catalogueReads: ReadonlySet<JsonFunction> = new Set([
  'list_catalogue_changes',
  'list_categories',
  'list_home_sections',
  'list_sounds',
]);

interface BytesCall {
  readonly name: JsonFunction;
  /** Arguments by name. Those of catalogue reads must be strings, because they are sent in the query. */
  readonly args: object;
  /** Runs the function as this caller, or without a token if it is null. */
  readonly caller: Caller | null;
  /** Runs the function with the rights of the service, unless the caller has an API key. */
  readonly asService: boolean;
}

/** Scope of an API key in an error. Other texts become empty, because they may repeat the user's search. */
const scope = z.enum(['catalogue', 'read', 'all']).or(z.literal('')).catch('');

const ErrorBody = z.object({
  code: z.string().regex(/^(PGRST\w{3}|\w{5})$/),
  message: z.string(),
  details: scope,
  hint: scope,
});

/** Returns the error of a response. Omits the text of a proxy, because it may repeat the user's search. */
function errorOf({ status, parts }: WholeAnswer, name: string): Error {
  const { data } = ErrorBody.safeParse(parsed(parts));
  return data ? new PostgrestError(data) : new Error(`The ${status} response to ${name} is not from PostgREST`);
}

function parsed(parts: readonly Buffer[]): unknown {
  try {
    return JSON.parse(Buffer.concat(parts).toString());
  } catch {
    return undefined;
  }
}

/**
 * Creates the calls that pass on the JSON of the database as bytes: parsing it, as supabase-js does, and writing it
 * again would take most of the time of a long list. All throw PostgrestError, or an Error without text of the response.
 */
export function createDataBytes({ supabase, secrets }: Config, { stream }: Upstream, log: Logger) {
  function requestOf({ name, args, caller, asService }: BytesCall) {
    const viaKey = caller?.via === 'api_key';
    const key = asService || viaKey ? secrets.supabaseSecretKey : supabase.publishableKey;
    const token = asService || caller?.via !== 'jwt' ? key : caller.token;
    const headers = { 'Content-Type': 'application/json', apikey: key, Authorization: `Bearer ${token}` };
    // POST reaches only the primary, because a replica may not know yet that a key was revoked.
    if (viaKey) {
      const body = JSON.stringify({ key_hash: caller.keyHash, operation: name, arguments: args });
      return { path: '/rest/v1/rpc/as_api_key', init: { method: 'POST', headers, body } };
    }
    if (!catalogueReads.has(name))
      return { path: `/rest/v1/rpc/${name}`, init: { method: 'POST', headers, body: JSON.stringify(args) } };
    const query = new URLSearchParams(args as Record<string, string>);
    return { path: `/rest/v1/rpc/${name}?${query}`, init: { method: 'GET', headers } };
  }

  async function ask(url: string, init: RequestInit, service: 'data' | 'replica'): Promise<WholeAnswer> {
    const { status, body } = await stream(url, init, service);
    return { status, parts: await body.toArray() };
  }

  const askReplica = supabase.readUrl === null ? null : createReplica(ask, supabase.readUrl, log);

  return {
    /** Returns the JSON of a list in parts, because joining megabytes takes time. */
    async read(call: BytesCall): Promise<readonly Buffer[]> {
      const { path, init } = requestOf(call);
      const ofReplica = init.method === 'GET' ? await askReplica?.(path, init) : null;
      const answer = ofReplica ?? (await ask(supabase.url + path, init, 'data'));
      if (answer.status !== 200) throw errorOf(answer, call.name);
      return answer.parts;
    },

    /** Returns the JSON of an export as it arrives, because it is too large for memory. */
    async open(call: BytesCall): Promise<Readable> {
      const { path, init } = requestOf(call);
      const { status, body } = await stream(supabase.url + path, init, 'export');
      if (status !== 200) throw errorOf({ status, parts: await body.toArray() }, call.name);
      return body;
    },
  };
}

export type DataBytes = ReturnType<typeof createDataBytes>;

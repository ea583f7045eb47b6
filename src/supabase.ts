import { createClient, type PostgrestError } from '@supabase/supabase-js';
import { type Caller, tokenRefused } from './caller.ts';
import type { Config } from './config.ts';
import type { Database, Json } from './database.types.ts';
import { ApiError, notFound, serverError } from './errors.ts';
import { type Deadline, type Fetch, upstreamBudgetMs } from './upstream.ts';

type Functions = Database['public']['Functions'];

/** Functions that only the service may run, for whomever it does so. */
const serviceFunctions: ReadonlySet<string> = new Set(['count_play'] satisfies (keyof Functions)[]);

/** PostgREST's and Postgres' codes to answers, never by message. Everything absent here is our own failure. */
function fromPostgrest({ code, message }: PostgrestError, withUserToken: boolean): ApiError {
  const error = new Error(`PostgREST answered ${code}: ${message}`);
  switch (code) {
    case 'PT401': // as_api_key: the key is not live
      return tokenRefused(error);
    case 'PGRST301': // bad token
    case 'PGRST303': // expired token
      return withUserToken ? tokenRefused(error) : serverError(error);
    case '23503': // what a new row refers to has just been deleted
      return notFound('resource');
    case '23514': // a check constraint that is stricter than our validation
    case '22P02':
    case '22003':
    case '22008':
      return new ApiError('invalid_request', 'The values were not accepted.', { cause: error });
    default:
      return serverError(error);
  }
}

/** Data and files of the project. Every call names whom it is made for and when it must have ended. */
export function createSupabase(
  { supabase: { url, publicUrl, publishableKey }, secrets }: Config,
  fetch: Fetch,
) {
  const options = { auth: { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false } };
  const asUser = createClient<Database>(url, publishableKey, { ...options, global: { fetch } });
  const asService = createClient<Database>(url, secrets.supabaseSecretKey, { ...options, global: { fetch } });

  /**
   * Runs a SQL function that returns one jsonb value, as the caller; as a guest when there is none.
   * A caller with an API key acts through as_api_key, which checks the key and becomes its owner in the same trip.
   * @throws ApiError by the code of the error; server_error when the database does not answer in time.
   */
  async function callFunction<Name extends keyof Functions & string>(
    caller: Caller | null,
    name: Name,
    deadline: Deadline,
    args: Functions[Name]['Args'] = {},
  ): Promise<unknown> {
    const signal = deadline.signal(upstreamBudgetMs.data);
    const withUserToken = caller?.via === 'jwt' && !serviceFunctions.has(name);
    const call =
      caller?.via === 'api_key'
        ? asService.rpc('as_api_key', { key_hash: caller.keyHash, operation: name, arguments: args as Json })
        : (serviceFunctions.has(name) ? asService : asUser).rpc(name, args);
    if (withUserToken) call.setHeader('Authorization', `Bearer ${caller.token}`);
    const { data, error } = await call.abortSignal(signal);
    if (error) throw fromPostgrest(error, withUserToken);
    return data;
  }

  /**
   * A signed address of a stored file, good for anyone who holds it.
   * @returns null when there is no such file.
   * @throws ApiError server_error when Storage does not answer in time.
   */
  async function signUrl(bucket: string, path: string, lifetimeSeconds: number, deadline: Deadline) {
    // storage-js takes no signal; a client costs some ten microseconds, so each signing has its own fetch.
    const signal = deadline.signal(upstreamBudgetMs.data);
    const { storage } = createClient(url, secrets.supabaseSecretKey, {
      ...options,
      global: { fetch: (input, init) => fetch(input, { ...init, signal }) },
    });
    const { data, error } = await storage.from(bucket).createSignedUrl(path, lifetimeSeconds);
    if (!error) return data.signedUrl.replace(url, publicUrl);
    if ('statusCode' in error && error.statusCode === '404') return null;
    throw serverError(error);
  }

  return { callFunction, signUrl };
}

export type Supabase = ReturnType<typeof createSupabase>;

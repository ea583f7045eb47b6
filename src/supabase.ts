import { z } from 'zod';
import { type Caller, tokenRefused } from './caller.ts';
import type { Config } from './config.ts';
import type { Database } from './database.types.ts';
import { ApiError, notFound, serverError } from './errors.ts';
import { Json } from './json.ts';
import { type Deadline, type Upstream, type UpstreamAnswer, upstreamBudgetMs } from './upstream.ts';

type Functions = Database['public']['Functions'];
type FunctionName = keyof Functions & string;

/**
 * Functions that the service runs for users: count_play because no user may, the others because one run may answer
 * many callers and must not fail with the token of one.
 */
const serviceFunctions: ReadonlySet<FunctionName> = new Set([
  'count_play',
  'list_sounds',
  'list_home_sections',
  'list_categories',
] satisfies FunctionName[]);

/** Functions that may give no value: those that find no row answer null, those that return nothing answer 204. */
const mayBeNull = {
  get_sound: 200,
  count_play: 200,
  get_customer: 200,
  update_customer: 200,
  remove_favorite: 204,
  touch_last_seen: 204,
} as const satisfies { [Name in FunctionName]?: 200 | 204 };
type MayBeNull = keyof typeof mayBeNull;

/** Whether it is, as far as its ends tell, what functions return: an object, a list or a truth value. */
const isValue = (text: string) =>
  ['{}', '[]'].includes(`${text.at(0)}${text.at(-1)}`) || text === 'true' || text === 'false';

const Refusal = z.object({ code: z.string(), message: z.string() });

/** PostgREST's and Postgres' codes to answers, never by message. Everything absent here is our own failure. */
function refused({ status, body }: UpstreamAnswer, name: FunctionName, withUserToken: boolean): ApiError {
  const refusal = Refusal.safeParse(body);
  if (!refusal.success) return serverError(new Error(`PostgREST answered ${status} to ${name}`));
  const { code, message } = refusal.data;
  const error = new Error(`PostgREST answered ${status} ${code} to ${name}: ${message}`);
  switch (code) {
    case 'PT401': // as_api_key: the key is not live
      return tokenRefused(error);
    case 'PGRST301': // bad token
    case 'PGRST303': // expired token
      return withUserToken ? tokenRefused(error) : serverError(error);
    case '23503': // what a new row refers to has just been deleted
      return notFound('resource');
    case '23514': // a check constraint that is stricter than our validation
      return name === 'update_customer'
        ? new ApiError('invalid_request', 'The values were not accepted.', { cause: error })
        : serverError(error);
    default:
      return serverError(error);
  }
}

const Signed = z.object({ signedURL: z.string() });
const StorageRefusal = z.object({ statusCode: z.string() });

/** Data and files of the project. Every call names whom it is made for and when it must have ended. */
export function createSupabase(
  { supabase: { publicUrl, publishableKey }, secrets: { supabaseSecretKey } }: Config,
  upstream: Upstream,
) {
  // A key is its own bearer: so the platform's edge knows that no user is meant.
  const headersOf = (apikey: string, bearer = apikey) => ({ apikey, Authorization: `Bearer ${bearer}` });

  /**
   * Runs a SQL function that returns one jsonb value, as the caller; as a guest when there is none.
   * A caller with an API key acts through as_api_key, which checks the key and becomes its owner in the same trip.
   * @returns its value as Postgres wrote it; null only from a function that found no row or returns nothing.
   * @throws ApiError by the code of the error; server_error when the database does not answer in time.
   */
  async function readJson<Name extends FunctionName>(
    caller: Caller | null,
    name: Name,
    deadline: Deadline,
    args: Functions[Name]['Args'] = {},
  ): Promise<Json | (Name extends MayBeNull ? null : never)> {
    const withUserToken = caller?.via === 'jwt' && !serviceFunctions.has(name);
    const asOwner = caller?.via === 'api_key';
    const answer = await upstream.call(`rest/v1/rpc/${asOwner ? 'as_api_key' : name}`, {
      service: 'data',
      headers: withUserToken
        ? headersOf(publishableKey, caller.token)
        : headersOf(asOwner || serviceFunctions.has(name) ? supabaseSecretKey : publishableKey),
      body: asOwner ? { key_hash: caller.keyHash, operation: name, arguments: args } : args,
      ...deadline.within(upstreamBudgetMs.data),
    });
    const { status, text } = answer;
    if (status === 200 && isValue(text)) return new Json(text);
    // An API key's call goes through as_api_key, which always returns something.
    const isNothing =
      name in mayBeNull &&
      (status === 204 ? mayBeNull[name as MayBeNull] === 204 : status === 200 && text === 'null');
    if (!isNothing) throw refused(answer, name, withUserToken);
    return null as Name extends MayBeNull ? null : never;
  }

  /** Like readJson, for a value that is looked into. */
  async function callFunction<Name extends FunctionName>(
    ...call: Parameters<typeof readJson<Name>>
  ): Promise<unknown> {
    const json = await readJson(...call);
    return json === null ? null : JSON.parse(json.text);
  }

  /**
   * A signed address of a stored file, good for anyone who holds it.
   * @returns null when there is no such file.
   * @throws ApiError server_error when Storage does not answer in time.
   */
  async function signUrl(bucket: string, path: string, lifetimeSeconds: number, deadline: Deadline) {
    // The path needs no escaping: constraints on its column allow URL-safe characters only.
    const { status, body } = await upstream.call(`storage/v1/object/sign/${bucket}/${path}`, {
      service: 'storage',
      headers: headersOf(supabaseSecretKey),
      body: { expiresIn: lifetimeSeconds },
      ...deadline.within(upstreamBudgetMs.data),
    });
    const signed = Signed.safeParse(body);
    if (status === 200 && signed.success) return `${publicUrl}/storage/v1${signed.data.signedURL}`;
    // Storage names a missing file in the body of a 400.
    if (StorageRefusal.safeParse(body).data?.statusCode === '404') return null;
    throw serverError(new Error(`Storage answered ${status} to the signing of ${bucket}/${path}`));
  }

  return { readJson, callFunction, signUrl };
}

export type Supabase = ReturnType<typeof createSupabase>;

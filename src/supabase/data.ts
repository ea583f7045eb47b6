import { PostgrestError } from '@supabase/supabase-js';
import { type Caller, tokenRefused } from '../caller.ts';
import { ApiError, notFound, serverError } from '../http/errors.ts';
import type { Clients } from './clients.ts';
import type { Database } from './database.types.ts';

type Functions = Database['public']['Functions'];
type FunctionName = keyof Functions & string;

/** Those of a function; they may be left out where it needs none. */
type Arguments<Name extends FunctionName> =
  Record<never, never> extends Functions[Name]['Args']
    ? [args?: Functions[Name]['Args']]
    : [args: Functions[Name]['Args']];

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
const statusOfNothing: { [Name in FunctionName]?: 200 | 204 } = {
  get_sound: 200,
  count_play: 200,
  get_customer: 200,
  update_customer: 200,
  remove_favorite: 204,
  touch_last_seen: 204,
};

/** What to say where the database checks more than our validation does. */
const refusedByCheck: { [Name in FunctionName]?: string } = {
  update_customer: 'The values were not accepted.',
  add_favorite: 'You have 5,000 favorites, which is the most. Remove one to add another.',
};

/** PostgREST's and Postgres' codes to answers, never by message. Everything absent here is our own failure. */
function refused(error: PostgrestError, name: FunctionName, withUserToken: boolean): ApiError {
  const cause = new Error(`PostgREST answered ${error.code || 'without a code'} to ${name}`, {
    cause: error,
  });
  switch (error.code) {
    case 'PT401': // as_api_key: the key is not live
      return tokenRefused(cause);
    case 'PGRST301': // bad token
    case 'PGRST303': // expired token
      return withUserToken ? tokenRefused(cause) : serverError(cause);
    case '23503': // what a new row refers to has just been deleted
      return notFound('resource');
    case '23514': {
      // a check of the database
      const message = refusedByCheck[name];
      return message === undefined ? serverError(cause) : new ApiError('invalid_request', message, { cause });
    }
    default:
      return serverError(cause);
  }
}

/** The data of the project: SQL functions, each run as its caller. */
export function createData({ user, service }: Clients) {
  function query<Name extends FunctionName>(
    caller: Caller | null,
    name: Name,
    args: Functions[Name]['Args'],
  ) {
    // A caller with an API key acts through as_api_key, which checks the key and becomes its owner in the same trip.
    if (caller?.via === 'api_key')
      return service.rpc('as_api_key', { key_hash: caller.keyHash, operation: name, arguments: args });
    if (serviceFunctions.has(name)) return service.rpc(name, args);
    const call = user.rpc(name, args);
    return caller === null ? call : call.setHeader('Authorization', `Bearer ${caller.token}`);
  }

  return {
    /**
     * Runs a SQL function as the caller; as a guest when there is none.
     * @returns its value; null only from a function that found no row or returns nothing
     * @throws ApiError by the code of the error; server_error when the database does not answer in time
     */
    async call<Name extends FunctionName>(
      caller: Caller | null,
      name: Name,
      ...[args = {}]: Arguments<Name>
    ): Promise<unknown> {
      const { data, status } = await query(caller, name, args)
        .throwOnError()
        .then(undefined, (error: unknown) => {
          if (!(error instanceof PostgrestError)) throw serverError(error);
          throw refused(error, name, caller?.via === 'jwt' && !serviceFunctions.has(name));
        });
      // A 404 without a body looks like a 204 by now; as_api_key always returns something.
      const expected = caller?.via === 'api_key' ? 200 : statusOfNothing[name];
      if (data === null && (!(name in statusOfNothing) || status !== expected))
        throw serverError(new Error(`PostgREST answered ${status} and no value to ${name}`));
      return data;
    },
  };
}

export type Data = ReturnType<typeof createData>;

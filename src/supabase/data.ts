import type { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { PostgrestError } from '@supabase/supabase-js';
import type { ErrorReason } from '../error-reasons.ts';
import { ApiError, notFound, serverError } from '../errors.ts';
import { type Caller, invalidToken, type UserCaller } from '../model/caller.ts';
import type { Client, Clients } from './clients.ts';
import type { DataStream } from './data-stream.ts';
import type { Database } from './database.types.ts';
import { timeLeftMs } from './fetch.ts';
import type { Results } from './results.ts';

type Functions = Database['public']['Functions'];
type FunctionName = keyof Functions & string;

type Result<Name extends FunctionName> = Name extends keyof Results
  ? Results[Name]
  : Functions[Name]['Returns'];

/** Those of a function; they may be left out where it needs none. */
type Arguments<Name extends FunctionName> =
  Record<never, never> extends Functions[Name]['Args']
    ? [args?: Functions[Name]['Args']]
    : [args: Functions[Name]['Args']];

/**
 * What reads the same for everybody, and nothing that is the caller's own. These are called by GET, which PostgREST runs in a
 * read-only transaction, so that a read replica may answer. Text that a client chose must begin with "{" in their arguments:
 * PostgREST takes "in.(a)" or "fts(english).cat" for a filter of the result, though "in" and "fts(x" for text.
 */
export const catalogueReads: ReadonlySet<FunctionName> = new Set([
  'get_sound',
  'list_catalogue_changes',
  'list_categories',
  'list_home_sections',
  'list_sound_files',
  'list_sounds',
]);

/** Functions that change nothing: a failed call may be repeated. */
const reads: ReadonlySet<FunctionName> = new Set([
  ...catalogueReads,
  'get_customer',
  'list_favorites',
  'list_history',
]);

/**
 * What PostgREST answers while its pool holds connections that Postgres has dropped: each answer takes one of them out, so that
 * asking again helps.
 */
const isOfDeadConnection = ({ code }: PostgrestError) => code === '57P01' || code === 'PGRST001';

/** How long to wait before a read is repeated, in milliseconds, at most: where Postgres is away, asking does not bring it back. */
const longestPauseMs = 100;

/** Errors for checks of the database that go beyond our validation. */
const checkErrors: { [Name in FunctionName]?: { message: string; reason?: ErrorReason; field?: string } } = {
  update_customer: { message: 'The values were not accepted.' },
  add_favorite: {
    message: 'You have 5,000 favorites, which is the most. Remove one to add another.',
    reason: 'too_many_favorites',
  },
  list_sounds: { message: 'cursor: must be the next_cursor of a page with the same sort.', field: 'cursor' },
  count_play: {
    message: 'Idempotency-Key: was used for another sound. Make a new one for each play.',
    reason: 'key_reused',
    field: 'Idempotency-Key',
  },
};

/** Maps the codes of PostgREST and Postgres to answers, never their messages. Any other code is a failure of ours. */
function mapDataError(error: PostgrestError, name: FunctionName, withUserToken: boolean): ApiError {
  const cause = new Error(`PostgREST answered ${error.code || 'without a code'} to ${name}`, {
    cause: error,
  });
  switch (error.code) {
    case 'PT401': // as_api_key: the key is not live
      return invalidToken(cause);
    case 'PGRST301': // bad token
    case 'PGRST303': // expired token
      return withUserToken ? invalidToken(cause) : serverError(cause);
    case '23503': // what a new row refers to has just been deleted
      return notFound('resource');
    case '23514': {
      // a check of the database
      const { message, ...rest } = checkErrors[name] ?? {};
      return message ? new ApiError('invalid_request', message, { cause, ...rest }) : serverError(cause);
    }
    default:
      return serverError(cause);
  }
}

/** For `.catch` behind a call. @param isUsers whether it was made with the token of a user */
const rethrowMapped =
  (name: FunctionName, isUsers: boolean) =>
  (error: unknown): never => {
    throw error instanceof PostgrestError ? mapDataError(error, name, isUsers) : serverError(error);
  };

const noValue = (status: number, name: FunctionName) =>
  serverError(new Error(`PostgREST answered ${status} and no value to ${name}`));

/** The data of the project: SQL functions. */
export function createData({ user, service }: Clients, stream: DataStream) {
  function query<Name extends FunctionName>(
    runner: Client,
    caller: Caller | null,
    name: Name,
    args: Functions[Name]['Args'],
  ) {
    // A caller with an API key acts through as_api_key, which checks the key and becomes its owner in the same trip. It is a POST
    // for reads as well: a replica may not have heard yet that the key was revoked, and cannot note that it was used.
    if (caller?.via === 'api_key')
      return service.rpc('as_api_key', { key_hash: caller.keyHash, operation: name, arguments: args });
    const call = runner.rpc(name, args, { get: catalogueReads.has(name) });
    return caller === null || runner === service
      ? call
      : call.setHeader('Authorization', `Bearer ${caller.token}`);
  }

  /** Calls, and retries within the deadline where that may help. */
  async function askAgain<T>(ask: () => PromiseLike<T>, isRepeatable: boolean): Promise<T> {
    const giveUpAt = performance.now() + timeLeftMs('data');
    for (let tries = 1; ; tries++) {
      try {
        return await ask();
      } catch (error) {
        const pauseMs = Math.min(tries, longestPauseMs);
        const mayHelp = isRepeatable && error instanceof PostgrestError && isOfDeadConnection(error);
        if (!mayHelp || performance.now() + pauseMs > giveUpAt) throw error;
        await setTimeout(pauseMs);
      }
    }
  }

  async function run<Name extends FunctionName>(
    runner: Client,
    caller: Caller | null,
    name: Name,
    args: Functions[Name]['Args'],
  ): Promise<Result<Name> | null> {
    // Its own retries would come after 1, 2 and 4 s, beyond the deadline.
    const ask = () => query(runner, caller, name, args).retry(false).throwOnError();
    const isUsers = caller?.via === 'jwt' && runner === user;
    const answer = await askAgain(ask, reads.has(name)).catch(rethrowMapped(name, isUsers));
    const { data, status }: { data: unknown; status: number } = answer;
    // postgrest-js turns a 404 without a body into a 204.
    if (data === null && status !== 200) throw noValue(status, name);
    return data as Result<Name> | null;
  }

  const callsBy = (runner: Client) => ({
    /** Calls a function that always has a value. */
    async call<Name extends FunctionName>(
      caller: Caller | null,
      name: Name,
      ...[args = {}]: Arguments<Name>
    ): Promise<Result<Name>> {
      const value = await run(runner, caller, name, args);
      if (value === null) throw noValue(200, name);
      return value;
    },

    /** Calls a function that may find nothing, and then has the value null. */
    find: <Name extends FunctionName>(caller: Caller | null, name: Name, ...[args = {}]: Arguments<Name>) =>
      run(runner, caller, name, args),
  });

  /**
   * Each takes the caller, null for a guest, the name of a SQL function and its arguments; runs that function as the caller, and
   * returns its value.
   * @throws ApiError by the code of the error; server_error when the database does not answer in time
   */
  return {
    ...callsBy(user),
    /**
     * The same, by the service for users: what they may not do themselves, and what one run answers to many, who must not fail
     * with the token of one. API keys act as their owner here, too.
     */
    service: callsBy(service),
    /** Calls a function that changes nothing and has no arguments; returns its JSON as it comes, which is neither held nor read. */
    stream: (caller: UserCaller, name: FunctionName): Promise<Readable> =>
      askAgain(() => stream(caller, name), true).catch(rethrowMapped(name, true)),
  };
}

export type Data = ReturnType<typeof createData>;

import type { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { PostgrestError } from '@supabase/supabase-js';
import { ApiError, type ErrorReason, notFound, serverError } from '../errors.ts';
import { type Caller, invalidToken, type UserCaller } from '../model/caller.ts';
import type { Client, Clients } from './clients.ts';
import type { DataJson } from './data-json.ts';
import type { DataStream } from './data-stream.ts';
import type { Database } from './database.types.ts';
import { timeLeftMs } from './fetch.ts';
import { type CalledFunction, isJsonOf, isResultOf, type Results } from './results.ts';

type Functions = Database['public']['Functions'];
type FunctionName = CalledFunction;

type Result<Name extends FunctionName> = Name extends keyof Results ? Results[Name] : Functions[Name]['Returns'];

/** Arguments of a SQL function. Optional where the function requires none. */
type Arguments<Name extends FunctionName> =
  Record<never, never> extends Functions[Name]['Args']
    ? [args?: Functions[Name]['Args']]
    : [args: Functions[Name]['Args']];

/**
 * Reads whose result does not depend on the caller. They are sent as GET, so that a read replica can answer them.
 * Arguments with text of a client must begin with "{", because PostgREST reads text such as "in.(a)" as a filter.
 */
export const catalogueReads: ReadonlySet<FunctionName> = new Set([
  'list_catalogue_changes',
  'list_categories',
  'list_home_sections',
  'list_sounds',
]);

/** Functions that change nothing, so that a failed call can be repeated. */
const reads: ReadonlySet<FunctionName> = new Set([
  ...catalogueReads,
  'get_customer',
  'get_sound',
  'list_favorites',
  'list_history',
  'list_progress',
  'list_sessions',
  'list_sound_files',
]);

/**
 * Tells whether Postgres has closed the connection. Repeating the call helps, because PostgREST removes one closed
 * connection from its pool with each error.
 */
const isClosedConnection = ({ code }: PostgrestError) => code === '57P01' || code === 'PGRST001';

const checkViolation = '23514';

/** Maximum pause before a read is repeated. */
const maxPauseMs = 100;

/** Errors for CHECK constraints that the gateway's validation does not cover. */
const checkErrors: { [Name in FunctionName]?: { message: string; reason?: ErrorReason; field?: string } } = {
  update_customer: { message: 'The values were not accepted.' },
  add_favorite: {
    message: 'You have 5,000 favorites, which is the maximum. Remove one to add another.',
    reason: 'too_many_favorites',
  },
  list_sounds: { message: 'cursor: must be the next_cursor of a page with the same sort.', field: 'cursor' },
  count_play: {
    message: 'Idempotency-Key: was used for another sound. Make a new one for each play.',
    reason: 'key_reused',
    field: 'Idempotency-Key',
  },
};

/** Maps the codes of PostgREST and Postgres to errors for the client, without their messages. Default: server_error. */
function mapDataError(error: PostgrestError, name: FunctionName, withUserToken: boolean): ApiError {
  // Omit an error without a code of PostgREST or Postgres, because a proxy wrote it, perhaps with the user's search.
  const known = /^(PGRST\w{3}|\w{5})$/.test(error.code) ? { cause: error } : {};
  const cause = new Error(`PostgREST answered ${error.code || 'without a code'} to ${name}`, known);
  switch (error.code) {
    case 'PT401': // as_api_key: the key is not active
      return invalidToken(cause);
    case 'PGRST301': // invalid token
    case 'PGRST303': // expired token
      return withUserToken ? invalidToken(cause) : serverError(cause);
    case '23503': // a row that the new one references was deleted meanwhile
      return notFound('resource');
    case checkViolation: {
      const { message, ...rest } = checkErrors[name] ?? {};
      return message ? new ApiError('invalid_request', message, { cause, ...rest }) : serverError(cause);
    }
    default:
      return serverError(cause);
  }
}

/** Returns the `.catch` handler of a call. @param withUserToken whether the call carried the token of a user */
const rethrowMapped =
  (name: FunctionName, withUserToken: boolean) =>
  (error: unknown): never => {
    throw error instanceof PostgrestError ? mapDataError(error, name, withUserToken) : serverError(error);
  };

const noValue = (status: number, name: FunctionName) =>
  serverError(new Error(`PostgREST answered ${status} and no value to ${name}`));

/** Returns the calls of the project's SQL functions. */
export function createData({ user, service }: Clients, stream: DataStream, readJson: DataJson) {
  function query<Name extends FunctionName>(
    runner: Client,
    caller: Caller | null,
    name: Name,
    args: Functions[Name]['Args'],
  ) {
    // as_api_key verifies the key and runs the function as its owner in one call. The primary also answers reads,
    // because a replica may not know yet that the key was revoked, and cannot record its use.
    if (caller?.via === 'api_key')
      return service.rpc('as_api_key', { key_hash: caller.keyHash, operation: name, arguments: args });
    const call = runner.rpc(name, args, { get: catalogueReads.has(name) });
    return caller === null || runner === service ? call : call.setHeader('Authorization', `Bearer ${caller.token}`);
  }

  /** Makes a call, and repeats a read within its deadline if its connection was closed. */
  async function withRetries<T>(ask: () => PromiseLike<T>, isRepeatable: boolean): Promise<T> {
    const giveUpAt = performance.now() + timeLeftMs('data');
    for (let tries = 1; ; tries++) {
      try {
        return await ask();
      } catch (error) {
        const pauseMs = Math.min(tries, maxPauseMs);
        const mayHelp = isRepeatable && error instanceof PostgrestError && isClosedConnection(error);
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
    // Disables the retries of supabase-js after 1, 2 and 4 s, because they would miss the deadline.
    const ask = () => query(runner, caller, name, args).retry(false).throwOnError();
    const withUserToken = caller?.via === 'jwt' && runner === user;
    const answer = await withRetries(ask, reads.has(name)).catch(rethrowMapped(name, withUserToken));
    const { data, status }: { data: unknown; status: number } = answer;
    // A 404 without a body arrives as 204, because postgrest-js changes it.
    if (data === null ? status !== 200 : !isResultOf(name, data)) throw noValue(status, name);
    return data as Result<Name> | null;
  }

  const callsBy = (runner: Client) => ({
    /** Calls a function that never returns null. */
    async call<Name extends FunctionName>(
      caller: Caller | null,
      name: Name,
      ...[args = {}]: Arguments<Name>
    ): Promise<Result<Name>> {
      const value = await run(runner, caller, name, args);
      if (value === null) throw noValue(200, name);
      return value;
    },

    /** Calls a function that returns null if it finds nothing. */
    find: <Name extends FunctionName>(caller: Caller | null, name: Name, ...[args = {}]: Arguments<Name>) =>
      run(runner, caller, name, args),

    /** Returns the JSON of a list in parts, without parsing it, which would take most of the time of a long list. */
    async json<Name extends FunctionName>(caller: Caller | null, name: Name, ...[args = {}]: Arguments<Name>) {
      const asService = runner === service;
      const ask = () => readJson({ asService, caller, name, args, asGet: catalogueReads.has(name) });
      const withUserToken = caller?.via === 'jwt' && !asService;
      const json = await withRetries(ask, reads.has(name)).catch(rethrowMapped(name, withUserToken));
      if (!isJsonOf(name, json)) throw noValue(200, name);
      return json;
    },
  });

  /**
   * Each method runs a SQL function as the caller, or as a guest if that is null, and returns its value.
   * @throws ApiError chosen by the code of the error; server_error when the database does not answer in time
   */
  return {
    ...callsBy(user),
    /**
     * Runs functions with the rights of the service: those that users may not call, and shared reads, which must not
     * fail because the token of one caller expires. API keys still run as their owner.
     */
    service: callsBy(service),
    /** Streams the JSON of a read without arguments, without holding or parsing it. */
    stream: (caller: UserCaller, name: Parameters<DataStream>[1]): Promise<Readable> =>
      withRetries(() => stream(caller, name), true).catch(rethrowMapped(name, true)),
  };
}

export type Data = ReturnType<typeof createData>;

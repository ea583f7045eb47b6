import type { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { PostgrestError } from '@supabase/supabase-js';
import type { Config } from '../config.ts';
import { ApiError, type ErrorReason, notFound, serverError } from '../errors.ts';
import { type Caller, invalidToken, type UserCaller } from '../model/caller.ts';
import { createDataStream } from './data-stream.ts';
import type { Database } from './database.types.ts';
import { type Answer, type Fetch, timeLeftMs, type Upstream } from './fetch.ts';
import { type CalledFunction, isNull, isResultOf, type Result } from './results.ts';
import { catalogueReads, createRpc } from './rpc.ts';

type Functions = Database['public']['Functions'];

/** Caller (null for a guest), SQL function and its arguments, which are optional if the function requires none. */
type Call<Name extends CalledFunction> = [
  caller: Caller | null,
  name: Name,
  ...(Record<never, never> extends Functions[Name]['Args']
    ? [args?: Functions[Name]['Args']]
    : [args: Functions[Name]['Args']]),
];

/**
 * Calls of SQL functions. All throw ApiError by the code of the database: unauthorized for a rejected token or API key,
 * invalid_request for a constraint, not_found for a row that was deleted meanwhile, else server_error.
 */
interface DataCalls {
  /** Returns the value of a function that never returns null. */
  call<Name extends CalledFunction>(...call: Call<Name>): Promise<Result<Name>>;
  /** Returns the value of a function, or null if it finds nothing. */
  find<Name extends CalledFunction>(...call: Call<Name>): Promise<Result<Name> | null>;
  /** Returns the JSON of a list without parsing it, in parts, because that takes most of the time of a long list. */
  json<Name extends CalledFunction>(...call: Call<Name>): Promise<readonly Buffer[]>;
}

export interface Data extends DataCalls {
  /**
   * Runs functions with the rights of the service: those that users may not call, and shared reads, which must not fail
   * because the token of one caller expires. API keys still run as their owner.
   */
  service: DataCalls;
  /** Streams the JSON of an export, without holding or parsing it. Throws as `call` does. */
  exportAccount(caller: UserCaller): Promise<Readable>;
}

/** Functions that change nothing, so that a failed call can be repeated. */
const reads: ReadonlySet<CalledFunction> = new Set([
  ...catalogueReads,
  'export_account',
  'get_customer',
  'get_sound',
  'list_favorites',
  'list_history',
  'list_progress',
  'list_sessions',
  'list_sound_files',
]);

/** Tells whether Postgres closed the connection. Repeating helps, because PostgREST drops one with each error. */
const isClosedConnection = ({ code }: PostgrestError) => code === '57P01' || code === 'PGRST001';

/** Maximum pause before a read is repeated. */
const maxPauseMs = 100;

const checkViolation = '23514';
const foreignKeyViolation = '23503';

/** Errors for CHECK constraints that the gateway's validation does not cover. */
const checkErrors: { [Name in CalledFunction]?: { message: string; reason?: ErrorReason; field?: string } } = {
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

/** Maps an error of PostgREST or Postgres to one for the client, without its message. Default: server_error. */
function mapDataError(error: unknown, name: CalledFunction, withUserToken: boolean): ApiError {
  if (!(error instanceof PostgrestError)) return serverError(error);
  const cause = new Error(`PostgREST answered ${error.code} to ${name}`, { cause: error });
  switch (error.code) {
    case 'PT401': // as_api_key: the key is not active
      return invalidToken(cause);
    case 'PGRST301': // invalid token
    case 'PGRST303': // expired token
      return withUserToken ? invalidToken(cause) : serverError(cause);
    case foreignKeyViolation: // a row that the new one references was deleted meanwhile
      return notFound('resource');
    case checkViolation: {
      const { message, ...rest } = checkErrors[name] ?? {};
      return message ? new ApiError('invalid_request', message, { cause, ...rest }) : serverError(cause);
    }
    default:
      return serverError(cause);
  }
}

/** Repeats a read within its deadline if its connection was closed. */
async function withRetries<T>(name: CalledFunction, ask: () => Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + timeLeftMs('data');
  for (let tries = 1; ; tries++) {
    try {
      return await ask();
    } catch (error) {
      const pauseMs = Math.min(tries, maxPauseMs);
      const mayHelp = reads.has(name) && error instanceof PostgrestError && isClosedConnection(error);
      if (!mayHelp || performance.now() + pauseMs > giveUpAt) throw error;
      await setTimeout(pauseMs);
    }
  }
}

const parsed = async (answer: Answer) => JSON.parse(await answer.text());

/** Creates the calls of the project's SQL functions. @param fetch sends reads to a replica, if there is one */
export function createData(config: Config, fetch: Fetch, upstream: Upstream): Data {
  const rpc = createRpc(config, fetch);
  const stream = createDataStream(config, upstream);

  function run<T>(name: CalledFunction, withUserToken: boolean, ask: () => Promise<T>): Promise<T> {
    return withRetries(name, ask).catch((error: unknown) => {
      throw mapDataError(error, name, withUserToken);
    });
  }

  function callsWith(asService: boolean): DataCalls {
    function read<T>(
      caller: Caller | null,
      name: CalledFunction,
      args: object,
      take: (answer: Answer) => Promise<T>,
      mayBeNull = false,
    ) {
      return run(name, caller?.via === 'jwt' && !asService, async () => {
        const answer = await rpc({ asService, caller, name, args });
        if (isResultOf(name, answer.parts) || (mayBeNull && isNull(answer.parts))) return take(answer);
        throw new Error(`PostgREST answered ${answer.status} and no value to ${name}`);
      });
    }
    return {
      call: (caller, name, ...[args = {}]) => read(caller, name, args, parsed),
      find: (caller, name, ...[args = {}]) => read(caller, name, args, parsed, true),
      json: (caller, name, ...[args = {}]) => read(caller, name, args, async ({ parts }) => parts),
    };
  }

  return {
    ...callsWith(false),
    service: callsWith(true),
    exportAccount: (caller) => run('export_account', true, () => stream(caller)),
  };
}

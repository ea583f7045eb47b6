import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { PostgrestError } from '@supabase/supabase-js';
import type { ErrorReason } from '../error-reasons.ts';
import { ApiError, beyondScope, notFound, serverError } from '../errors.ts';
import { type Caller, invalidToken, type UserCaller } from '../model/caller.ts';
import type { Client, Clients } from './clients.ts';
import { catalogueReads, type DataBytes } from './data-bytes.ts';
import type { Database } from './database.types.ts';
import { timeLeftMs } from './fetch.ts';
import { oneAtATime } from './one-at-a-time.ts';
import {
  type CalledFunction,
  isJsonOf,
  isResultOf,
  type JsonFunction,
  mayBegin,
  type Result,
  type ValueFunction,
} from './results.ts';

type Functions = Database['public']['Functions'];

/** Caller (null without a token), SQL function and its arguments, which are optional if the function requires none. */
type Call<Name extends CalledFunction> = [
  caller: Caller | null,
  name: Name,
  ...(Record<never, never> extends Functions[Name]['Args']
    ? [args?: Functions[Name]['Args']]
    : [args: Functions[Name]['Args']]),
];

/**
 * Calls of SQL functions. All throw ApiError by the code of the database: unauthorized for a token or API key that is
 * rejected or whose scope is too small, invalid_request for a violated constraint, not_found for a row that was deleted
 * meanwhile, else server_error.
 */
interface DataCalls {
  /** Returns the value of a function that never returns null. */
  call<Name extends ValueFunction>(...call: Call<Name>): Promise<Result<Name>>;
  /** Returns the value of a function, or null if it finds nothing. */
  find<Name extends ValueFunction>(...call: Call<Name>): Promise<Result<Name> | null>;
  /** Returns the JSON of a list in parts, without parsing it, which would take most of the time of a long list. */
  json<Name extends JsonFunction>(...call: Call<Name>): Promise<readonly Buffer[]>;
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
  'get_app_settings',
  'get_customer',
  'get_sound',
  'list_favorites',
  'list_history',
  'list_lists',
  'list_progress',
  'list_sessions',
  'list_sound_files',
]);

/** Tells whether Postgres closed the connection. Repeating helps, because PostgREST drops one connection per error. */
const isClosedConnection = ({ code }: PostgrestError) => code === '57P01' || code === 'PGRST001';

/** Maximum number of repetitions of a read. Each helps only if another connection of PostgREST is alive. */
const maxRepetitions = 15;

/** Returns the pause before a repetition, 2, 8, 18 … 450 ms, which together take 2.5 s. */
const pauseBeforeMs = (repetition: number) => 2 * repetition ** 2;

const checkViolation = '23514';
/** Error that only as_api_key raises. Its details are the scope of the key, its hint the scope that is needed. */
const scopeExceeded = 'SSKEY';
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
  // Omit the message of a SyntaxError, because it repeats the text of a proxy.
  if (error instanceof SyntaxError) return serverError(new Error(`PostgREST answered no JSON to ${name}`));
  if (!(error instanceof PostgrestError)) return serverError(error);
  // Omit an error without a code of PostgREST or Postgres, because a proxy wrote it, perhaps with the user's search.
  const known = /^(PGRST\w{3}|\w{5})$/.test(error.code) ? { cause: error } : {};
  const cause = new Error(`PostgREST answered ${error.code || 'without a code'} to ${name}`, known);
  switch (error.code) {
    case 'PT401': // the API key is not active, the account or session has ended, or the token is of another app
      return invalidToken(cause);
    case scopeExceeded:
      return beyondScope(error.details, error.hint, cause);
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

/** Repeats a read within its deadline if its connection was closed, at most 15 times. */
async function withRepetitions<T>(name: CalledFunction, ask: () => Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + timeLeftMs('data');
  for (let repetition = 1; ; repetition++) {
    try {
      return await ask();
    } catch (error) {
      const pauseMs = pauseBeforeMs(repetition);
      const mayHelp = reads.has(name) && error instanceof PostgrestError && isClosedConnection(error);
      if (!mayHelp || repetition > maxRepetitions || performance.now() + pauseMs > giveUpAt) throw error;
      await setTimeout(pauseMs);
    }
  }
}

/** Returns a body that begins like the result. @throws Error for another one, such as the page of a proxy */
async function expectBeginning(name: JsonFunction, body: Readable): Promise<Readable> {
  await Promise.race([once(body, 'readable'), once(body, 'end')]); // an empty body never becomes readable
  const start: Buffer | null = body.read();
  if (start !== null && mayBegin(name, start)) {
    body.unshift(start);
    return body;
  }
  body.on('error', () => {}).destroy();
  throw new Error(`PostgREST answered no value to ${name}`);
}

/** Creates the call that returns a value by supabase-js, or null if `mayBeNull` and the function finds nothing. */
function createValueReader({ service }: Pick<Clients, 'service'>) {
  function query<Name extends ValueFunction>(client: Client, ...[caller, name, args = {}]: Call<Name>) {
    // as_api_key verifies the key and runs the function as its owner in one call.
    if (caller?.via === 'api_key')
      return service.rpc('as_api_key', { key_hash: caller.keyHash, operation: name, arguments: args });
    const call = client.rpc(name, args);
    return caller === null || client === service ? call : call.setHeader('Authorization', `Bearer ${caller.token}`);
  }

  return async <Name extends ValueFunction>(client: Client, mayBeNull: boolean, call: Call<Name>) => {
    const name = call[1];
    // Disables the retries of supabase-js after 1, 2 and 4 s, because they would miss the deadline.
    const answer = await query(client, ...call)
      .retry(false)
      .throwOnError();
    const { data, status }: { data: unknown; status: number } = answer;
    // A 404 without a body arrives as 204, because postgrest-js changes it.
    if (isResultOf(name, data) || (mayBeNull && data === null && status === 200)) return data as Result<Name>;
    throw new Error(`PostgREST answered ${status} and no value to ${name}`);
  };
}

/** Tells whether as_api_key accepted the key, so that the error is about its scope or comes from the function. */
const acceptedKey = ({ status, reason }: ApiError) => status < 500 && (status !== 401 || reason === 'key_scope');

/** Hashes of API keys that the database has accepted. */
interface ActiveKeys {
  set(keyHash: string, isActive: true): unknown;
}

/** Creates the calls of the project's SQL functions: values by supabase-js, lists and the export as bytes. */
export function createData({ user, service }: Clients, bytes: DataBytes, activeKeys: ActiveKeys): Data {
  const inTurn = oneAtATime();
  const readValue = createValueReader({ service });

  /** Makes a call. Records its API key as active if the database accepted it. */
  async function run<T>(
    name: CalledFunction,
    caller: Caller | null,
    client: Client,
    ask: () => Promise<T>,
  ): Promise<T> {
    const noteKey = () => caller?.via === 'api_key' && activeKeys.set(caller.keyHash, true);
    try {
      const result = await withRepetitions(name, ask);
      noteKey();
      return result;
    } catch (thrown) {
      const error = mapDataError(thrown, name, caller?.via === 'jwt' && client !== service);
      if (acceptedKey(error)) noteKey();
      throw error;
    }
  }

  function callsWith(client: Client): DataCalls {
    return {
      call: (...call) => run(call[1], call[0], client, () => readValue(client, false, call)),
      find: (...call) => run(call[1], call[0], client, () => readValue(client, true, call)),
      json: (caller, name, ...[args = {}]) =>
        run(name, caller, client, async () => {
          const json = await bytes.read({ asService: client === service, caller, name, args });
          if (isJsonOf(name, json)) return json;
          throw new Error(`PostgREST answered no value to ${name}`);
        }),
    };
  }

  return {
    ...callsWith(user),
    service: callsWith(service),
    exportAccount(caller) {
      const name = 'export_account';
      const open = async () => expectBeginning(name, await bytes.open({ asService: false, caller, name, args: {} }));
      return run(name, caller, user, () => inTurn(caller.userId, open));
    },
  };
}

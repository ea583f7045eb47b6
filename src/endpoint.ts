import type { Readable } from 'node:stream';
import type { Logger } from 'pino';
import { z } from 'zod';
import { defaultRateLimits } from './config/config.ts';
import type { Context } from './context.ts';
import type { Missing } from './error-reasons.ts';
import type { ApiError, ErrorCode } from './errors.ts';
import { type Limit, type LimitName, limits as limitTable, wordsOf } from './limits/table.ts';
import type { Caller, UserCaller } from './model/caller.ts';

export const apiBase = '/api/v1';

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/**
 * Callers of an endpoint. none: anyone, and credentials are ignored. optional: anyone, but a credential must be valid.
 * bearer: callers with a valid credential. user: users with an access token.
 */
export type Guard = 'none' | 'optional' | 'bearer' | 'user';

interface CallerOf {
  none: null;
  optional: Caller | null;
  bearer: Caller;
  user: UserCaller;
}

/** Argument of a handler. `params`, `query`, `headers` and `body` are validated. */
interface Call<P, Q, H, B, G extends Guard> {
  context: Context;
  caller: CallerOf[G];
  params: P;
  query: Q;
  headers: H;
  body: B;
  ip: string;
  /** 429 to throw if an attempt fails. Set if a limit is exceeded, but the account trusts the client. */
  refusal: ApiError | undefined;
  /** Aborts when the client disconnects, and after the response. */
  gone: AbortSignal;
  log: Logger;
}

interface Declaration<
  P extends z.ZodObject,
  Q extends z.ZodObject,
  H extends z.ZodObject,
  B extends z.ZodType,
  R extends z.ZodType,
  G extends Guard,
> {
  summary: string;
  description: string;
  /** Default: bearer. */
  guard?: G;
  params?: P;
  /** Resource that the id in the path names, for the reason of a 404. */
  resource?: Missing;
  query?: Q;
  /** Request headers of this endpoint, by the names in the document. */
  headers?: H;
  body?: B;
  /** Fields of the resource that a body must not contain. X-Error-Field can name them. */
  readOnly?: readonly string[];
  /** Body size limit. Default: 16 KB. */
  maxBody?: '32kb' | '128kb';
  /**
   * Limits of attempts, in the order in which they count. Those of a client come before those of an account, so that a
   * rejected client creates no counters for made-up addresses.
   */
  limits?: readonly LimitName[];
  /** Success status. Default: 200. */
  status?: 201;
  /** Schema of the response. Default: Done, in place of the value that the handler returns. */
  response?: R;
  /** File name of a response that clients save. */
  download?: string;
  /** Errors beyond those that `errorsOf` adds. */
  errors?: readonly ErrorCode[];
  /**
   * Lets clients cache the response and revalidate it by its ETag. Default: no-store. A shared response does not depend
   * on the caller, so identical concurrent requests share one execution.
   */
  cache?: 'revalidate' | 'shared';
  /** Returns the response, its JSON in parts, or the JSON of its `data` as a stream. */
  handle: (call: Call<z.output<P>, z.output<Q>, z.output<H>, z.output<B>, G>) => Promise<z.input<R> | Json | Readable>;
}

/** Response of endpoints that return no resource. */
const Done = z
  .object({ data: z.object({ ok: z.boolean().meta({ examples: [true] }) }).meta({ id: 'Done' }) })
  .meta({ id: 'DoneResponse' });

export type Endpoint = Declaration<z.ZodObject, z.ZodObject, z.ZodObject, z.ZodType, z.ZodType, Guard> & {
  /** Stable name: operationId of the document, label in logs and metrics. */
  operation: string;
  method: Method;
  /** Path below apiBase, with {name} for a parameter. */
  path: `/${string}`;
  guard: Guard;
  response: z.ZodType;
};

/** Declares an endpoint with its stable name and its route. The document and the contract tests read it, too. */
export function endpoint<
  P extends z.ZodObject = z.ZodObject,
  Q extends z.ZodObject = z.ZodObject,
  H extends z.ZodObject = z.ZodObject,
  B extends z.ZodType = z.ZodUndefined,
  R extends z.ZodType = z.ZodUnknown,
  G extends Guard = 'bearer',
>(operation: string, route: `${Uppercase<Method>} /${string}`, declaration: Declaration<P, Q, H, B, R, G>): Endpoint {
  const [method = '', path] = route.split(' ');
  const { guard = 'bearer', handle, response } = declaration;
  const done = (call: never) => handle(call).then(() => ({ data: { ok: true } }));
  const made = {
    operation,
    method: method.toLowerCase(),
    path,
    guard,
    response: response ?? Done,
    handle: response ? handle : done,
  };
  return { ...declaration, ...made } as unknown as Endpoint;
}

/** Returns the error codes that the document lists for an endpoint. */
export function errorsOf({ guard, params, query, headers, body, errors = [] }: Endpoint): ErrorCode[] {
  return [
    ...errors,
    ...(guard === 'none' ? [] : (['unauthorized'] as const)),
    ...(query || headers || body ? (['invalid_request'] as const) : []),
    ...(params ? (['not_found'] as const) : []),
    'rate_limited',
    'server_error',
  ];
}

/** Returns the description of an endpoint, with its default limits. */
export function descriptionOf({ description, limits = [] }: Endpoint): string {
  const table: Record<string, Limit> = limitTable(defaultRateLimits);
  const rows = limits.flatMap((name) => table[name] ?? []); // the check of the password queue has none
  const parts = rows.map(wordsOf);
  return parts.length === 0 ? description : `${description} Beyond ${parts.join(', or ')}, the response is 429.`;
}

/** Returns the fields of an endpoint that X-Error-Field may name. */
export function fieldsOf({ body, query, headers, readOnly = [] }: Endpoint): string[] {
  const names = [body, query, headers].flatMap((schema) =>
    schema instanceof z.ZodObject ? Object.keys(schema.shape) : [],
  );
  return [...new Set(names), ...readOnly];
}

/** JSON that the database wrote, in the parts in which it arrived. */
export type Json = readonly Buffer[];

/** Returns the JSON of an object with one member. */
export const inEnvelope = (key: string, json: Json): Json => [Buffer.from(`{"${key}":`), ...json, Buffer.from('}')];

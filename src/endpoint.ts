import type { Readable } from 'node:stream';
import type { Logger } from 'pino';
import { z } from 'zod';
import { defaultRateLimits } from './config.ts';
import type { Context } from './context.ts';
import type { ErrorCode } from './errors.ts';
import { type Limit, type LimitName, limits as limitTable } from './limits/table.ts';
import type { Caller, UserCaller } from './model/caller.ts';

/** What the path of every endpoint begins with. */
export const apiBase = '/api/v1';

/**
 * Who may call: anyone (a credential is ignored), anyone with or without a valid credential, only with one, or only
 * with the access token of a user.
 */
export type Guard = 'none' | 'optional' | 'bearer' | 'user';

type CallerOf = { none: null; optional: Caller | null; bearer: Caller; user: UserCaller };

/** What a handler gets. `params`, `query`, `headers` and `body` are validated. */
type Call<P, Q, H, B, G extends Guard> = {
  context: Context;
  caller: CallerOf[G];
  params: P;
  query: Q;
  headers: H;
  body: B;
  /** The address of the client. */
  ip: string;
  /** Aborts when the client disconnects. */
  gone: AbortSignal;
  /** Names the request in each line. */
  log: Logger;
};

type Declaration<
  P extends z.ZodObject,
  Q extends z.ZodObject,
  H extends z.ZodObject,
  B extends z.ZodType,
  R extends z.ZodType,
  G extends Guard,
> = {
  method: 'get' | 'post' | 'patch' | 'delete';
  /** As the contract writes it, with {name} for a parameter. */
  path: `/${string}`;
  /** A stable name: operationId of the document, label of logs and metrics. */
  operation: string;
  summary: string;
  /** What the contract says besides; Markdown. */
  description: string;
  guard: G;
  params?: P;
  query?: Q;
  /** Request headers besides those that all endpoints take, by the names that the document shows. */
  headers?: H;
  body?: B;
  /** Fields of the record that it changes which a body must not have: X-Error-Field names them, too. */
  readOnly?: readonly string[];
  /** What the body may weigh; 16 KB unless said. */
  maxBody?: '32kb';
  /** Limits of attempts, in the order in which they count: those of a client come before those of an account. */
  limits?: readonly LimitName[];
  /** Of success; 200 unless said. */
  status?: 201;
  response: R;
  /** Where the answer is a file to keep: the name that it is offered under. */
  download?: string;
  errors: readonly ErrorCode[];
  /** no-store for what must not be kept; revalidate lets clients keep a copy that they check by its ETag. */
  cache: 'no-store' | 'revalidate';
  /** The answer depends on what is asked alone, not on the caller: one run may answer everybody who asks the same. */
  shared?: true;
  /** Returns the answer, or the JSON of its `data` as it comes, which is sent as it is. */
  handle: (
    call: Call<z.output<P>, z.output<Q>, z.output<H>, z.output<B>, G>,
  ) => Promise<z.input<R> | Readable>;
};

export type Endpoint = Declaration<z.ZodObject, z.ZodObject, z.ZodObject, z.ZodType, z.ZodType, Guard>;

/** Declares an endpoint: routes, document and contract tests are all made from this one value. */
export function endpoint<
  P extends z.ZodObject = z.ZodObject,
  Q extends z.ZodObject = z.ZodObject,
  H extends z.ZodObject = z.ZodObject,
  B extends z.ZodType = z.ZodUndefined,
  R extends z.ZodType = z.ZodType,
  G extends Guard = Guard,
>(declaration: Declaration<P, Q, H, B, R, G>): Endpoint {
  return declaration as unknown as Endpoint;
}

/** Returns the description of an endpoint with its limits, those of a gateway without settings. */
export function descriptionOf({ description, limits = [] }: Endpoint): string {
  const table: Record<string, Limit> = limitTable(defaultRateLimits);
  const parts = limits.map((name) => {
    const { limit, what, windowMs, per } = table[name] as Limit;
    return `${limit} ${what} ${windowMs === 60_000 ? 'a minute' : 'an hour'} for one ${per}`;
  });
  return parts.length === 0
    ? description
    : `${description} Beyond ${parts.join(', or ')}, the response is 429.`;
}

/** What X-Error-Field may name of an endpoint. */
export function fieldsOf({ body, query, headers, readOnly = [] }: Endpoint): string[] {
  const choices: readonly unknown[] = body instanceof z.ZodDiscriminatedUnion ? body.options : [body];
  const schemas = [...choices, query, headers];
  const names = schemas.flatMap((schema) => (schema instanceof z.ZodObject ? Object.keys(schema.shape) : []));
  return [...new Set(names), ...readOnly];
}

/** The answer of endpoints that have nothing to tell but that it is done. */
export const Done = z
  .object({ data: z.object({ ok: z.boolean().meta({ examples: [true] }) }).meta({ id: 'Done' }) })
  .meta({ id: 'DoneResponse' });

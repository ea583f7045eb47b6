import type { RateLimitInfo } from 'express-rate-limit';
import type { ApiError } from '../errors.ts';
import type { Caller } from '../model/caller.ts';
import type { Trace } from '../shared/request-context.ts';

// Declares the facts about a request that one middleware records for the next ones.
declare module 'express-serve-static-core' {
  interface Locals {
    trace: Trace;
    clientAddress: string;
    /** Caller of the request; null without a valid credential. */
    caller: Caller | null;
    authError?: unknown;
    /** Name of the endpoint in logs and metrics; absent for other addresses. */
    operation?: string;
    /** Validated request; empty where the endpoint declares nothing. */
    input: Record<'params' | 'query' | 'headers', Record<string, unknown>> & { body: unknown };
    /** Error that was sent. */
    error?: ApiError;
    /** True if the account of an attempt trusts the client; absent until a limit needs it. */
    isTrusted?: Promise<boolean>;
    /** 429 to send if the attempt fails. Set if a limit is exceeded, but the account trusts the client. */
    refusal?: ApiError;
    /** Resolves when such a 429 is sent, also to clients that the account does not trust. */
    refusalDue?: Promise<unknown>;
    /** True for a refresh whose token has a form that Auth issues. */
    hasRefreshToken?: boolean;
    /** Error of a body that was parsed before the limits. */
    bodyError?: unknown;
    /** Body of the response, for the function `counts` of a limit; absent without limits. */
    payload?: { data?: object };
  }
  interface Request {
    /** Count of the request limit for this caller; absent for probes. */
    requestsLimit?: RateLimitInfo;
  }
}

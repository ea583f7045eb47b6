import { z } from 'zod';
import type { Config } from '../../config/config.ts';
import type { ErrorReason } from '../../error-reasons.ts';
import { ApiError, serverError } from '../../errors.ts';
import { requestContext } from '../../shared/request-context.ts';
import type { Fetch } from '../fetch.ts';
import { userAgentFor } from './user-agent.ts';

export class AuthError extends Error {
  readonly status: number;
  /** Code, or the `error` of OAuth-style errors. Empty if a proxy in front of Auth answered. */
  readonly code: string;
  /** True when the database rejected a new user. Derived from the text, because Auth has one code for all failures. */
  readonly isUserNotSaved: boolean;

  constructor(status: number, body: unknown) {
    const { code, error, message } = ErrorBody.safeParse(body).data ?? {};
    super(`Auth answered ${status} ${code ?? error ?? 'without a code'}`);
    this.status = status;
    this.code = code ?? error ?? '';
    this.isUserNotSaved = status === 500 && message === 'Database error saving new user';
  }
}

const ErrorBody = z.object({ code: z.string(), error: z.string(), message: z.string() }).partial();

interface CallOptions {
  /** IP address of the client, for the rate limits of Auth. */
  readonly ip?: string;
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly body?: object;
  readonly bearer?: string;
  /** Sends the secret key as bearer, which admin calls need with legacy keys. */
  readonly asService?: true;
  readonly signal?: AbortSignal;
}

const limitOfAuth = (cause: AuthError) =>
  new ApiError('rate_limited', 'Too many attempts. Wait a minute and try again.', {
    cause,
    reason: 'limit_attempts', // never limit_mails, because clients must not learn of the mails of an account
    limit: 'auth',
    headers: { 'Retry-After': '60' },
  });

/**
 * Calls Auth.
 * @returns a function that resolves to the body of a successful response. It throws AuthError if Auth rejects the
 *   request, and ApiError for other failures: rate_limited, or server_error for no response or one that Auth does not
 *   document
 */
export function createAuthCall({ supabase, secrets }: Config, fetch: Fetch) {
  return async (path: string, { ip, method = 'POST', body = {}, signal, ...as }: CallOptions) => {
    const bearer = as.asService ? secrets.supabaseSecretKey : as.bearer;
    const response = await fetch(`${supabase.url}/auth/v1/${path}`, {
      method,
      headers: {
        'Content-Type': 'application/json',
        'X-Supabase-Api-Version': '2024-01-01',
        // With a secret key Auth trusts Sb-Forwarded-For and limits by the app user's address instead of ours.
        apikey: secrets.supabaseSecretKey,
        'User-Agent': userAgentFor(requestContext.getStore()?.userAgent),
        ...(ip !== undefined && { 'Sb-Forwarded-For': ip }),
        ...(bearer !== undefined && { Authorization: `Bearer ${bearer}` }),
      },
      ...(method !== 'GET' && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    }).catch((noResponse: unknown) => {
      throw serverError(noResponse);
    });
    const { status } = response;
    const answer: unknown = await response.json().catch(() => undefined);
    if (status === 204 || (status === 200 && answer !== undefined)) return answer;
    if (status < 400) throw serverError(new Error(`Auth answered ${status} and no JSON`));
    const error = new AuthError(status, answer);
    if (status === 429) throw limitOfAuth(error);
    const isFailure = status >= 500 || error.code === 'server_error' || error.code === '';
    if (isFailure) throw serverError(error);
    throw error;
  };
}

export type AuthCall = ReturnType<typeof createAuthCall>;

/** Validates a response of Auth. @throws ApiError server_error for a shape that Auth does not document */
export function expectAnswer<S extends z.ZodType>(schema: S, answer: unknown): z.output<S> {
  const result = schema.safeParse(answer);
  if (!result.success) throw serverError(result.error);
  return result.data;
}

/** Response whose values are not needed. Auth answers some calls with an empty object. */
export const JsonObject = z.object();

/** Returns the error for the client when Auth rejects its input. */
export const invalidRequest = (message: string, field?: string, reason?: ErrorReason) =>
  new ApiError('invalid_request', message, { field, reason });

/** Errors for the client, by the codes of Auth. */
export type Faults = Readonly<Record<string, () => ApiError>>;

/** Returns the error of Auth, also if it was mapped to an ApiError. */
export function authErrorIn(thrown: unknown): AuthError | undefined {
  const error = thrown instanceof ApiError ? thrown.cause : thrown;
  return error instanceof AuthError ? error : undefined;
}

/** Returns the handler for `.catch` that maps an error of Auth. Default: server_error. */
export const mapAuthError =
  (choose: (error: AuthError) => ApiError | undefined) =>
  (thrown: unknown): never => {
    if (!(thrown instanceof AuthError)) throw thrown;
    throw choose(thrown) ?? serverError(thrown);
  };

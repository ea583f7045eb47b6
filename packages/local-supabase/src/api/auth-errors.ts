import type { HonoContext } from '@supabase/lite';
import type { MiddlewareHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';

/** Creates an error of Supabase Auth, with the members of Lite's errors. */
export const authError = (status: number, code: string, message: string, details?: Record<string, unknown>) =>
  Object.assign(new Error(message), { status, code, details });

type AuthError = ReturnType<typeof authError>;

/** Creates an OAuth error, which Auth uses for ID tokens. Its status is 400, and it has no code. */
export const oauthError = (error: string, message: string) =>
  new HTTPException(400, { message, res: Response.json({ error, error_description: message }, { status: 400 }) });

export function unexpectedFailure(
  message = 'Unexpected failure, please check server logs for more information',
): AuthError {
  return authError(500, 'unexpected_failure', message);
}

/** Tells whether an error has the members of Auth's errors, which may be sent to the caller. */
export function isAuthError(error: unknown): error is AuthError {
  return error instanceof Error && 'status' in error && typeof error.status === 'number' && 'code' in error;
}

export function errorResponse({ status, code, message, details }: AuthError): Response {
  const headers = { 'x-sb-error-code': code, 'X-Supabase-Api-Version': '2024-01-01' };
  return Response.json({ code, message, ...details }, { status, headers });
}

/** Converts errors to the shape of API version 2024-01-01, `{code, message}`, which all callers here request. */
export const apiVersion: MiddlewareHandler<HonoContext> = async (c, next) => {
  await next();
  if (c.res.status < 400) return;
  const body = await readBody(c.res);
  // Keep errors of Supabase's API gateway, which have no code, and OAuth errors, which are the same in all versions.
  if (body && ('message' in body || 'error_description' in body)) return;
  const answer = errorResponse(failureIn(c.res.status, body));
  // Clear the former response, because Hono would merge its headers.
  c.res = undefined;
  c.res = answer;
};

function failureIn(status: number, body: Record<string, unknown> | undefined): AuthError {
  const { code: _, error_code: code, msg: message, ...details } = body ?? {};
  // Replace errors of Lite that Auth does not have.
  if (typeof code !== 'string' || typeof message !== 'string') return unexpectedFailure();
  return authError(status, code, message, details);
}

/** Reads the JSON of a copy of the response. */
export async function readBody(response: Response) {
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => undefined);
  return body as Record<string, unknown> | undefined;
}

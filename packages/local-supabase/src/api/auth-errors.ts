import type { HonoContext } from '@supabase/lite';
import type { MiddlewareHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';

/** An error as Supabase Auth words it, with the members that Lite's own have. */
export const authError = (status: number, code: string, message: string, details?: Record<string, unknown>) =>
  Object.assign(new Error(message), { status, code, details });

type AuthError = ReturnType<typeof authError>;

/** The other kind of error that Auth has, for faults of ID tokens: always 400, and without a code. */
export const oauthError = (error: string, message: string) =>
  new HTTPException(400, {
    message,
    res: Response.json({ error, error_description: message }, { status: 400 }),
  });

export function unexpectedFailure(
  message = 'Unexpected failure, please check server logs for more information',
): AuthError {
  return authError(500, 'unexpected_failure', message);
}

/** Whether it has the members of an error that may be shown to the caller. */
export function isAuthError(error: unknown): error is AuthError {
  return error instanceof Error && 'status' in error && typeof error.status === 'number' && 'code' in error;
}

export function errorResponse({ status, code, message, details }: AuthError): Response {
  const headers = { 'x-sb-error-code': code, 'X-Supabase-Api-Version': '2024-01-01' };
  return Response.json({ code, message, ...details }, { status, headers });
}

/** Gives errors the shape that they have since API version 2024-01-01, `{code, message}`, which all of our callers ask for. */
export const apiVersion: MiddlewareHandler<HonoContext> = async (c, next) => {
  await next();
  if (c.res.status < 400) return;
  const body = await readBody(c.res);
  // The edge answers for Auth when the API key is wrong, without a code. OAuth errors are the same in all versions.
  if (body && ('message' in body || 'error_description' in body)) return;
  const answer = errorResponse(failureIn(c.res.status, body));
  // Hono merges headers into what it had before unless that is taken away first.
  c.res = undefined;
  c.res = answer;
};

function failureIn(status: number, body: Record<string, unknown> | undefined): AuthError {
  const { code: _, error_code: code, msg: message, ...details } = body ?? {};
  // Whatever else goes wrong in Lite is told in shapes that Auth does not have.
  if (typeof code !== 'string' || typeof message !== 'string') return unexpectedFailure();
  return authError(status, code, message, details);
}

/** The JSON object that a response holds; it stays readable. */
export async function readBody(response: Response) {
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => undefined);
  return body as Record<string, unknown> | undefined;
}

import { HTTPException } from 'hono/http-exception';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { PostgresError } from 'postgres';

const lostCodes = /^(ECONNRESET|EPIPE|CONNECTION_CLOSED)$/;
const unreachableCodes = /^(ECONNREFUSED|CONNECTION_ENDED|CONNECT_TIMEOUT)$/;

const codeOf = (error: unknown) =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

const isFatal = (error: unknown) => error instanceof Error && 'severity' in error && error.severity === 'FATAL';

/** Tells whether the database has closed the connection of a request. */
export const isLostConnection = (error: unknown) =>
  lostCodes.test(codeOf(error)) || (codeOf(error) === '57P01' && isFatal(error));

/** Tells whether the connection of a request was lost, refused, or ended by a FATAL error. */
export const isOfClosedConnection = (error: unknown) =>
  lostCodes.test(codeOf(error)) || unreachableCodes.test(codeOf(error)) || isFatal(error);

/** Creates PostgREST's response to a request whose connection the database has closed. */
export const lostConnection = () => restError(503, '57P01', 'terminating connection due to administrator command');

/** Tells whether an error comes from the database or its connection, and not from Supabase Lite. */
export function isDatabaseError(error: unknown): error is PostgresError {
  const code = codeOf(error);
  return /^[0-9A-Z]{5}$/.test(code) || lostCodes.test(code) || unreachableCodes.test(code);
}

// Status by SQLSTATE or its first two characters, as in PostgREST's documentation. All others are 400.
const statusByClass = new Map(
  Object.entries({
    400: 'P0001',
    403: '0L 0P 28',
    404: '42883 42P01',
    405: '25006',
    409: '23503 23505',
    500: '09 21000 25 2D 38 39 3B 40 42P17 53400 54 55 57 58 F0 HV P0 XX',
    503: '08 53 57P01',
  }).flatMap(([status, codes]) => codes.split(' ').map((code) => [code, Number(status)])),
);

/** Creates PostgREST's response to a database error. @param role role of the caller */
export function mapDatabaseError(error: PostgresError, role: string): HTTPException {
  const { code, message, detail: details, hint } = error;
  if (isLostConnection(error)) return lostConnection();
  if (unreachableCodes.test(code)) return restError(503, 'PGRST000', 'Database connection error.');
  let status = statusByClass.get(code) ?? statusByClass.get(code.slice(0, 2)) ?? 400;
  if (code === '42501') status = role === 'anon' ? 401 : 403;
  if (code === '22023' && /^role .* does not exist$/s.test(message)) status = 401;
  if (/^PT\d{3}$/.test(code)) status = Number(code.slice(2));
  return restError(status, code, message, { details, hint });
}

interface More {
  details?: string | undefined;
  hint?: string | undefined;
  headers?: Record<string, string>;
}

export function restError(status: number, code: string, message: string, more: More = {}): HTTPException {
  const { details = null, hint = null } = more;
  const headers = {
    'Proxy-Status': `PostgREST; error=${code}`,
    ...(status === 401 && { 'WWW-Authenticate': 'Bearer' }),
    ...(status === 503 && { 'Retry-After': '0' }),
    ...more.headers,
  };
  const res = Response.json({ code, details, hint, message }, { status, headers });
  return new HTTPException(status as ContentfulStatusCode, { message, res });
}

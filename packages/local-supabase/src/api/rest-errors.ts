/** What Postgres says about a failed statement. */
export interface DatabaseError {
  code: string;
  message: string;
  detail?: string | undefined;
  hint?: string | undefined;
}

const UNREACHABLE = /^(ECONN(REFUSED|RESET)|CONNECTION_(CLOSED|ENDED)|CONNECT_TIMEOUT)$/;

/** Whether an error comes from the database or the way to it; all others are Lite's own. */
export function isDatabaseError(error: unknown): error is DatabaseError {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && (/^[0-9A-Z]{5}$/.test(code) || UNREACHABLE.test(code));
}

/** The answer that PostgREST gives to a database error; `anonymous` decides between 401 and 403. */
export function restErrorResponse(error: DatabaseError, anonymous: boolean): Response {
  const { code, message } = error;
  if (UNREACHABLE.test(code)) {
    const body = { code: 'PGRST000', message: 'Database connection error. Retrying the connection.' };
    return respond(503, { ...body, details: null, hint: null }, { 'Retry-After': '1' });
  }
  const status = statusOf(error, anonymous);
  return respond(status, { code, details: error.detail ?? null, hint: error.hint ?? null, message });
}

// Of those that PostgREST's source lists, by SQLSTATE or its class (the first two characters), what the service can meet.
// Everything else is a 400.
const STATUS: Record<string, number> = {
  '23503': 409,
  '23505': 409,
  '25006': 405,
  '40': 500,
  '53': 503,
  '55': 500,
  '57': 500,
  '57P01': 503,
};

function statusOf({ code, message }: DatabaseError, anonymous: boolean): number {
  if (code === '42501') return anonymous ? 401 : 403;
  if (code === '22023' && /^role ".*" does not exist$/.test(message)) return 401;
  if (code.startsWith('PT')) return /^PT[2-5]\d\d$/.test(code) ? Number(code.slice(2)) : 500;
  return STATUS[code] ?? STATUS[code.slice(0, 2)] ?? 400;
}

/** An error answer in PostgREST's shape, with its headers. */
export function respond(
  status: number,
  body: { code: string; message: string; details: string | null; hint: string | null },
  headers: Record<string, string> = {},
): Response {
  const standard: Record<string, string> = { 'Proxy-Status': `PostgREST; error=${body.code}` };
  if (status === 401) standard['WWW-Authenticate'] = 'Bearer';
  return Response.json(body, { status, headers: { ...standard, ...headers } });
}

import { z } from 'zod';
import type {
  ZodOpenApiComponentsObject,
  ZodOpenApiHeaderObject,
  ZodOpenApiHeadersObject,
  ZodOpenApiResponseObject,
} from 'zod-openapi';
import { type ErrorMeaning, reasonsOfCode } from '../error-reasons.ts';
import { ApiError, type ErrorCode, envelope, notFound, serverError, statusOfCode, tooManyRequests } from '../errors.ts';
import { invalidToken } from '../model/caller.ts';

export const descriptionOfService = `
A sound catalogue for mobile apps: accounts, a list of sounds with filters and pagination, short-lived signed audio URLs, a
global play counter, favorites, the caller's customer record, a home page and a tree of categories (intentions).
The [guide for app developers](docs/guide) covers what your app must do beyond this reference.

**Transport.** Use HTTPS: plain HTTP gets 400. Bodies are JSON of at most 16 KB (32 KB for ID tokens, plays and positions, 128 KB for lists). A successful
response has its payload in \`data\` (the home page in \`sections\`), a failed one has
\`{"error": {"code", "message"}}\`. Date-times are UTC with milliseconds. Fields may be added to responses, and values to their
enumerations, at any time: ignore fields and keep values that you do not know.

**Credentials.** \`Authorization: Bearer <access token>\`. An access token is valid for about an hour. On a 401, refresh
once and repeat the request. Refresh tokens are rotated: store only the newest one. Trusted back ends may send an API key
(\`sk_live_...\`) in place of an access token; it acts as its owner, within its scope, and never
belongs in an app.

**Limits.** 60 requests a minute for each user, unless the operator has set another limit. Every response has the
headers \`X-RateLimit-Limit\`, \`-Remaining\` and \`-Reset\`. Requests beyond the limit get 429: wait as many seconds as
\`Retry-After\` says. Retry a 500 with exponential backoff, starting at 1 second and doubling up to 30 seconds, unless
the description of the endpoint says that a repeated request counts twice.

**Errors.** Every 400, 401, 404, 405 and 429 has a reason in \`X-Error-Reason\`. A 400 also names the wrong field in
\`X-Error-Field\`, if there is one. Decide by these, not by the text of \`message\`.

**Requests.** Every response has an \`X-Request-Id\`: quote it when you report a problem. When a response has an
\`ETag\`, send it back in \`If-None-Match\`: a 304 without a body means that nothing has changed.
`.trim();

const tag = (name: string, displayName: string, description: string) => ({
  name,
  'x-displayName': displayName,
  description,
});

export const tags = [
  tag('config', 'Configuration', 'Settings that an app needs when it starts.'),
  tag('auth', 'Accounts', 'Accounts and sessions.'),
  tag('sounds', 'Sounds', 'The catalogue and its play counter.'),
  tag('plays', 'Plays', 'Plays that were made without a network.'),
  tag('progress', 'Progress', 'Where the caller stopped listening.'),
  tag('history', 'History', 'Sounds that the caller listened to.'),
  tag('favorites', 'Favorites', "The caller's favorites."),
  tag('lists', 'Lists', 'Mixes and playlists of the caller.'),
  tag('me', 'Caller', 'Profile and customer record of the caller.'),
  tag('home', 'Home', 'The home page.'),
  tag('categories', 'Categories', 'The tree of intentions.'),
  tag('catalogue', 'Catalogue', 'Changes, for apps that keep a copy of the catalogue.'),
];

const header = <S>(description: string, schema: S) => ({ description, schema });
const text = (example: string) => ({ type: 'string' as const, examples: [example] });
const integer = (example: number) => ({ type: 'integer' as const, format: 'int64', examples: [example] });

const headers: Record<string, ZodOpenApiHeaderObject> = {
  'X-Request-Id': header(
    'Identifies this request in the log of the service. A valid id that you send is kept.',
    text('0d9d3c1b-2a10-4f0e-8b43-7d9f1a524b43'),
  ),
  'X-RateLimit-Limit': header('Requests allowed in the window.', integer(60)),
  'X-RateLimit-Remaining': header('Requests left in the window.', integer(59)),
  'X-RateLimit-Reset': header('Unix time at which the window resets.', integer(1782207060)),
  'X-Service-Time': header(
    'The clock of the service when the request arrived, in milliseconds since 1970.',
    integer(1782207000123),
  ),
  'Retry-After': header('Seconds to wait before the next request.', { ...integer(12), minimum: 1 }),
  'WWW-Authenticate': header(
    'Contains `error="invalid_token"` when a credential was sent and rejected, and `error="insufficient_scope"` for an API key that may not do this.',
    text('Bearer realm="sounds", error="invalid_token"'),
  ),
  ETag: header('Identifies this version of the response, for `If-None-Match`.', text('W/"1f-2mK0bRzGq0ZmNn0E4pGxJw"')),
  'Content-Disposition': header(
    'Name of the file in which to save the response.',
    text('attachment; filename=sounds-service-export.json'),
  ),
};

const onEveryResponse = [
  'X-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Service-Time',
];

/** Returns references to the headers of every response and to these. */
export const headerRefs = (...more: string[]): ZodOpenApiHeadersObject =>
  Object.fromEntries([...onEveryResponse, ...more].map((name) => [name, { $ref: `#/components/headers/${name}` }]));

const codes = Object.keys(statusOfCode) as [ErrorCode, ...ErrorCode[]];

const ApiErrorResponse = z
  .object({
    error: z
      .object({
        code: z.enum(codes).meta({ id: 'ErrorCode' }),
        message: z.string().meta({
          description: 'For developers. Do not show it to users or compare it: use `X-Error-Reason`.',
        }),
      })
      .meta({ id: 'ApiError' }),
  })
  .meta({ id: 'ApiErrorResponse' });

const reasonsOf: { [Code in ErrorCode]?: Record<string, ErrorMeaning> } = reasonsOfCode;

/** Returns the name of the schema of X-Error-Reason for a code, such as InvalidRequestReason. */
const nameOfReasons = (code: string) => `${code.replace(/(?:^|_)(.)/g, (_, letter) => letter.toUpperCase())}Reason`;

/** Describes X-Error-Reason with the reasons of a code, if it has any. */
function reasonHeader(code: ErrorCode): ZodOpenApiHeadersObject {
  const meanings = Object.entries(reasonsOf[code] ?? {}).map(
    ([reason, { what, fix }]) => `- \`${reason}\`: ${what} ${fix}`,
  );
  if (meanings.length === 0) return {};
  const description = ['Reason of the error, for programs. More may be added.', ...meanings].join('\n');
  return { 'X-Error-Reason': header(description, { $ref: `#/components/schemas/${nameOfReasons(code)}` }) };
}

const failure = (example: ApiError, description: string, ...more: string[]): ZodOpenApiResponseObject => ({
  description,
  headers: { ...headerRefs(...more), ...reasonHeader(example.code) },
  content: { 'application/json': { schema: ApiErrorResponse, example: envelope(example) } },
});

const failures: Record<ErrorCode, ZodOpenApiResponseObject> = {
  invalid_request: failure(
    new ApiError('invalid_request', 'limit: must be a whole number from 1 to 100.'),
    'Body or query parameters failed validation. The message names the first wrong field and its rule.',
    'X-Error-Field',
  ),
  unauthorized: failure(
    invalidToken(),
    'Missing, invalid or expired token; failed credentials, refresh token or external sign-in.',
    'WWW-Authenticate',
  ),
  not_found: failure(notFound('sound'), 'The resource does not exist or is not visible to the caller.'),
  rate_limited: failure(
    tooManyRequests(1000, 'limit_requests', 'requests'),
    'Too many requests. Wait as many seconds as `Retry-After` says.',
    'Retry-After',
  ),
  server_error: failure(
    serverError(null),
    'Server-side failure; safe to retry with backoff unless the endpoint says otherwise. The credential may still be valid.',
  ),
};

/** Returns the components of the document. @param fields names that X-Error-Field may have */
export const components = (fields: readonly string[]): ZodOpenApiComponentsObject => ({
  schemas: {
    ...Object.fromEntries(
      Object.entries(reasonsOf).map(([code, reasons]) => [
        nameOfReasons(code),
        { type: 'string', enum: Object.keys(reasons) },
      ]),
    ),
    // Has no enum, because a new field would break clients that were generated before.
    ErrorField: { type: 'string', examples: [...fields] },
  },
  headers: {
    ...headers,
    'X-Error-Field': {
      description: 'Name of the wrong field of the body, query parameter or header, if there is exactly one.',
      schema: { $ref: '#/components/schemas/ErrorField' },
    },
  },
  parameters: {
    IfNoneMatch: {
      in: 'header',
      name: 'If-None-Match',
      description: 'The `ETag` of the copy that the client has.',
      schema: { type: 'string' },
    },
  },
  responses: failures,
  securitySchemes: {
    bearer: {
      type: 'http',
      scheme: 'bearer',
      description:
        'The access token of a user, from one of the sign-in endpoints, valid for about an hour; or, from trusted ' +
        'back ends, an API key (`sk_live_...`), which acts as its owner.',
    },
  },
});

import querystring from 'node:querystring';
import { constants } from 'node:zlib';
import compression from 'compression';
import cors from 'cors';
import express, { type Express, type RequestHandler } from 'express';
import type { Context } from './context.ts';
import { apiBase } from './endpoint.ts';
import { ApiError, notFound } from './errors.ts';
import { recordClientAddress } from './http/client-address.ts';
import { sendError } from './http/error-handler.ts';
import { alive, ready } from './http/health.ts';
import { identify } from './http/identify.ts';
import { measureRequests } from './http/measure-requests.ts';
import { requestLog } from './http/request-log.ts';
import { endpointRouter, rejectOtherMethods } from './http/router.ts';
import { securityHeaders } from './http/security-headers.ts';
import { weakETag } from './http/shared-answer.ts';
import { closeWhileDraining } from './http/shutdown.ts';
import { joinTrace } from './http/trace-context.ts';
import { createLimiters } from './limits/limiters.ts';
import { docsRouter } from './openapi/docs.ts';
import { authEndpoints } from './routes/auth.ts';
import { catalogueEndpoints } from './routes/catalogue.ts';
import { categoryEndpoints } from './routes/categories.ts';
import { configEndpoints } from './routes/config.ts';
import { favoriteEndpoints } from './routes/favorites.ts';
import { historyEndpoints } from './routes/history.ts';
import { homeEndpoints } from './routes/home.ts';
import { meEndpoints } from './routes/me.ts';
import { playEndpoints } from './routes/plays.ts';
import { progressEndpoints } from './routes/progress.ts';
import { recoveryEndpoints } from './routes/recovery.ts';
import { sessionEndpoints } from './routes/sessions.ts';
import { soundEndpoints } from './routes/sounds.ts';

export const endpoints = [
  ...configEndpoints,
  ...authEndpoints,
  ...recoveryEndpoints,
  ...soundEndpoints,
  ...playEndpoints,
  ...historyEndpoints,
  ...progressEndpoints,
  ...favoriteEndpoints,
  ...meEndpoints,
  ...sessionEndpoints,
  ...homeEndpoints,
  ...categoryEndpoints,
  ...catalogueEndpoints,
];

/** Paths of the endpoints that need no token. No endpoint with a token has the same path. */
const withoutToken = new Set(endpoints.filter(({ guard }) => guard === 'none').map(({ path }) => apiBase + path));

/** Takes half the time of the defaults, for responses that are 3 % larger. */
const fastCompression = { level: 1, brotli: { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } } };

/** Builds the app; it does not listen. Middleware runs in the order below. */
export function createApp(context: Context): Express {
  const { config, log, metrics, redis, verify } = context;
  const limiters = createLimiters(context);
  if (redis !== null) metrics?.watchSharing(() => redis.problem() === null);

  const app = express()
    .disable('x-powered-by')
    .enable('case sensitive routing')
    .set('trust proxy', config.trustProxy)
    .set('query parser', parseQuery)
    .set('etag', (body: Buffer) => weakETag(body));

  app.use(closeWhileDraining(context));
  app.use(recordClientAddress);
  app.use(joinTrace);
  app.use(requestLog(log)); // sets X-Request-Id and logs one line
  app.use(securityHeaders);
  app.get('/healthz', alive); // probes come over plain HTTP, and are not limited
  app.get('/readyz', ready(context));
  if (metrics !== null) app.use(measureRequests(metrics));
  app.use(compression(fastCompression));
  if (config.corsOrigins.length > 0) app.use(crossOrigin(config.corsOrigins));
  app.use(identify(verify, withoutToken)); // requireAuth rejects invalid credentials later
  app.use(limiters.unknownApiKeys.map(forApiKeys)); // first, because the next limit keeps a counter for each key
  app.use(limiters.requests);
  if (config.requireHttps) app.use(rejectPlainHttp); // after the limits, so that its 400 has their headers
  app.use(apiBase, endpointRouter(endpoints, context, limiters));
  app.use(apiBase, docsRouter(endpoints));
  for (const probe of ['/healthz', '/readyz']) rejectOtherMethods(app.route(probe), ['GET', 'HEAD']);
  app.use(() => {
    throw notFound('path');
  });
  app.use(sendError);
  return app;
}

/** Runs middleware for API keys only, because each limit takes processor time. */
const forApiKeys =
  (middleware: RequestHandler): RequestHandler =>
  (req, res, next) =>
    res.locals.caller?.via === 'api_key' ? middleware(req, res, next) : next();

/** Maximum number of query parameters. No endpoint needs more, because lists have at most 100 items. */
const maxParameters = 400;

/** Decodes percent-encoding. Unlike decodeURIComponent, does not throw for invalid ones, because that takes time. */
const decode = (text: string) =>
  text.replace(/(%[\da-f]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll('%', ''), 'hex').toString());

/** Collects repeated parameters into arrays. Reads ids[]=a and ids[0]=a as ids=a, because some clients send these. */
function parseQuery(text: string | null) {
  const query: querystring.ParsedUrlQuery = Object.create(null);
  if (text === null) return query;
  if (text.split('&', maxParameters + 1).length > maxParameters)
    throw new ApiError('invalid_request', `Send at most ${maxParameters} query parameters.`);
  const given = querystring.parse(text, '&', '=', { maxKeys: 0, decodeURIComponent: decode });
  const byName = Map.groupBy(Object.entries(given), ([key]) => key.replace(/\[\d*\]$/, ''));
  for (const [name, entries] of byName) {
    const values = entries.flatMap(([, value]) => value ?? []);
    query[name] = values.length === 1 ? values[0] : values;
  }
  return query;
}

/** Adds the CORS headers for these origins. The routes answer OPTIONS. */
function crossOrigin(origins: readonly string[]): RequestHandler {
  return cors({
    origin: origins.map((origin) => (origin.endsWith(':*') ? anyPortOf(origin) : origin)),
    methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders:
      'Date,ETag,Retry-After,X-Error-Field,X-Error-Reason,X-RateLimit-Limit,X-RateLimit-Remaining,X-RateLimit-Reset,X-Request-Id',
    maxAge: 600,
    preflightContinue: true,
  });
}

const anyPortOf = (origin: string) => new RegExp(`^${RegExp.escape(origin.slice(0, -2))}(:\\d+)?$`);

/** Rejects plain HTTP instead of redirecting it, because the token has already been sent in plain text. */
const rejectPlainHttp: RequestHandler = (req, _res, next) => {
  if (req.protocol.toLowerCase() !== 'https') throw new ApiError('invalid_request', 'Use https instead of http.');
  next();
};

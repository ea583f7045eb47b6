import { constants } from 'node:zlib';
import compression from 'compression';
import cors from 'cors';
import express, { type Express, type RequestHandler } from 'express';
import type { Context } from './context.ts';
import { apiBase } from './endpoint.ts';
import { notFound } from './errors.ts';
import { readRefreshToken } from './http/body.ts';
import { recordClientAddress } from './http/client-address.ts';
import { sendError } from './http/error-handler.ts';
import { alive, ready } from './http/health.ts';
import { identify } from './http/identify.ts';
import { measureRequests } from './http/measure-requests.ts';
import { parseQuery } from './http/query.ts';
import { rejectPlainHttp } from './http/reject-plain-http.ts';
import { requestLog } from './http/request-log.ts';
import { endpointRouter, rejectOtherMethods } from './http/router.ts';
import { securityHeaders } from './http/security-headers.ts';
import { sendServiceTime } from './http/service-time.ts';
import { weakETag } from './http/shared-answer.ts';
import { closeWhileDraining } from './http/shutdown.ts';
import { joinTrace } from './http/trace-context.ts';
import { createLimiters } from './limits/limiters.ts';
import { docsRouter } from './openapi/docs.ts';
import { accountDeletionRouter } from './pages/account-deletion.ts';
import { authEndpoints } from './routes/auth.ts';
import { catalogueEndpoints } from './routes/catalogue.ts';
import { categoryEndpoints } from './routes/categories.ts';
import { configEndpoints } from './routes/config.ts';
import { favoriteEndpoints } from './routes/favorites.ts';
import { guestEndpoints } from './routes/guests.ts';
import { historyEndpoints } from './routes/history.ts';
import { homeEndpoints } from './routes/home.ts';
import { listEndpoints } from './routes/lists.ts';
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
  ...listEndpoints,
  ...favoriteEndpoints,
  ...meEndpoints,
  ...guestEndpoints,
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
    .set('etag', weakETag);

  app.use(closeWhileDraining(context));
  app.use(recordClientAddress, sendServiceTime);
  app.use(joinTrace);
  app.use(requestLog(log)); // sets X-Request-Id and logs one line
  app.use(securityHeaders);
  app.get('/healthz', alive); // probes come over plain HTTP, and are not limited
  app.get('/readyz', ready(context));
  if (metrics !== null) app.use(measureRequests(metrics));
  app.use(compression(fastCompression));
  if (config.corsOrigins.length > 0) app.use(crossOrigin(config.corsOrigins));
  app.use(identify(verify, withoutToken)); // requireAuth rejects invalid credentials later
  app.post(`${apiBase}/auth/refresh`, readRefreshToken); // first, because the limits distinguish refreshes
  app.use(limiters.unknownApiKeys.map(forApiKeys)); // first, because the next limit keeps a counter for each key
  app.use(limiters.requests);
  if (config.requireHttps) app.use(rejectPlainHttp(context)); // after the limits, so that its 400 has their headers
  app.use(apiBase, endpointRouter(endpoints, context, limiters));
  app.use(apiBase, docsRouter(endpoints));
  app.use(apiBase, accountDeletionRouter(context));
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

/** Adds the CORS headers for these origins. The routes answer OPTIONS. */
function crossOrigin(origins: readonly string[]): RequestHandler {
  return cors({
    origin: origins.map((origin) => (origin.endsWith(':*') ? anyPortOf(origin) : origin)),
    methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders:
      'Date,ETag,Retry-After,X-Error-Field,X-Error-Reason,X-RateLimit-Limit,X-RateLimit-Remaining,X-RateLimit-Reset,' +
      'X-Request-Id,X-Service-Time',
    maxAge: 600,
    preflightContinue: true,
  });
}

const anyPortOf = (origin: string) => new RegExp(`^${RegExp.escape(origin.slice(0, -2))}(:\\d+)?$`);

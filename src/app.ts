import querystring from 'node:querystring';
import cors from 'cors';
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import type { Context } from './context.ts';
import { addDocs } from './docs.ts';
import { ApiError, notFound, sendError } from './errors.ts';
import { addHealth } from './health.ts';
import { openApiDocument } from './openapi.ts';
import { requestLog } from './request-log.ts';
import { addEndpoints } from './router.ts';
import { authEndpoints } from './routes/auth.ts';
import { categoryEndpoints } from './routes/categories.ts';
import { favoriteEndpoints } from './routes/favorites.ts';
import { homeEndpoints } from './routes/home.ts';
import { meEndpoints } from './routes/me.ts';
import { soundEndpoints } from './routes/sounds.ts';

/** Every endpoint of the API. */
export const endpoints = [
  ...authEndpoints,
  ...soundEndpoints,
  ...favoriteEndpoints,
  ...meEndpoints,
  ...homeEndpoints,
  ...categoryEndpoints,
];

/** Builds the app; it does not listen. The order below is the way of a request. */
export function createApp(context: Context): Express {
  const { config, log, metrics, rateLimits } = context;

  // What failed before it reached an endpoint has not been counted yet, and lacks the rate-limit headers.
  const countFailure: ErrorRequestHandler = async (error, req, res, _next) => {
    if (res.locals.budget === undefined) await rateLimits.general(req, res);
    throw error;
  };

  const app = express()
    .disable('x-powered-by')
    .disable('etag') // endpoints that may be revalidated set their own
    .enable('case sensitive routing')
    .set('trust proxy', config.trustProxy)
    .set('query parser', parseQuery)
    .use(requestLog(log, metrics)); // first, so that every answer has a request id and a line in the log
  addHealth(app, context); // before the rest: probes come over plain HTTP and are not limited
  if (config.requireHttps) app.use(refusePlainHttp);
  if (config.corsOrigins.length > 0) app.use(crossOrigin(config.corsOrigins));
  addEndpoints(app, endpoints, context);
  addDocs(app, openApiDocument(endpoints), context);
  return app
    .use(() => {
      throw notFound('address');
    })
    .use(countFailure)
    .use(sendError);
}

/** A repeated parameter becomes an array, nothing becomes an object, and none is left out, however many there are. */
const parseQuery = (query: string) => querystring.parse(query, '&', '=', { maxKeys: 0 });

/** For web pages of these origins. The routes themselves answer OPTIONS. */
function crossOrigin(origins: readonly string[]): RequestHandler {
  return cors({
    origin: [...origins],
    methods: ['GET', 'POST', 'PATCH', 'DELETE'],
    exposedHeaders: [
      'ETag',
      'Retry-After',
      'X-RateLimit-Limit',
      'X-RateLimit-Remaining',
      'X-RateLimit-Reset',
      'X-Request-Id',
    ],
    maxAge: 600,
    preflightContinue: true,
  });
}

/** req.secure believes X-Forwarded-Proto only from a trusted proxy. No redirect: the token has already leaked. */
const refusePlainHttp: RequestHandler = (req, _res, next) => {
  if (!req.secure) throw new ApiError('invalid_request', 'Use https instead of http.');
  next();
};

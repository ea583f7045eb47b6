import cors from 'cors';
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import helmet from 'helmet';
import type { Context } from './context.ts';
import { docs } from './docs.ts';
import { ApiError, notFound, sendError } from './errors.ts';
import { health } from './health.ts';
import { openApiDocument } from './openapi.ts';
import { requestLog } from './request-log.ts';
import { routerOf } from './router.ts';
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
    if (!res.hasHeader('X-RateLimit-Limit')) await rateLimits.general(req, res);
    throw error;
  };

  return express()
    .disable('x-powered-by')
    .disable('etag') // endpoints that may be revalidated set their own
    .set('trust proxy', config.trustProxy)
    .set('query parser', 'simple') // a repeated parameter becomes an array, nothing becomes an object
    .use(requestLog(log, metrics)) // first, so that every answer has a request id and a line in the log
    .use(securityHeaders)
    .use(health(context)) // before the rest: probes come over plain HTTP and are not limited
    .use(requireHttps(config.requireHttps))
    .use(crossOrigin(config.corsOrigins))
    .use('/api/v1', routerOf(endpoints, context))
    .use('/api/v1', docs(openApiDocument(endpoints), context))
    .use(() => {
      throw notFound('address');
    })
    .use(countFailure)
    .use(sendError);
}

/** What concerns an answer that is not a page. The reference at /docs, which is one, sets its own besides. */
const securityHeaders = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  },
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xFrameOptions: { action: 'deny' },
  xPermittedCrossDomainPolicies: false,
  xPoweredBy: false,
  xXssProtection: false,
});

/** Only for configured origins; none switches it off. The router itself answers OPTIONS. */
function crossOrigin(origins: readonly string[]): RequestHandler {
  return cors({
    origin: origins.length > 0 && [...origins],
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
function requireHttps(required: boolean): RequestHandler {
  return (req, _res, next) => {
    next(required && !req.secure ? new ApiError('invalid_request', 'Use https instead of http.') : undefined);
  };
}

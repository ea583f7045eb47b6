import type { RequestHandler } from 'express';
import type { Metrics } from '../metrics.ts';
import { statusSeen } from './request-log.ts';

/** Measures every request that comes by, and what the rate limits decided on it. */
export function measureRequests(metrics: Metrics): RequestHandler {
  return (req, res, next) => {
    const started = performance.now();
    res.once('close', () => {
      const { operation = 'none', caller } = res.locals;
      metrics.requestEnded(operation, statusSeen(res), performance.now() - started);
      const counted = req.requestsLimit;
      if (counted) metrics.rateLimitDecided(bucketOf[caller?.via ?? 'none'], counted.used > counted.limit);
    });
    next();
  };
}

/** Whom the request limit counts. */
const bucketOf = { jwt: 'user', api_key: 'api_key', none: 'address' };

import type { RequestHandler } from 'express';
import type { Metrics } from '../metrics.ts';
import { statusSeen } from './request-log.ts';

/** Measures every request and the decision of the request limit on it. */
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

/** Names what the request limit counts by. */
const bucketOf = { jwt: 'user', api_key: 'api_key', none: 'address' };

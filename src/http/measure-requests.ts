import type { RequestHandler } from 'express';
import type { Metrics } from '../metrics.ts';
import { limitNames } from './rate-limit.ts';
import { statusSeen } from './request-log.ts';

/** Each limit, and the property of a request that holds what it has counted. */
const limitProperties = limitNames.map((name) => [name, `${name}Limit`] as const);

/** Measures every request that comes by, and what the rate limits decided on it. */
export function measureRequests(metrics: Metrics): RequestHandler {
  return (req, res, next) => {
    const started = performance.now();
    res.once('close', () => {
      const { operation = 'none', caller } = res.locals;
      metrics.requestEnded(operation, statusSeen(res), performance.now() - started);
      for (const [name, property] of limitProperties) {
        const counted = req[property];
        if (counted === undefined) continue;
        const bucket = name === 'general' ? bucketOf[caller?.via ?? 'none'] : name;
        metrics.rateLimitDecided(bucket, counted.used > counted.limit);
      }
    });
    next();
  };
}

/** Whom the general limit counts. */
const bucketOf = { jwt: 'user', api_key: 'api_key', none: 'address' };

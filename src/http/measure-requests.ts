import type { RequestHandler } from 'express';
import type { Metrics } from '../shared/metrics.ts';
import { statusSeen } from './request-log.ts';

/** Measures every request and the decision of the request limit on it. */
export function measureRequests(metrics: Metrics): RequestHandler {
  return (req, res, next) => {
    const started = performance.now();
    res.once('close', () => {
      const { operation = 'none', caller } = res.locals;
      const status = statusSeen(res) ?? 'aborted';
      metrics.requests.observe({ operation, status }, (performance.now() - started) / 1000);
      const { requestsLimit: count } = req;
      if (count === undefined) return;
      const decision = count.used > count.limit ? 'limited' : 'allowed';
      metrics.rateLimitDecisions.inc({ bucket: bucketOf[caller?.via ?? 'none'], decision });
    });
    next();
  };
}

const bucketOf = { jwt: 'user', api_key: 'api_key', none: 'address' };

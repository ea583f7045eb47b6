import type { RequestHandler } from 'express';

/**
 * Sends the clock of the service in X-Service-Time, in milliseconds since 1970, as of the arrival of the request. Apps
 * correct the clock of their device by it, because the header Date has whole seconds.
 */
export const sendServiceTime: RequestHandler = (_req, res, next) => {
  res.setHeader('X-Service-Time', Date.now());
  next();
};

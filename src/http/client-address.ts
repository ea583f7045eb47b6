import { isIP } from 'node:net';
import type { Request, RequestHandler } from 'express';

/** Returns the client's IP address, from trusted proxies. Removes the port that some (Azure, IIS) add. */
function clientAddress({ ip = '', socket }: Request): string {
  const address = isIP(ip) ? ip : ip.replace(/^\[?(.*?)\]?(:\d+)?$/, '$1');
  return isIP(address) ? address : (socket.remoteAddress ?? '');
}

/** Records the client's IP address, for the limits, the log and Auth. */
export const recordClientAddress: RequestHandler = (req, res, next) => {
  res.locals.clientAddress = clientAddress(req);
  next();
};

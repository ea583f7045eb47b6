import type { RequestHandler } from 'express';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';

/**
 * Rejects plain HTTP instead of redirecting it, because the token has already been sent in plain text. The first time,
 * logs which header a proxy must send, because the service rejects all requests of a proxy without it.
 */
export function rejectPlainHttp({ config, log }: Context): RequestHandler {
  let isLogged = false;
  return (req, _res, next) => {
    if (req.protocol.toLowerCase() === 'https') return next();
    if (!isLogged)
      log.warn(
        { trustProxy: config.trustProxy, remoteAddress: req.socket.remoteAddress },
        'A request came over plain HTTP and was rejected, as all such requests are. If clients use https, the proxy ' +
          'in front must send "X-Forwarded-Proto: https", and TRUST_PROXY must be the number of proxies, or their ' +
          'addresses; it is trustProxy here. Without a proxy in front set REQUIRE_HTTPS=false, for development only.',
      );
    isLogged = true;
    throw new ApiError('invalid_request', 'Use https instead of http.', { reason: 'https_required' });
  };
}

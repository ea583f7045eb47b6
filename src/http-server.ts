import { createServer, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Config } from './config.ts';
import { envelope } from './errors.ts';

/**
 * Longer than the 60 s for which load balancers keep idle connections, in milliseconds: they must be the ones that
 * close, or a request now and then meets a connection that has just gone.
 */
const keepAliveTimeout = 75_000;

/** The HTTP server around the app; it does not listen yet. */
export function createHttpServer(config: Config, app: RequestListener): Server {
  // A request without a Host header is answered by the app like any other, instead of by Node without a body.
  const server = createServer({ requireHostHeader: false, keepAliveTimeout }, app);
  return server.on('clientError', answerBrokenRequests(config));
}

const statusOf: Record<string, string> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/**
 * Answers what is not HTTP, or not finished in time, in the documented shape. Node gives such requests to no
 * handler; its own answer would have no body. They are counted on no budget, so the headers show a full one.
 */
function answerBrokenRequests({ rateLimits: { anonymousPerMinute } }: Config) {
  return (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const body = JSON.stringify(
      envelope({ code: 'invalid_request', message: 'The request is not valid HTTP.' }),
    );
    socket.end(
      [
        `HTTP/1.1 ${statusOf[error.code ?? ''] ?? '400 Bad Request'}`,
        'Content-Type: application/json; charset=utf-8',
        `Content-Length: ${Buffer.byteLength(body)}`,
        'Connection: close',
        'Cache-Control: no-store',
        `X-Request-Id: ${crypto.randomUUID()}`,
        `X-RateLimit-Limit: ${anonymousPerMinute}`,
        `X-RateLimit-Remaining: ${anonymousPerMinute}`,
        `X-RateLimit-Reset: ${Math.ceil(Date.now() / 1000) + 60}`,
        '',
        body,
      ].join('\r\n'),
    );
  };
}

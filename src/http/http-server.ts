import { randomUUID } from 'node:crypto';
import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Express } from 'express';
import type { Config } from '../config.ts';
import { envelope } from '../errors.ts';
import { securityHeaders } from './security-headers.ts';

const options = {
  /**
   * Longer than the 60 s for which load balancers keep idle connections, in milliseconds: they must be the ones that
   * close, or a request now and then meets a connection that has just gone.
   */
  keepAliveTimeout: 75_000,
  /** For a whole request with its body, which is 32 KB at most: who is slower holds a connection for nothing. */
  requestTimeout: 30_000,
  /** Headers are one packet or two; in milliseconds. */
  headersTimeout: 10_000,
  connectionsCheckingInterval: 5_000,
  /** A request without a Host header is answered by the app like any other, instead of by Node without a body. */
  requireHostHeader: false,
};

const reasonOf: Record<string, string> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/** How long a rejected client may take to read the answer before its connection is closed, in milliseconds. */
const lingerMs = 1_000;

/** @returns what writes the answer to a request that is not HTTP; all but the id, the time and the status is made once */
function malformedAnswer({ rateLimits: { anonymousPerMinute: limit } }: Config): (status: string) => string {
  const body = JSON.stringify(
    envelope({ code: 'invalid_request', message: 'The request is not valid HTTP.' }),
  );
  const req = new IncomingMessage(new Socket());
  const res = new ServerResponse(req); // only to hold the headers
  securityHeaders(req, res, () => {});
  const headers = Object.entries({
    ...res.getHeaders(),
    'X-Error-Reason': 'validation',
    // It is counted nowhere, and so shows a full budget.
    'X-RateLimit-Limit': limit,
    'X-RateLimit-Remaining': limit,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}`);
  return (status) =>
    [
      `HTTP/1.1 ${status}`,
      ...headers,
      `X-Request-Id: ${randomUUID()}`,
      `X-RateLimit-Reset: ${Math.ceil(Date.now() / 1000) + 60}`,
      '',
      body,
    ].join('\r\n');
}

/** The HTTP server around the app; it does not listen yet. It answers malformed requests itself, in the documented shape. */
export function createHttpServer(config: Config, app: Express): Server {
  const answers = new WeakMap<object, ServerResponse>();

  const server = createServer(options, (req, res) => {
    answers.set(req.socket, res);
    // Express gives back only what it cannot route, such as http://[/, and answers that failed half-way.
    (app as (req: IncomingMessage, res: ServerResponse, giveBack: () => void) => void)(req, res, () => {
      if (res.headersSent) req.socket.destroy();
      else reject(req.socket);
    });
  });

  const malformed = malformedAnswer(config);

  /** Ends a connection with an answer written to it: for a malformed request Node makes no response object. */
  function reject(socket: Socket, status = '400 Bad Request') {
    socket.end(malformed(status));
    setTimeout(() => socket.destroy(), lingerMs).unref();
  }

  const failed = new WeakSet<Socket>();
  return server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (failed.has(socket)) return; // each chunk behind a malformed one is another error
    failed.add(socket);
    const answer = answers.get(socket);
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    // In a body that the answer did not wait for: there is no second answer.
    else if (answer?.headersSent && !answer.req.complete) socket.destroy();
    // Behind a request that is not answered yet, as pipelining clients send them: that answer goes first.
    else if (answer?.closed === false && answer.req.complete) answer.once('close', () => socket.destroy());
    else reject(socket, reasonOf[error.code ?? '']);
  });
}

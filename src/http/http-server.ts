import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Express } from 'express';
import type { Config } from '../config/config.ts';
import { ApiError, envelope } from '../errors.ts';

const options = {
  /** Time limit of a request, including its body of at most 128 KB. */
  requestTimeout: 30_000,
  headersTimeout: 10_000,
  connectionsCheckingInterval: 5_000,
  /** Lets the app answer requests without a Host header, because the 400 of Node has no body. */
  requireHostHeader: false,
};

/** Interval at which Node checks for progress. A client that stops reading is disconnected after 12 to 24 s. */
const stalledMs = 12_000;

type Fault = readonly [status: string, message: string];

const malformed: Fault = ['400 Bad Request', 'The request is not valid HTTP, or is incomplete.'];

/** Faults by the codes of Node. */
const faults: Record<string, Fault> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The headers are too large. Send at most 16 KB.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request did not arrive in time. Send it again.'],
};

/**
 * Answers outside of the app like an error of the app, and closes the connection. The X-RateLimit headers are missing,
 * because no limit has counted the request, and the id is new, because its headers may be unreadable.
 */
function answerRaw(socket: Socket, [status, message]: Fault) {
  const error = new ApiError('invalid_request', message);
  const body = JSON.stringify(envelope(error));
  const headers = {
    'X-Request-Id': randomUUID(),
    'X-Service-Time': Date.now(),
    ...error.headers,
    'Cache-Control': 'no-store',
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': body.length,
    Connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.write([`HTTP/1.1 ${status}`, ...lines, '', body].join('\r\n'));
  socket.destroySoon();
}

/** Answers a request with the header Expect, unless it is 100-continue, which Node answers. */
const rejectExpectation = ({ socket }: IncomingMessage) =>
  answerRaw(socket, [
    '417 Expectation Failed',
    'The only value of the header Expect that is supported is 100-continue.',
  ]);

/** Answers CONNECT, which is for proxies. Node would close the connection. */
function rejectConnect(_req: IncomingMessage, socket: Duplex) {
  socket.on('error', () => {}); // Node listens no more, and an error without a listener would end the process
  answerRaw(socket as Socket, ['400 Bad Request', 'The method CONNECT is not supported.']);
}

export function createHttpServer({ keepAliveSeconds }: Config, app: Express): Server {
  /** Response under way on each connection, or its last one. */
  const responses = new WeakMap<Socket, ServerResponse>();

  /** Answers a request that Node cannot parse, and closes the connection. */
  function rejectMalformed(error: NodeJS.ErrnoException, socket: Socket) {
    const response = responses.get(socket);
    const isOver = response?.writableFinished && response.req.complete;
    const wouldBeSecond = response?.headersSent && !isOver; // a second response to one request
    if (wouldBeSecond || !socket.writable) return void socket.destroy();
    answerRaw(socket, faults[error.code ?? ''] ?? malformed);
  }

  return createServer({ ...options, keepAliveTimeout: keepAliveSeconds * 1000 }, (req, res) => {
    responses.set(req.socket, res);
    // Express calls this for a request that it cannot route, such as http://[/.
    const handBack = (error = new Error()) => rejectMalformed(error, req.socket);
    (app as (req: IncomingMessage, res: ServerResponse, handBack: () => void) => void)(req, res, handBack);
  })
    .on('clientError', rejectMalformed)
    .on('checkExpectation', rejectExpectation)
    .on('connect', rejectConnect)
    .setTimeout(stalledMs, (socket) => {
      // A client that sends further requests without reading has unsent bytes of the earlier responses.
      if (responses.get(socket)?.headersSent || socket.writableLength > 0) socket.destroy();
      else socket.setTimeout(stalledMs); // a handler is running, or Node waits for the headers
    });
}

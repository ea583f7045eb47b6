import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Express } from 'express';
import type { Config } from '../config/config.ts';
import { envelope } from '../errors.ts';

const options = {
  /** Time limit of a request, including its body of at most 32 KB. */
  requestTimeout: 30_000,
  headersTimeout: 10_000,
  connectionsCheckingInterval: 5_000,
  /** Lets the app answer requests without a Host header, because the 400 of Node has no body. */
  requireHostHeader: false,
};

/** Interval at which Node checks for progress. A client that stops reading is disconnected after 12 to 24 s. */
const stalledMs = 12_000;

const statusOf: Record<string, string> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/** Answers with the error envelope outside of the app, and closes the connection. */
function answerRaw(socket: Socket, status: string, message: string) {
  const body = JSON.stringify(envelope({ code: 'invalid_request', message }));
  const head = `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${body.length}\r\nConnection: close`;
  socket.write(`HTTP/1.1 ${status}\r\n${head}\r\n\r\n${body}`);
  socket.destroySoon();
}

/** Answers a request with the header Expect, unless it is 100-continue, which Node answers. */
const rejectExpectation = ({ socket }: IncomingMessage) =>
  answerRaw(socket, '417 Expectation Failed', 'The only value of the header Expect that is supported is 100-continue.');

export function createHttpServer({ keepAliveSeconds }: Config, app: Express): Server {
  /** Response under way on each connection, or its last one. */
  const responses = new WeakMap<Socket, ServerResponse>();

  /** Answers a request that Node cannot parse, and closes the connection. */
  function rejectMalformed(error: NodeJS.ErrnoException, socket: Socket) {
    const response = responses.get(socket);
    const isBusy = response?.headersSent && !(response.writableFinished && response.req.complete);
    if (isBusy || !socket.writable) return void socket.destroy();
    const status = statusOf[error.code ?? ''] ?? '400 Bad Request';
    answerRaw(socket, status, 'The request is not valid HTTP, or is incomplete.');
  }

  return createServer({ ...options, keepAliveTimeout: keepAliveSeconds * 1000 }, (req, res) => {
    responses.set(req.socket, res);
    // Express calls this for a request that it cannot route, such as http://[/.
    const handBack = (error = new Error()) => rejectMalformed(error, req.socket);
    (app as (req: IncomingMessage, res: ServerResponse, handBack: () => void) => void)(req, res, handBack);
  })
    .on('clientError', rejectMalformed)
    .on('checkExpectation', rejectExpectation)
    .setTimeout(stalledMs, (socket) => {
      // A client that sends further requests without reading has unsent bytes of the earlier responses.
      if (responses.get(socket)?.headersSent || socket.writableLength > 0) socket.destroy();
      else socket.setTimeout(stalledMs); // a handler is running, or Node waits for the headers
    });
}

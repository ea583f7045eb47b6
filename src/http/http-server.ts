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

const body = JSON.stringify(
  envelope({ code: 'invalid_request', message: 'The request is not valid HTTP, or is incomplete.' }),
);
const head = `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${body.length}\r\nConnection: close`;

export function createHttpServer({ keepAliveSeconds }: Config, app: Express): Server {
  const responses = new WeakMap<Socket, ServerResponse>();

  /** Answers a request that Node cannot parse, and closes the connection. */
  function rejectMalformed(error: NodeJS.ErrnoException, socket: Socket) {
    const response = responses.get(socket);
    const isBusy = response?.headersSent && !(response.writableFinished && response.req.complete);
    if (isBusy || !socket.writable) return void socket.destroy();
    socket.write(`HTTP/1.1 ${statusOf[error.code ?? ''] ?? '400 Bad Request'}\r\n${head}\r\n\r\n${body}`);
    socket.destroySoon();
  }

  return createServer({ ...options, keepAliveTimeout: keepAliveSeconds * 1000 }, (req, res) => {
    responses.set(req.socket, res);
    // Express calls this for a request that it cannot route, such as http://[/.
    const handBack = (error = new Error()) => rejectMalformed(error, req.socket);
    (app as (req: IncomingMessage, res: ServerResponse, handBack: () => void) => void)(req, res, handBack);
  })
    .on('clientError', rejectMalformed)
    .setTimeout(stalledMs, (socket) => {
      // The newest response may belong to a pipelined request that is incomplete, so also look for unsent bytes.
      if (responses.get(socket)?.headersSent || socket.writableLength > 0) socket.destroy();
      else socket.setTimeout(stalledMs); // a handler is running, or Node waits for the headers
    });
}

import { randomUUID } from 'node:crypto';
import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Express } from 'express';
import { commonHead } from './answer.ts';
import type { Config } from './config.ts';
import { envelope } from './errors.ts';

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

/** How long a client that was refused may take to read why before its connection is gone, in milliseconds. */
const partingMs = 1_000;

/**
 * The HTTP server around the app; it does not listen yet. What Node and Express would answer without the app is
 * answered here, in the documented shape.
 */
export function createHttpServer(config: Config, app: Express): Server {
  const lastAnswers = new WeakMap<Duplex, ServerResponse>();
  /** For requests that were sent without waiting for the answer to the one before. */
  const answersBefore = new WeakMap<ServerResponse, ServerResponse>();
  const leaving = new WeakSet<Duplex>();

  function answer(req: IncomingMessage, res: ServerResponse) {
    const before = lastAnswers.get(req.socket);
    if (before?.closed === false) {
      answersBefore.set(res, before);
      before.once('close', () => answersBefore.delete(res)); // or each would keep all before it
    }
    lastAnswers.set(req.socket, res);
    // Express gives back only what it cannot route, such as http://[/, and answers that failed half-way.
    (app as (req: IncomingMessage, res: ServerResponse, giveBack: () => void) => void)(req, res, () => {
      if (res.headersSent) req.socket.destroy();
      else res.writeHead(400, refusalHead(config)).end(refusalBody);
    });
  }

  /** Ends a connection of which nothing more can be understood, after the answers to what came before. */
  function leave(socket: Duplex, status = '400 Bad Request') {
    if (leaving.has(socket)) return; // whatever else comes is another error
    leaving.add(socket);
    // Node no longer listens to the connection of a CONNECT: an error that nobody hears would end the process.
    socket.on('error', () => {});

    function end() {
      const last = lastAnswers.get(socket);
      const before = last && answersBefore.get(last);
      const isUnderWay = last?.closed === false && (last.headersSent || last.req.complete);
      const awaited = before ?? (isUnderWay ? last : undefined);
      if (awaited) {
        awaited.once('close', end);
        return;
      }
      // An answer that did not wait for a body that is wrong or late: there is no second one.
      const isAnswered = last?.headersSent && !last.req.complete;
      const lines = refusalHead(config).map((text, index) => text + (index % 2 === 0 ? ': ' : '\r\n'));
      socket.end(isAnswered ? '' : `HTTP/1.1 ${status}\r\n${lines.join('')}\r\n${refusalBody}`);
      setTimeout(() => socket.destroy(), partingMs).unref();
    }
    end();
  }

  return (
    createServer({ ...options, ...classesOf(app) }, answer)
      // RFC 9110 section 10.1.1 lets a server ignore an expectation that it does not know; Node would answer 417.
      .on('checkExpectation', answer)
      .on('connect', (_req, socket) => leave(socket))
      .on('clientError', (error: NodeJS.ErrnoException, socket) => {
        if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
        else leave(socket, statusOf[error.code ?? '']);
      })
  );
}

/**
 * Express gives every request and response the prototype of its app, which makes V8 give them another shape: up to a tenth
 * of all that is done for a request. These are made with that prototype, so that nothing has to change.
 */
function classesOf(app: Express) {
  class Request extends IncomingMessage {}
  class Response extends ServerResponse {}
  app.request = Object.setPrototypeOf(Request.prototype, app.request);
  app.response = Object.setPrototypeOf(Response.prototype, app.response);
  return { IncomingMessage: Request, ServerResponse: Response };
}

const statusOf: Record<string, string> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

const refusalBody = JSON.stringify(
  envelope({ code: 'invalid_request', message: 'The request is not valid HTTP.' }),
);

/** Names and values in turn. What is not HTTP, or not finished in time, is counted on no budget: it shows a full one. */
function refusalHead({ rateLimits: { anonymousPerMinute: limit } }: Config): string[] {
  const budget = { limit, remaining: limit, resetSeconds: Math.ceil(Date.now() / 1000) + 60 };
  return [
    ...commonHead({ requestId: randomUUID(), budget }),
    ...['Content-Type', 'application/json; charset=utf-8'],
    ...['Content-Length', String(Buffer.byteLength(refusalBody))],
    ...['Connection', 'close'],
    ...['Cache-Control', 'no-store'],
  ];
}

import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { pinoHttp } from 'pino-http';

const wellFormedId = /^[\w.:-]{1,128}$/;

/**
 * Gives every request its id (the client's X-Request-Id where well-formed, else a new one), echoes it, and writes
 * one line when the request has ended. Headers and bodies are never logged: they carry credentials.
 */
export function requestLog(logger: Logger) {
  return pinoHttp({
    logger,
    quietReqLogger: true,
    genReqId: (req, res) => {
      const given = req.headers['x-request-id'];
      const id = typeof given === 'string' && wellFormedId.test(given) ? given : randomUUID();
      res.setHeader('X-Request-Id', id);
      return id;
    },
    autoLogging: { ignore: (req) => req.url === '/healthz' || req.url === '/readyz' },
    customLogLevel: (_req, res) => (res.statusCode >= 500 ? 'error' : 'info'),
    customSuccessMessage: summaryOf,
    customErrorMessage: summaryOf,
    serializers: {
      req: ({ method }: IncomingMessage) => ({ method }),
      res: ({ statusCode }: ServerResponse) => ({ statusCode }),
    },
    // Not customProps: those are bound before the route is known.
    customSuccessObject: (_req, res, line) => ({ ...line, operation: operationOf(res) }),
    customErrorObject: (_req, res, _error, line) => ({ ...line, operation: operationOf(res) }),
  });
}

function operationOf(res: ServerResponse & { locals?: Record<string, unknown> }) {
  return res.locals?.['operation'] ?? 'none';
}

function summaryOf(req: IncomingMessage, res: ServerResponse) {
  return `${req.method} ${operationOf(res)} ${res.writableFinished ? res.statusCode : 'aborted'}`;
}

import { randomUUID } from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import type { Caller } from './caller.ts';
import type { Metrics } from './metrics.ts';

declare module 'express-serve-static-core' {
  /** What the way of a request leaves for its line in the log. */
  interface Locals {
    /** Absent for an address that is no endpoint. */
    operation?: string;
    caller?: Caller | null;
    /** What a 5xx hides from the client. */
    error?: Error;
    /** Load balancers ask every second: that is not worth a line. */
    probe?: true;
  }
}

const wellFormedId = /^[\w.:-]{1,128}$/;

function requestIdOf(req: Request): string {
  const given = req.headers['x-request-id'];
  return typeof given === 'string' && wellFormedId.test(given) ? given : randomUUID();
}

/**
 * Gives every request its id (the client's X-Request-Id where well-formed, else a new one), and writes one
 * line, and measures, when the request has ended. Headers, queries and bodies are never logged: they carry credentials.
 */
export function requestLog(log: Logger, metrics: Metrics | null): RequestHandler {
  return (req, res, next) => {
    const started = performance.now();
    res.locals.requestId = requestIdOf(req);
    res.once('close', () => {
      if (res.locals.probe) return;
      const level = res.statusCode >= 500 ? 'error' : 'info';
      const durationMs = performance.now() - started;
      const line = lineOf(req, res, durationMs);
      metrics?.requestEnded(line.operation, line.status, durationMs);
      log[level](line, `${line.operation} ${line.status ?? 'aborted'}`);
    });
    next();
  };
}

function lineOf(req: Request, res: Response, durationMs: number) {
  const { requestId, operation, caller, budget, error } = res.locals;
  return {
    requestId,
    operation: operation ?? 'none',
    method: req.method,
    ...(operation === undefined && { path: withoutSecrets(req.originalUrl) }),
    // A client that went away has seen no status.
    status: res.writableFinished ? res.statusCode : null,
    durationMs: Math.round(durationMs * 10) / 10,
    ...(caller && { caller: nameOf(caller) }),
    ...(budget && { rateLimit: { limit: budget.limit, remaining: budget.remaining } }),
    ...(error && { err: error }),
  };
}

/** A key goes by the hash that private.api_keys knows it by. */
function nameOf(caller: Caller) {
  return { via: caller.via, id: caller.via === 'jwt' ? caller.userId : caller.keyHash };
}

/** The path of an unknown address helps to find the mistake; what looks like a token or an e-mail address does not. */
function withoutSecrets(url: string) {
  return url
    .replace(/\?.*/s, '')
    .replace(/[^/]{41,}|[^/]*(@|%40)[^/]*/gi, '…')
    .slice(0, 200);
}

import type { Locals, Request, Response } from 'express';
import { Body } from './body.ts';
import { securityHeaders } from './security-headers.ts';

declare module 'express-serve-static-core' {
  /** What the way of a request leaves for the headers of its answer. */
  interface Locals {
    requestId: string;
    /** What is left of the caller's requests; absent until the request has been counted. */
    budget?: { limit: number; remaining: number; resetSeconds: number };
    /** Instead of those of the API. */
    securityHeaders?: readonly string[];
  }
}

/** Names and values in turn. */
type Head = readonly string[];

/** The headers that all answers have. */
export function commonHead({
  requestId,
  budget,
  securityHeaders: security = securityHeaders,
}: Locals): string[] {
  const head = [...security, 'X-Request-Id', requestId];
  if (budget !== undefined) {
    head.push('X-RateLimit-Limit', String(budget.limit));
    head.push('X-RateLimit-Remaining', String(budget.remaining));
    head.push('X-RateLimit-Reset', String(budget.resetSeconds));
  }
  return head;
}

/**
 * Ends a response. Everything that the app answers goes through here.
 * Headers are written at once: setting them one by one takes three times as long, up to a tenth of all that is done for a request.
 * @param head the headers besides those that all answers have
 */
export function answer(res: Response, status: number, head: Head, bytes?: Buffer) {
  res.writeHead(status, [...commonHead(res.locals), ...head]).end(bytes);
}

/** What caches must know; cors has put Origin there where it is at work, which writeHead would replace. */
function varyOf(res: Response, body: Body): Head {
  if (!body.isWorthCompressing) return [];
  const before = res.get('Vary');
  return ['Vary', before === undefined ? 'Accept-Encoding' : `${before}, Accept-Encoding`];
}

/** Sends a body, compressed where that is worth it and the client takes it, unless it is so already. */
async function sendBody(req: Request, res: Response, status: number, head: Head, body: Body) {
  const compress = body.isWorthCompressing && req.acceptsEncodings('gzip', 'identity') === 'gzip';
  const bytes = compress ? await body.gzipped() : body.bytes;
  const encoding = compress ? 'gzip' : body.encoding;
  const own = ['Content-Type', body.type, 'Content-Length', String(bytes.length)];
  if (encoding !== undefined) own.push('Content-Encoding', encoding);
  answer(res, status, [...head, ...varyOf(res, body), ...own], bytes);
}

/** Sends JSON that nobody may keep. */
export async function sendOnce(
  req: Request,
  res: Response,
  json: string,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
) {
  const head = ['Cache-Control', 'no-store', ...Object.entries(headers).flat()];
  await sendBody(req, res, status, head, new Body(json));
}

/**
 * Sends a body that the client may keep and check by its ETag, or 304 when it holds this one.
 * Express alone ignores If-None-Match when the request says Cache-Control: no-cache, as many HTTP clients do.
 */
export async function sendCopy(req: Request, res: Response, body: Body) {
  const held = req.headers['if-none-match']?.split(',').map((item) => item.trim().replace(/^W\//, '')) ?? [];
  const head = ['Cache-Control', 'private, no-cache', 'ETag', body.etag];
  const isHeld = held.includes('*') || held.includes(body.etag.slice('W/'.length));
  if (isHeld) answer(res, 304, [...head, ...varyOf(res, body)]);
  else await sendBody(req, res, 200, head, body);
}

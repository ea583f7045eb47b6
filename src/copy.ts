import etag from 'etag';
import type { Request, Response } from 'express';

/** An answer that clients may keep and check by its ETag, as it is sent. */
export type Copy = { bytes: Buffer; tag: string };

export function copyOf(body: string | Buffer): Copy {
  const bytes = Buffer.from(body);
  return { bytes, tag: etag(bytes, { weak: true }) };
}

/**
 * Sends a copy, or 304 when the client holds it.
 * Express alone ignores If-None-Match when the request says Cache-Control: no-cache, as many HTTP clients do.
 */
export function sendCopy(req: Request, res: Response, { bytes, tag }: Copy, type = 'json') {
  const held = req.headers['if-none-match']?.split(',').map((item) => item.trim().replace(/^W\//, '')) ?? [];
  res.set({ 'Cache-Control': 'private, no-cache', ETag: tag });
  if (held.includes('*') || held.includes(tag.replace(/^W\//, ''))) {
    res.status(304).end();
    return;
  }
  res.type(type).set('Content-Length', String(bytes.length)).end(bytes);
}

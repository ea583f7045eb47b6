import { promisify } from 'node:util';
import { gzip as gzipWithCallback } from 'node:zlib';
import etag from 'etag';
import type { Request, Response } from 'express';

const gzip = promisify(gzipWithCallback);

/** An answer that clients may keep and check by its ETag, as it is sent. */
export type Copy = { bytes: Buffer; tag: string; gzipped: () => Promise<Buffer> };

export function copyOf(body: string | Buffer): Copy {
  const bytes = Buffer.from(body);
  let packed: Promise<Buffer> | undefined;
  const gzipped = () => {
    packed ??= gzip(bytes);
    return packed;
  };
  return { bytes, tag: etag(bytes, { weak: true }), gzipped };
}

/**
 * Sends a copy, or 304 when the client holds it.
 * Express alone ignores If-None-Match when the request says Cache-Control: no-cache, as many HTTP clients do.
 */
export async function sendCopy(req: Request, res: Response, { bytes, tag, gzipped }: Copy, type = 'json') {
  const held = req.headers['if-none-match']?.split(',').map((item) => item.trim().replace(/^W\//, '')) ?? [];
  res.set({ 'Cache-Control': 'private, no-cache', ETag: tag });
  if (held.includes('*') || held.includes(tag.replace(/^W\//, ''))) {
    res.status(304).end();
    return;
  }
  // compression() would do this again for each of those who share the answer; it leaves alone what has an encoding.
  const packed =
    bytes.length > 1024 &&
    !res.hasHeader('Content-Encoding') &&
    req.acceptsEncodings('gzip', 'identity') === 'gzip';
  const sent = packed ? await gzipped() : bytes;
  if (packed) res.set('Content-Encoding', 'gzip');
  res.type(type).set('Content-Length', String(sent.length)).end(sent);
}

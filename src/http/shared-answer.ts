import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Request, Response } from 'express';

/** Leaves shorter bodies uncompressed, as `compression` does, because they fit into one packet either way. */
const worthCompressingBytes = 1024;

/** Returns the ETag of a body. It is weak, because it also covers the compressed bytes (RFC 9110 section 8.8.1). */
export function weakETag(body: Buffer) {
  return `W/"${createHash('sha1').update(body).digest('base64url')}"`;
}

/**
 * Creates a response that many requests share. It is hashed and compressed only once.
 * @param content the body as a Buffer, or a value to send as JSON
 * @param type extension or media type of the body
 * @returns `send`, which sends it, or 304 to a client that has it already
 */
export function createSharedAnswer(content: unknown, type = 'json') {
  const bytes = Buffer.isBuffer(content) ? content : Buffer.from(JSON.stringify(content));
  const etag = weakETag(bytes);
  let gzipped: Buffer | undefined;

  return {
    send(req: Request, res: Response) {
      res.set('ETag', etag).vary('Accept-Encoding').type(type);
      const mayCompress = !res.hasHeader('Content-Encoding') && req.acceptsEncodings('gzip');
      if (req.fresh || !mayCompress || bytes.length < worthCompressingBytes) {
        res.send(bytes);
        return;
      }
      gzipped ??= gzipSync(bytes);
      res.set('Content-Encoding', 'gzip').send(gzipped);
    },
  };
}

export type SharedAnswer = ReturnType<typeof createSharedAnswer>;

import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Request, Response } from 'express';

/** Leaves shorter bodies uncompressed, as `compression` does, because they fit into one packet either way. */
const worthCompressingBytes = 1024;

/** Returns the ETag of a body. It is weak, because it also covers the compressed bytes (RFC 9110 section 8.8.1). */
export function weakETag(...body: Buffer[]) {
  const sha1 = createHash('sha1');
  for (const part of body) sha1.update(part);
  return `W/"${sha1.digest('base64url')}"`;
}

/** Response that many requests share. It is hashed and compressed only once. */
export class SharedAnswer {
  readonly #bytes: Buffer;
  readonly #type: string;
  readonly #etag: string;
  #gzipped: Buffer | undefined;

  /** @param content the body as a Buffer, or a value to send as JSON */
  constructor(content: unknown, type = 'json') {
    this.#bytes = Buffer.isBuffer(content) ? content : Buffer.from(JSON.stringify(content));
    this.#type = type;
    this.#etag = weakETag(this.#bytes);
  }

  send(req: Request, res: Response) {
    res.set('ETag', this.#etag).vary('Accept-Encoding').type(this.#type);
    const mayCompress = !res.hasHeader('Content-Encoding') && req.acceptsEncodings('gzip');
    if (req.fresh || !mayCompress || this.#bytes.length < worthCompressingBytes) {
      res.send(this.#bytes);
      return;
    }
    this.#gzipped ??= gzipSync(this.#bytes);
    res.set('Content-Encoding', 'gzip').send(this.#gzipped);
  }
}

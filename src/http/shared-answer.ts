import { hash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Request, Response } from 'express';

/** In bytes, as for `compression`: what is shorter fits into one packet either way. */
const worthCompressing = 1024;

/** The ETag of a body: a weak one, since it stands for the compressed bytes as well (RFC 9110 section 8.8.1). */
export const weakETag = (body: Buffer) => `W/"${hash('sha1', body, 'base64url')}"`;

/** A JSON answer that many share: it is written, hashed and compressed once for all of them. */
export class SharedAnswer {
  readonly #bytes: Buffer;
  readonly #etag: string;
  #gzipped: Buffer | undefined;

  constructor(payload: unknown) {
    this.#bytes = Buffer.from(JSON.stringify(payload));
    this.#etag = weakETag(this.#bytes);
  }

  /** Sends it, or 304 when the client holds it already. */
  send(req: Request, res: Response) {
    res.set('ETag', this.#etag).vary('Accept-Encoding').type('json');
    if (req.fresh || this.#bytes.length < worthCompressing || !req.acceptsEncodings('gzip')) {
      res.send(this.#bytes);
      return;
    }
    this.#gzipped ??= gzipSync(this.#bytes);
    res.set('Content-Encoding', 'gzip').send(this.#gzipped);
  }
}

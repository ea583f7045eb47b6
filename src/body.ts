import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip, gzipSync } from 'node:zlib';
import type { Request, Response } from 'express';

const gzipElsewhere = promisify(gzip);

/** In bytes; what is shorter fits into one packet either way. */
const worthCompressing = 1024;

/** In bytes; less is compressed sooner than handed to another thread, and more would hold up everybody else. */
const worthAThread = 65_536;

/** A body as it is sent; what many share is hashed and compressed once for all of them. */
export class Body {
  readonly bytes: Buffer;
  #etag: string | undefined;
  #gzipped: Buffer | Promise<Buffer> | undefined;

  constructor(text: string | Buffer) {
    this.bytes = Buffer.from(text);
  }

  /** A weak one, since it stands for the compressed bytes as well (RFC 9110 section 8.8.1). */
  get etag(): string {
    this.#etag ??= `W/"${hash('sha1', this.bytes, 'base64url')}"`;
    return this.#etag;
  }

  gzipped(): Buffer | Promise<Buffer> {
    this.#gzipped ??= this.bytes.length < worthAThread ? gzipSync(this.bytes) : gzipElsewhere(this.bytes);
    return this.#gzipped;
  }
}

const types = {
  json: 'application/json; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
};
export type BodyType = keyof typeof types;

/** Sends a body, compressed where that is worth it and the client takes it, unless it has an encoding already. */
export async function sendBody(req: Request, res: Response, body: Body, type: BodyType = 'json') {
  let { bytes } = body;
  if (bytes.length > worthCompressing && !res.hasHeader('Content-Encoding')) {
    res.vary('Accept-Encoding');
    if (req.acceptsEncodings('gzip', 'identity') === 'gzip') {
      bytes = await body.gzipped();
      res.setHeader('Content-Encoding', 'gzip');
    }
  }
  res.setHeader('Content-Type', types[type]).setHeader('Content-Length', bytes.length).end(bytes);
}

/**
 * Sends a body that the client may keep and check by its ETag, or 304 when it holds this one.
 * Express alone ignores If-None-Match when the request says Cache-Control: no-cache, as many HTTP clients do.
 */
export async function sendCopy(req: Request, res: Response, body: Body, type?: BodyType) {
  const held = req.headers['if-none-match']?.split(',').map((item) => item.trim().replace(/^W\//, '')) ?? [];
  res.setHeader('Cache-Control', 'private, no-cache').setHeader('ETag', body.etag);
  if (held.includes('*') || held.includes(body.etag.slice('W/'.length))) res.status(304).end();
  else await sendBody(req, res, body, type);
}

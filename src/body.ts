import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip, gzipSync } from 'node:zlib';

const gzipElsewhere = promisify(gzip);

/** In bytes; what is shorter fits into one packet either way. */
const worthCompressing = 1024;

/** In bytes; less is compressed sooner than handed to another thread, and more would hold up everybody else. */
const worthAThread = 65_536;

const types = {
  json: 'application/json; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
};
export type BodyType = keyof typeof types;

/** A body as it is sent; what many share is hashed and compressed once for all of them. */
export class Body {
  readonly bytes: Buffer;
  readonly type: string;
  /** What the bytes are compressed with already. */
  readonly encoding: 'gzip' | undefined;
  #etag: string | undefined;
  #gzipped: Buffer | Promise<Buffer> | undefined;

  constructor(text: string | Buffer, type: BodyType = 'json', encoding?: 'gzip') {
    this.bytes = Buffer.from(text);
    this.type = types[type];
    this.encoding = encoding;
  }

  /** A weak one, since it stands for the compressed bytes as well (RFC 9110 section 8.8.1). */
  get etag(): string {
    this.#etag ??= `W/"${hash('sha1', this.bytes, 'base64url')}"`;
    return this.#etag;
  }

  /** Whether clients that take gzip get it compressed. */
  get isWorthCompressing(): boolean {
    return this.encoding === undefined && this.bytes.length > worthCompressing;
  }

  gzipped(): Buffer | Promise<Buffer> {
    this.#gzipped ??= this.bytes.length < worthAThread ? gzipSync(this.bytes) : gzipElsewhere(this.bytes);
    return this.#gzipped;
  }
}

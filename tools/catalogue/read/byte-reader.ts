import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const WINDOW_BYTES = 1024 * 1024;

/** Reads small pieces of a large file through a window in memory. */
export class ByteReader {
  readonly size: number;
  readonly #file: number;
  readonly #window = Buffer.alloc(WINDOW_BYTES);
  #start = 0;
  #length = 0;

  constructor(path: string) {
    this.#file = openSync(path, 'r');
    this.size = fstatSync(this.#file).size;
  }

  /** Returns up to `count` bytes, fewer at the end of the file. The next call may overwrite them. */
  read(offset: number, count: number): Buffer {
    const isInside = offset >= this.#start && offset + count <= this.#start + this.#length;
    if (!isInside) {
      this.#start = offset;
      this.#length = readSync(this.#file, this.#window, 0, WINDOW_BYTES, offset);
    }
    return this.#window.subarray(offset - this.#start, Math.min(offset - this.#start + count, this.#length));
  }

  /** Returns the offset of a byte or text, searched from an offset on, or the size of the file if there is none. */
  find(wanted: number | string, from: number): number {
    const overlap = typeof wanted === 'string' ? wanted.length - 1 : 0;
    for (let offset = from; offset < this.size; ) {
      const piece = this.read(offset, Math.min(WINDOW_BYTES / 2, this.size - offset));
      const index = piece.indexOf(wanted, 0, 'latin1');
      if (index >= 0) return offset + index;
      offset += Math.max(piece.length - overlap, 1);
    }
    return this.size;
  }

  close(): void {
    closeSync(this.#file);
  }
}

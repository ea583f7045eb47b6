import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** What came back within a time. `latencies` are in milliseconds. */
export type Round = { seconds: number; latencies: number[] };

const endOfHeaders = Buffer.from('\r\n\r\n');
const endOfChunks = Buffer.from('0\r\n\r\n');

/**
 * One keep-alive connection that sends ready-made bytes and reads no more of an answer than its status and where it
 * ends. On two cores the generator takes its time from what it measures, so that it must be lighter than a client.
 */
class Connection {
  readonly #socket: Socket;
  readonly #expected: string;
  #head = '';
  #left = 0;
  #chunked = false;
  #done: (error?: Error) => void = () => {};

  constructor(port: number, expectedStatus: number) {
    this.#expected = `HTTP/1.1 ${expectedStatus} `;
    // One buffer for all that is read: nothing is kept of it.
    const buffer = Buffer.allocUnsafe(65_536);
    const callback = (size: number) => {
      this.#read(buffer.subarray(0, size));
      return true;
    };
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true, onread: { buffer, callback } });
    this.#socket.on('close', () => this.#done(new Error('The connection was closed.')));
    this.#socket.on('error', (error) => this.#done(error));
  }

  opened = () => once(this.#socket, 'connect');
  close = () => this.#socket.destroy();

  send(request: Buffer, done: (error?: Error) => void) {
    if (this.#socket.destroyed) return done(new Error('The connection was closed while it was not used.'));
    this.#done = done;
    this.#head = '';
    this.#socket.write(request);
    return undefined;
  }

  #read(chunk: Buffer) {
    let body = chunk;
    if (this.#head === '') {
      const end = chunk.indexOf(endOfHeaders);
      if (end < 0) return this.#done(new Error('The headers did not come in one piece.'));
      this.#head = chunk.toString('latin1', 0, end);
      const length = /\r\ncontent-length: (\d+)/i.exec(this.#head)?.[1];
      this.#chunked = length === undefined;
      this.#left = Number(length ?? 0);
      body = chunk.subarray(end + endOfHeaders.length);
    }
    this.#left -= body.length;
    const ended = this.#chunked ? chunk.subarray(-endOfChunks.length).equals(endOfChunks) : this.#left <= 0;
    if (!ended) return undefined;
    const asExpected = this.#head.startsWith(this.#expected);
    return this.#done(asExpected ? undefined : new Error(`${this.#head}\n\n${body}`));
  }
}

/** Answers come as fast as they can: every connection sends its next request when it has the answer to the last one. */
export class Load {
  readonly #connections: Connection[];
  readonly #requests: readonly Buffer[];
  #next = 0;

  private constructor(connections: Connection[], requests: readonly Buffer[]) {
    this.#connections = connections;
    this.#requests = requests;
  }

  /** @param requests whole requests, sent in turn */
  static async open(port: number, requests: readonly Buffer[], connections: number, expectedStatus = 200) {
    const opened = Array.from({ length: connections }, () => new Connection(port, expectedStatus));
    await Promise.all(opened.map((connection) => connection.opened()));
    return new Load(opened, requests);
  }

  /**
   * Keeps sending for a time, then waits for the last answers.
   * @throws an Error that shows the first answer of another status than expected
   */
  async run(durationMs: number): Promise<Round> {
    const latencies: number[] = [];
    const started = performance.now();
    await Promise.all(
      this.#connections.map((connection) => this.#repeat(connection, started + durationMs, latencies)),
    );
    return { seconds: (performance.now() - started) / 1000, latencies };
  }

  close() {
    for (const connection of this.#connections) connection.close();
  }

  #repeat(connection: Connection, until: number, latencies: number[]) {
    return new Promise<void>((resolve, reject) => {
      const next = () => {
        const sent = performance.now();
        if (sent >= until) return resolve();
        const request = this.#requests[this.#next++ % this.#requests.length] as Buffer;
        return connection.send(request, (error) => {
          if (error !== undefined) return reject(error);
          latencies.push(performance.now() - sent);
          return next();
        });
      };
      next();
    });
  }
}

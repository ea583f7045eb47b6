import { throwIfAborted, unlessAborted, within } from './wait.ts';

/** A part of a recording of `totalBytes`. `end` is the position after its last byte. */
export interface Range {
  first: number;
  end: number;
  totalBytes: number;
}

/** Bytes of a recording. `version` is undefined where a browser hides the ETag. */
export interface Piece {
  bytes: Uint8Array<ArrayBuffer>;
  version: string | undefined;
}

/** Time after which a request ends if no byte arrives. */
const silenceLimitMs = 30_000;

/** Size of a piece, unless less is left. */
const pieceBytes = 1_000_000;

/** Error of a response that contains something else than the recording, such as the sign-in page of a hotel. */
export const notTheRecording = new Error('The response is not the recording.');

/** Error of a response with a status such as 400, which Storage has for an address that has expired. */
export const addressRejected = new Error('The address was rejected.');

/** Matches the types with which servers send recordings. */
const recordingTypes = /^(audio|video)\/|^\w+\/octet-stream|^application\/(x-)?ogg/i;

/** Statuses of temporary failures, after which the address may still be valid. */
const passingStatuses = [408, 425, 429];

/**
 * Requests a part of a recording. Yields its bytes as they arrive, also those before a connection breaks.
 * A server that ignores `Range` sends the whole file, of which everything from `first` on is yielded.
 * @throws notTheRecording, addressRejected, or the error of the connection
 */
export async function* requestPart(
  send: typeof fetch,
  url: string,
  range: Range,
  signal: AbortSignal,
): AsyncGenerator<Piece, void> {
  const request = new AbortController();
  const next: Next = (arrival) => unlessAborted(within(silenceLimitMs, arrival), signal);
  try {
    const headers = { Range: `bytes=${range.first}-${range.end - 1}` };
    const response = await next(send(url, { headers, signal: request.signal }));
    const { status } = response;
    if (status >= 400 && status < 500 && !passingStatuses.includes(status)) throw addressRejected;
    const bodyBytes = bodyBytesOf(response, range);
    const version = response.headers.get('ETag')?.replace(/^(W\/)?"|"$/g, '');
    const skippedBytes = status === 200 ? range.first : 0;
    for await (const bytes of gather(chunksOf(response, next), skippedBytes, bodyBytes)) {
      throwIfAborted(signal);
      yield { bytes, version };
    }
  } finally {
    request.abort(); // has no effect if the whole body has arrived
  }
}

/** Waits for the next event of a request. */
type Next = <T>(arrival: Promise<T>) => Promise<T>;

/** Returns the size of the body. @throws notTheRecording unless the headers announce the requested bytes */
function bodyBytesOf({ status, headers }: Response, { first, end, totalBytes }: Range): number {
  const length = headers.get('Content-Length');
  if (!recordingTypes.test(headers.get('Content-Type') ?? '')) throw notTheRecording;
  if (status === 200 && (length === null || Number(length) === totalBytes)) return totalBytes;
  if (status !== 206) throw notTheRecording;
  // Browsers may hide Content-Range.
  const announced = headers.get('Content-Range') ?? `bytes ${first}-${first + Number(length ?? end - first) - 1}/*`;
  const [, from, last, total] = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(announced) ?? [];
  const isRequested = Number(from) === first && Number(last) < end && (total === '*' || Number(total) === totalBytes);
  if (!isRequested) throw notTheRecording;
  return Number(last) + 1 - first;
}

/** Yields the chunks of a body as they arrive, or the whole body in React Native, which has no streams. */
async function* chunksOf(response: Response, next: Next): AsyncGenerator<Uint8Array, void> {
  const reader = response.body?.getReader();
  if (reader === undefined) return yield new Uint8Array(await next(response.arrayBuffer()));
  for (;;) {
    const { done, value } = await next(reader.read());
    if (done) return;
    yield value;
  }
}

/**
 * Joins chunks to pieces. The last piece is yielded when the body has ended, because only then its size is known.
 * @throws notTheRecording if the body has another size
 */
async function* gather(chunks: AsyncGenerator<Uint8Array, void>, skippedBytes: number, bodyBytes: number) {
  let gathered: Uint8Array[] = [];
  let size = 0;
  let received = 0;
  const take = () => {
    const piece = join(gathered, size);
    [gathered, size] = [[], 0];
    return piece;
  };
  try {
    for await (const chunk of chunks) {
      const wanted = chunk.subarray(Math.max(0, skippedBytes - received));
      received += chunk.length;
      if (received > bodyBytes) throw notTheRecording;
      gathered.push(wanted);
      size += wanted.length;
      if (size >= pieceBytes && received < bodyBytes) yield take();
    }
    if (received !== bodyBytes) throw notTheRecording;
  } catch (error) {
    if (error !== notTheRecording && size > 0) yield take();
    throw error;
  }
  if (size > 0) yield take();
}

function join(chunks: Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    joined.set(chunk, at);
    at += chunk.length;
  }
  return joined;
}

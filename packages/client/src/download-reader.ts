import { type Addresses, notFound, type Recording } from './download-addresses.ts';
import { addressRejected, notTheRecording, requestPart } from './download-part.ts';
import { noAnswer } from './error.ts';
import { pause, throwIfAborted } from './wait.ts';

/** Bounds of the number of bytes in one request. */
const [leastPartBytes, mostPartBytes] = [50_000, 1_000_000];

/** Durations of a request: parts grow if it is quicker, and shrink if it is slower, so that a failure loses little. */
const [quickMs, slowMs] = [5_000, 20_000];

/** Pauses before a part is requested again. */
const pausesMs = [1_000, 2_000, 4_000];

/** Reads the rest of recordings. */
export type Reader = ReturnType<typeof createReader>;

export function createReader(addresses: Addresses, send: typeof fetch) {
  let partBytes = mostPartBytes;

  /** Adapts the size of parts to the network. */
  function adapt(tookMs: number, isComplete: boolean) {
    if (tookMs > slowMs) partBytes = Math.max(leastPartBytes, Math.ceil(partBytes / 2));
    else if (tookMs < quickMs && isComplete) partBytes = Math.min(mostPartBytes, 2 * partBytes);
  }

  /**
   * Yields a recording from a position on, in order. Ends early if the recording has changed.
   * @throws notTheRecording if what was yielded turns out to be something else, SoundsError if there is no answer
   */
  return async function* read(
    id: string,
    { version, bytes: totalBytes }: Recording,
    first: number,
    signal: AbortSignal,
  ) {
    let failures = 0;
    let hasNewAddress = false;
    for (let at = first; at < totalBytes; ) {
      const { url, ...current } = await addresses.recordingOf(id, signal);
      if (current.version !== version) return;
      const before = at;
      const sentAtMs = performance.now();
      let failure: unknown = null;
      try {
        const range = { first: at, end: Math.min(at + partBytes, totalBytes), totalBytes };
        for await (const piece of requestPart(send, url, range, signal)) {
          at += piece.bytes.length;
          yield piece;
        }
      } catch (error) {
        failure = error;
      }
      throwIfAborted(signal);
      adapt(performance.now() - sentAtMs, failure === null);
      if (at > before) {
        if (failure === notTheRecording) throw failure;
        [failures, hasNewAddress] = [0, false];
        continue;
      }
      // The address may have expired, or the recording may have changed.
      if (failure === addressRejected || failure === notTheRecording) addresses.forget(id);
      if (failure === addressRejected) {
        if (hasNewAddress) throw notFound();
        hasNewAddress = true;
        continue;
      }
      const pauseMs = pausesMs[failures++];
      if (pauseMs === undefined) throw noAnswer();
      await pause(pauseMs, signal, true);
    }
  };
}

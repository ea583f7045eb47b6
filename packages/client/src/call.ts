/** Options of a call, as its last argument. */
export interface CallOptions {
  /** Ends the call, which then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** Options of `plays.flush` and `progress.flush`. */
export interface FlushOptions extends CallOptions {
  /**
   * True when the page goes away: sends at once, in a request that the browser completes without the page. Uses the
   * token at hand, and waits for no other tab.
   */
  keepalive?: boolean | undefined;
}

/** Returns the body of a successful response. */
export const answer = async <T>(call: Promise<{ data?: T | undefined }>): Promise<T> => (await call).data as T;

/** Returns the `data` of a successful response. */
export const dataOf = async <T>(call: Promise<{ data?: { data: T } | undefined }>): Promise<T> =>
  (await answer(call)).data;

/** Returns the part of the options that belongs to a request. */
export const signalOf = ({ signal, keepalive = false }: FlushOptions = {}) => ({ signal: signal ?? null, keepalive });

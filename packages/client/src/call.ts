/** Options of a call, as its last argument. */
export interface CallOptions {
  /** Ends the call, which then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** Returns the body of a successful response. */
export const answer = async <T>(call: Promise<{ data?: T | undefined }>): Promise<T> => (await call).data as T;

/** Returns the part of `CallOptions` that belongs to a request. */
export const signalOf = ({ signal }: CallOptions = {}) => ({ signal: signal ?? null });

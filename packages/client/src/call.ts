/** The last argument of every call. */
export interface CallOptions {
  /** Ends the call, which then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** Returns the body of a response. Failures have been thrown before. */
export const answer = async <T>(call: Promise<{ data?: T | undefined }>): Promise<T> => (await call).data as T;

/** The part of `CallOptions` that goes into a request. */
export const signalOf = ({ signal }: CallOptions = {}) => ({ signal: signal ?? null });

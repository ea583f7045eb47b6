/** Returns a function that shares a call in flight for an equal `what`, because Auth rejects the second of two. */
export function shareInFlight() {
  const inFlight = new Map<string, Promise<unknown>>();
  return <T>(what: unknown, call: () => Promise<T>): Promise<T> => {
    const key = JSON.stringify(what);
    const shared = inFlight.get(key) ?? call().finally(() => inFlight.delete(key));
    inFlight.set(key, shared);
    return shared as Promise<T>;
  };
}

/**
 * Lets equal concurrent calls share one (singleflight), because Auth rejects the second of two.
 * @returns a function that makes a call or shares one in flight. Calls are equal if `what` is equal
 */
export function shareInFlight() {
  const inFlight = new Map<string, Promise<unknown>>();
  return <T>(what: unknown, call: () => Promise<T>): Promise<T> => {
    const key = JSON.stringify(what);
    const shared = inFlight.get(key) ?? call().finally(() => inFlight.delete(key));
    inFlight.set(key, shared);
    return shared as Promise<T>;
  };
}

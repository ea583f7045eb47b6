import type { Readable } from 'node:stream';

/**
 * Creates a queue for each key, because the exports of one user must not occupy all connections.
 * @returns a function that opens a stream once the previous one with the same key has closed
 */
export function oneAtATime() {
  const lastOf = new Map<string, Promise<void>>();

  return async (key: string, open: () => Promise<Readable>): Promise<Readable> => {
    const before = lastOf.get(key);
    const { promise, resolve } = Promise.withResolvers<void>();
    lastOf.set(key, promise);
    const end = () => {
      if (lastOf.get(key) === promise) lastOf.delete(key);
      resolve();
    };
    try {
      await before;
      return (await open()).once('close', end);
    } catch (error) {
      end();
      throw error;
    }
  };
}

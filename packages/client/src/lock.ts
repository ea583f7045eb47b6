import { browser } from './browser.ts';

const queues = new Map<string, Promise<unknown>>();

/**
 * Runs tasks of the same name one after the other: with Web Locks (in browsers, on secure origins) in all tabs of this
 * origin, otherwise in this program.
 */
export function exclusively<T>(name: string, task: () => Promise<T>): Promise<T> {
  const locks = browser.navigator?.locks;
  if (locks) return locks.request(name, task);
  const mine = (queues.get(name) ?? Promise.resolve()).then(task);
  queues.set(
    name,
    mine.catch(() => {}),
  );
  return mine;
}

import { browser } from './browser.ts';

const queues = new Map<string, Promise<unknown>>();

/**
 * Runs a task while no other runs under the same name: in no tab of this origin where there are Web Locks (browsers, on
 * secure origins), else in this program.
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

import { browser } from './browser.ts';
import { within } from './wait.ts';

const queues = new Map<string, Promise<unknown>>();

/**
 * Runs tasks of the same name one after the other: in this program, and with Web Locks (in browsers, on secure origins)
 * in all tabs of this origin.
 * @param patienceMs time after which the task runs without the lock, because the tab that holds it may be frozen
 */
export function exclusively<T>(name: string, task: () => Promise<T>, patienceMs = 1_000): Promise<T> {
  const mine = (queues.get(name) ?? Promise.resolve()).then(async () => {
    const release = await acquire(name, patienceMs);
    return task().finally(release);
  });
  queues.set(
    name,
    mine.catch(() => {}),
  );
  return mine;
}

/** Waits for a Web Lock. Gives up when there are none, or after a time. @returns a function that releases the lock */
async function acquire(name: string, patienceMs: number): Promise<() => void> {
  const locks = browser.navigator?.locks;
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const granted = new Promise<void>((resolve, reject) => {
    const hold = () => {
      resolve();
      return held;
    };
    if (locks) locks.request(name, hold).catch(reject);
    else resolve();
  });
  await within(patienceMs, granted).catch(() => {});
  return release;
}

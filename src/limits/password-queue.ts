import { AsyncLocalStorage } from 'node:async_hooks';
import PQueue from 'p-queue';
import { tooManyRequests } from '../errors.ts';
import { clientKey, networkKey } from '../model/client-address.ts';
import { withNewDeadlines } from '../request-context.ts';

const longestWaitMs = 4_000;
const busy = () => tooManyRequests(3_000, 'limit_requests', 'passwordQueue');

/**
 * Queues the calls that hash a password, because Auth serves few of them at a time and gives up after 10 s.
 * @param callsAtOnce number of concurrent calls. Eight times as many may run or wait, a quarter of them for one client
 *   or one network
 */
export function createPasswordQueue(callsAtOnce: number) {
  const queue = new PQueue({ concurrency: callsAtOnce });
  const capacity = 8 * callsAtOnce;
  const share = capacity / 4;
  const held: string[] = []; // client and network of each call that runs or waits
  const countOf = (key: string) => held.filter((each) => each === key).length;

  /**
   * Makes a call when a slot is free. Its deadline counts from that moment.
   * @param ip address of the client
   * @param isTrusted puts the call first, even into a full queue, so that other clients cannot lock out an account
   * @param gone cancels the call unless it has started
   * @throws ApiError rate_limited when the queue is full, or after 4 s
   */
  return async <T>(
    ip: string,
    call: () => Promise<T>,
    { isTrusted = false, gone }: { isTrusted?: boolean; gone?: AbortSignal | undefined } = {},
  ): Promise<T> => {
    const keys = [clientKey(ip), networkKey(ip)];
    const isFull = queue.size + queue.pending >= capacity && !isTrusted;
    if (isFull || keys.some((key) => countOf(key) >= share)) throw busy();

    const leaving = new AbortController();
    const leave = () => leaving.abort(busy());
    const timer = setTimeout(leave, longestWaitMs);
    gone?.addEventListener('abort', leave);
    const stay = () => {
      clearTimeout(timer);
      gone?.removeEventListener('abort', leave);
    };
    const inContext = AsyncLocalStorage.snapshot(); // p-queue would use the context of another call
    held.push(...keys);
    try {
      return await queue.add(
        () => {
          stay();
          return inContext(() => withNewDeadlines(call));
        },
        { signal: leaving.signal, priority: isTrusted ? 1 : 0 },
      );
    } finally {
      stay();
      for (const key of keys) held.splice(held.indexOf(key), 1);
    }
  };
}

export type PasswordQueue = ReturnType<typeof createPasswordQueue>;

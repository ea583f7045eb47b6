import { AsyncLocalStorage } from 'node:async_hooks';
import PQueue from 'p-queue';
import { tooManyRequests } from '../../errors.ts';
import { clientKey, networkKey } from '../../shared/client-keys.ts';
import { withNewDeadlines } from '../../shared/request-context.ts';

const longestWaitMs = 4_000;
const busy = () => tooManyRequests(3_000, 'limit_requests', 'passwordQueue');

/**
 * Counts the calls that run or wait, in total and for each client and network.
 * @returns `hold` adds a call, and returns a function that removes it, or undefined for a call beyond a bound
 */
function createBounds(bounds: { total: number; perKey: number }) {
  const held: string[][] = [];
  const countOf = (key: string) => held.filter((keys) => keys.includes(key)).length;
  const isFull = (keys: string[]) => held.length >= bounds.total || keys.some((key) => countOf(key) >= bounds.perKey);
  return {
    isFull,
    hold(keys: string[]) {
      if (isFull(keys)) return undefined;
      held.push(keys);
      return () => held.splice(held.indexOf(keys), 1);
    },
  };
}

export interface QueueOptions {
  /** Puts the call first, even into a full queue, so that other clients cannot lock out an account. */
  isTrusted?: boolean;
  /** Cancels the call unless it has started. */
  gone?: AbortSignal;
}

/**
 * Queues the calls that hash a password, because Auth serves few of them at a time and gives up after 10 s.
 * @param callsAtOnce number n of concurrent calls. At most 8n calls may run or wait, 2n of them from one client or
 *   network; in addition 8n calls of trusted clients, n of them from one client or network
 */
export function createPasswordQueue(callsAtOnce: number) {
  const queue = new PQueue({ concurrency: callsAtOnce });
  const total = 8 * callsAtOnce;
  const usual = createBounds({ total, perKey: total / 4 });
  const first = createBounds({ total, perKey: callsAtOnce });

  /** Makes a call when a slot is free, with a new deadline. @throws rate_limited if the queue is full, or after 4 s */
  return async <T>(ip: string, call: () => Promise<T>, { isTrusted = false, gone }: QueueOptions = {}): Promise<T> => {
    const keys = [clientKey(ip), networkKey(ip)];
    const isFull = usual.isFull(keys);
    const releaseFirst = isTrusted ? first.hold(keys) : undefined;
    const release = releaseFirst ?? usual.hold(keys);
    if (release === undefined) throw busy();

    const leaving = new AbortController();
    const leave = () => leaving.abort(busy());
    const timer = setTimeout(leave, longestWaitMs);
    gone?.addEventListener('abort', leave);
    if (gone?.aborted) leave(); // a signal that is already aborted fires no event
    const stay = () => {
      clearTimeout(timer);
      gone?.removeEventListener('abort', leave);
    };
    const inContext = AsyncLocalStorage.snapshot(); // p-queue would use the context of another call
    try {
      return await queue.add(
        () => {
          stay();
          return inContext(() => withNewDeadlines(call));
        },
        { signal: leaving.signal, priority: releaseFirst ? 1 : 0 },
      );
    } catch (error) {
      throw isFull ? busy() : error; // as all others, because an error would reveal that the account trusts the client
    } finally {
      stay();
      release();
    }
  };
}

export type PasswordQueue = ReturnType<typeof createPasswordQueue>;

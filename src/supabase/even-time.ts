import { setTimeout } from 'node:timers/promises';
import type { PasswordQueue } from './password-queue.ts';

/**
 * When an answer comes that must not tell by its time whether there is an account: so many milliseconds after Auth was
 * called. Auth hashes a password, or has a mail to send, for some addresses and not for others.
 */
const evenMs = 500;

export const evenTime = () => setTimeout(evenMs);

/** Makes a call in the queue, and tells when its answer is due: waiting in line is the same for everybody, and not in it. */
export function callEvenly<T>(inPasswordQueue: PasswordQueue, ip: string, call: () => Promise<T>) {
  const begun = Promise.withResolvers<void>();
  const answer = inPasswordQueue(ip, () => {
    begun.resolve();
    return call();
  });
  return { answer, due: begun.promise.then(evenTime) };
}

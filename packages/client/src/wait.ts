import { browser } from './browser.ts';
import { noAnswer } from './error.ts';

/** Settles like `promise`, or rejects with `no_answer` after a time, without cancelling `promise`. */
export function within<T>(limitMs: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(noAnswer()), limitMs);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Settles like `promise`, or rejects when the signal is aborted, without cancelling `promise`. */
export function unlessAborted<T>(promise: Promise<T>, signal?: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(reasonOf(signal));
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort);
    promise.then(resolve, reject).finally(() => signal?.removeEventListener('abort', abort));
  });
}

/** Waits. @param wakes ends the pause early when a browser is online again */
export function pause(ms: number, signal?: AbortSignal, wakes = false): Promise<void> {
  let end = () => {};
  const passed = new Promise<void>((resolve) => {
    end = resolve;
  });
  const timer = setTimeout(end, ms);
  if (wakes) browser.addEventListener?.('online', end);
  return unlessAborted(passed, signal).finally(() => {
    clearTimeout(timer);
    browser.removeEventListener?.('online', end);
  });
}

export function throwIfAborted(signal?: AbortSignal) {
  if (signal?.aborted) throw reasonOf(signal);
}

/** Returns the reason of an aborted signal, or an error in React Native, whose signals have none. */
const reasonOf = (signal?: AbortSignal): unknown =>
  signal?.reason ?? Object.assign(new Error('Aborted.'), { name: 'AbortError' });

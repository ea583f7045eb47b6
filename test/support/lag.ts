import { monitorEventLoopDelay } from 'node:perf_hooks';

/**
 * Measures from now on what a busy machine adds to a deadline: ten times the longest that a timer of this process has come too
 * late, since a request waits for several processes in turn. Next to nothing on a quiet machine.
 * @returns seconds
 */
export function watchLag(): () => number {
  const delay = monitorEventLoopDelay();
  delay.enable();
  return () => (10 * delay.max) / 1e9;
}

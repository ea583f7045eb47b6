import type { AudioElement } from './attach-audio.ts';
import type { Progress } from './progress.ts';

/** Seconds of playback between two positions that are saved. */
const savedEverySec = 5;

/** Length of the beginning and of the end of a sound in seconds. A position there is removed instead of saved. */
const marginSec = 15;

/**
 * Creates a function that saves the position of an element, unless it loops. Its parameter is true if another position
 * follows soon.
 */
export function createReporter(element: AudioElement, id: string, progress: Pick<Progress, 'save'>) {
  let last: number | null = null;
  return (isPassing: boolean) => {
    const { currentTime, duration, loop } = element;
    if (loop || !element.hasAttribute('src')) return;
    // Keep the last position until the sound plays beyond its beginning.
    if (last === null && currentTime < marginSec) return;
    if (isPassing && last !== null && Math.abs(currentTime - last) < savedEverySec) return;
    last = currentTime;
    const canResume = currentTime >= marginSec && !(duration - currentTime <= marginSec);
    progress.save(id, canResume ? currentTime : null).catch(() => {});
  };
}

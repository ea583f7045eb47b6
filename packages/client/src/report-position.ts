import type { AudioElement } from './audio-element.ts';
import type { Progress } from './progress.ts';

/** Seconds of playback between two positions that are saved. */
const savedEverySec = 5;

/** Length of the beginning and of the end of a sound in seconds. A position there is removed instead of saved. */
const marginSec = 15;

/**
 * Creates an object that saves the position of an element, unless it loops. It saves nothing if the element has not
 * played since the last time, because the user may have listened on another device meanwhile.
 */
export function createReporter(element: AudioElement, id: string, progress: Pick<Progress, 'save'>) {
  let lastSec: number | null = null;
  let isPlaying = false;
  let hasPlayed = false;

  function report() {
    const { currentTime, duration, loop } = element;
    // The position of an element is 0 after its address has failed.
    if (!hasPlayed || loop || currentTime === 0 || !element.hasAttribute('src')) return;
    // Keep the last position until the sound plays beyond its beginning.
    if (lastSec === null && currentTime < marginSec) return;
    hasPlayed = false;
    lastSec = currentTime;
    const canResume = currentTime >= marginSec && !(duration - currentTime <= marginSec);
    progress.save(id, canResume ? currentTime : null).catch(() => {});
  }

  /** Saves the last position when playback stops. */
  function stop() {
    report();
    isPlaying = false;
  }

  return {
    report,
    stop,

    listeners: {
      playing() {
        isPlaying = true;
        hasPlayed = true;
      },
      timeupdate() {
        if (!isPlaying) return;
        hasPlayed = true;
        if (lastSec === null || Math.abs(element.currentTime - lastSec) >= savedEverySec) report();
      },
      pause: stop,
      waiting: stop,
      emptied() {
        isPlaying = false; // the element loads another address
      },
    },
  };
}

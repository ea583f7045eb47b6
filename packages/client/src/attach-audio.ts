import type { AudioElement } from './audio-element.ts';
import { createSource } from './audio-source.ts';
import { browser } from './browser.ts';
import type { Audio } from './catalogue.ts';
import type { Progress } from './progress.ts';
import { createReporter } from './report-position.ts';

interface AttachOptions {
  /** Called if there is no new address, or if the new one also fails. The next play tries again. */
  onFailure?: (() => void) | undefined;
  /** `progress` of the client, to save where the user is in a sound that plays and does not loop. */
  progress?: Pick<Progress, 'save' | 'flush'> | undefined;
}

/**
 * Attaches a sound to an audio element; start it by `element.play()`. Renews the address, which is valid for five
 * minutes, when it fails, and before a play or a seek after that time.
 * @returns a function that removes the sound from the element
 */
export function attachAudio(
  element: AudioElement,
  audio: Audio,
  { onFailure, progress }: AttachOptions = {},
): () => void {
  const reporter = progress && createReporter(element, audio.id, progress);
  const source = createSource(element, audio, () => {
    unload();
    onFailure?.();
  });
  const listeners = [source, reporter].flatMap((part) => Object.entries(part?.listeners ?? {}));

  /** Sends the last position when the page goes away. */
  function leave() {
    reporter?.report();
    progress?.flush({ keepalive: true }).catch(() => {});
  }

  function unload() {
    reporter?.stop();
    element.pause();
    element.removeAttribute('src');
    element.load();
  }

  browser.addEventListener?.('pagehide', leave);
  element.crossOrigin = 'anonymous'; // otherwise a browser hides the status of a failed address and retries it for 30 s
  for (const [type, listener] of listeners) element.addEventListener(type, listener);
  if (audio.url !== null) element.src = audio.url;
  return () => {
    source.end();
    browser.removeEventListener?.('pagehide', leave);
    for (const [type, listener] of listeners) element.removeEventListener(type, listener);
    unload();
  };
}

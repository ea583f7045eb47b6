import type { AudioElement } from './audio-element.ts';
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
  let current: Audio | null = audio;
  let isRenewing = false;
  /** True once the address has played. Otherwise it is not renewed, because a new address would fail, too. */
  let hasPlayed = false;
  /** Position at which playback continues with the next address. */
  let position = 0;

  async function renew() {
    if (isRenewing) return;
    isRenewing = true;
    position = element.currentTime || position;
    const next = await audio.renew().catch(() => null);
    isRenewing = false;
    if (isDetached) return;
    const isWanted = !element.paused;
    position = element.currentTime || position;
    current = next;
    hasPlayed = false;
    if (next?.url) {
      element.src = next.url;
      element.currentTime = position;
      if (isWanted) await element.play().catch(() => {}); // an event of the element reports the error
    } else giveUp();
  }

  function giveUp() {
    current = null; // the next play requests another one
    unload();
    onFailure?.();
  }

  function unload() {
    reporter?.stop();
    element.pause();
    element.removeAttribute('src');
    element.load();
  }

  const renewIfExpired = () => {
    if (current === null || Date.now() >= current.expiresAt.getTime()) void renew();
  };
  const listeners = {
    play: renewIfExpired,
    seeking: renewIfExpired,
    timeupdate: () => reporter?.pass(),
    pause: () => reporter?.stop(),
    waiting: () => reporter?.stop(),
    emptied: () => reporter?.interrupt(),
    playing: () => {
      hasPlayed = true;
      reporter?.start();
    },
    error: () => {
      if (!element.hasAttribute('src')) return;
      if (hasPlayed) void renew();
      else giveUp();
    },
  };

  /** Sends the last position when the page goes away. */
  function leave() {
    reporter?.report();
    progress?.flush({ keepalive: true }).catch(() => {});
  }

  let isDetached = false;
  browser.addEventListener?.('pagehide', leave);
  element.crossOrigin = 'anonymous'; // otherwise a browser hides the status of a failed address and retries it for 30 s
  for (const [type, listener] of Object.entries(listeners)) element.addEventListener(type, listener);
  if (audio.url !== null) element.src = audio.url;
  return () => {
    isDetached = true;
    browser.removeEventListener?.('pagehide', leave);
    for (const [type, listener] of Object.entries(listeners)) element.removeEventListener(type, listener);
    unload();
  };
}

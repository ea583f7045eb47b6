import type { Audio } from './catalogue.ts';

/** What is used of an HTMLAudioElement, so that the package has types where there is no DOM. */
export interface AudioElement {
  src: string;
  currentTime: number;
  readonly paused: boolean;
  crossOrigin: string | null;
  play(): Promise<void>;
  pause(): void;
  load(): void;
  hasAttribute(name: 'src'): boolean;
  removeAttribute(name: 'src'): void;
  addEventListener(type: string, listener: () => void): void;
  removeEventListener(type: string, listener: () => void): void;
}

/**
 * Plays a sound through an audio element for as long as the user likes: an address is valid for five minutes, and is renewed
 * before a play or a seek after that, and when it fails. It begins nothing by itself: call `element.play()`.
 * @param onFailure told when it cannot play on: no new address could be had, or the new one failed, too. The next play tries again
 * @returns what takes the sound out of the element
 */
export function attachAudio(
  element: AudioElement,
  audio: Audio,
  onFailure: () => void = () => {},
): () => void {
  let current: Audio | null = audio;
  let isRenewing = false;
  /** An address that has not played is not renewed when it fails: the next one would fail, too. */
  let hasPlayed = false;
  /** Where to go on when there is an address again. */
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
      if (isWanted) await element.play().catch(() => {}); // the element tells of it by an event
    } else giveUp();
  }

  function giveUp() {
    current = null; // the next play asks again
    unload();
    onFailure();
  }

  function unload() {
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
    playing: () => {
      hasPlayed = true;
    },
    error: () => {
      if (!element.hasAttribute('src')) return;
      if (hasPlayed) void renew();
      else giveUp();
    },
  };

  let isDetached = false;
  element.crossOrigin = 'anonymous'; // else a browser hides why an address fails, and tries it for half a minute
  for (const [type, listener] of Object.entries(listeners)) element.addEventListener(type, listener);
  if (audio.url !== null) element.src = audio.url;
  return () => {
    isDetached = true;
    for (const [type, listener] of Object.entries(listeners)) element.removeEventListener(type, listener);
    unload();
  };
}

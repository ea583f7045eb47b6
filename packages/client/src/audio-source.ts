import type { AudioElement } from './audio-element.ts';
import type { Audio } from './catalogue.ts';

/**
 * Renews the address of an element, which is valid for some minutes: when it has expired before a play or a seek, and
 * when it fails after it has played. Playback goes on at the same position.
 * @param onFailure called if there is no new address, or if it does not play either. The next play tries again
 */
export function createSource(element: AudioElement, audio: Audio, onFailure: () => void) {
  let current: Audio | null = audio;
  let isRenewing = false;
  let isEnded = false;
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
    if (isEnded) return;
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
    onFailure();
  }

  function renewIfExpired() {
    if (current === null || Date.now() >= current.expiresAt.getTime()) void renew();
  }

  return {
    listeners: {
      play: renewIfExpired,
      seeking: renewIfExpired,
      playing() {
        hasPlayed = true;
      },
      error() {
        if (!element.hasAttribute('src')) return;
        if (hasPlayed) void renew();
        else giveUp();
      },
    },

    /** Call it when the sound is removed from the element, so that no address follows. */
    end() {
      isEnded = true;
    },
  };
}

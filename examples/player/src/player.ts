import { attachAudio, SoundsError } from 'sounds-client';
import { api, type Preview } from './api.ts';
import { textOf, waitText } from './dom.ts';

/**
 * Transitions: idle → loading → playing ⇄ paused; loading and playing ⇄ stalled; any state except idle → failed. In
 * any state, a click on another sound leads to loading, and the end of the session to idle.
 */
export type State = 'idle' | 'loading' | 'playing' | 'paused' | 'stalled' | 'failed';

export const element = new window.Audio();

let state: State = 'idle';
let sound: Preview | null = null;
/** List that contains the sound, for the next and the previous one. */
let list: readonly Preview[] = [];
/** Reason for a failure or a wait, shown to the user. */
let reason = '';
let isCounted = false;
/** Position in seconds at which the sound starts next time. */
let startAt = 0;
let opening = new AbortController();
let detach = () => {};

export const now = () => ({ state, sound, reason, next: neighbour(1), previous: neighbour(-1) });

function enter(next: State, why = '') {
  state = next;
  reason = why;
  dispatchEvent(new Event('player'));
}

function neighbour(step: 1 | -1): Preview | undefined {
  const index = list.findIndex(({ id }) => id === sound?.id);
  return index < 0 ? undefined : list[index + step];
}

/** Plays a sound that was clicked in a list. Pauses it if it is playing. */
export function play(wanted: Preview, from: readonly Preview[] = [wanted]) {
  if (wanted.id !== sound?.id) return start(wanted, from);
  list = from;
  return state === 'loading' ? undefined : toggle();
}

/** Starts a sound. A newer call aborts an older one. */
async function start(wanted: Preview, from: readonly Preview[], position = 0) {
  release();
  [sound, list, isCounted, startAt] = [wanted, from, position > 0, 0];
  const { signal } = opening;
  enter('loading');
  try {
    const audio = await api.sounds.audio(wanted.id, { signal });
    signal.throwIfAborted();
    if (audio.url === null) return enter('failed', 'There is no audio of this sound.');
    detach = attachAudio(element, audio, () => enter('failed', 'This sound cannot be played now.'));
    if (position > 0) element.currentTime = position;
    await element.play();
  } catch (error) {
    if (signal.aborted || (error as Error).name === 'AbortError') return; // a newer click, or a pause
    if ((error as Error).name === 'NotAllowedError') return enter('paused'); // some browsers require another click
    enter('failed', error instanceof SoundsError ? textOf(error) : 'This sound cannot be played now.');
  }
}

export function pause() {
  if (element.src) element.pause();
  else release(); // the address has not been received yet
  if (sound && state !== 'failed') enter('paused');
}

export function resume() {
  if (state === 'paused' && element.src)
    element.play().catch(() => {}); // attachAudio reports the error
  else if (sound && (state === 'paused' || state === 'failed')) void start(sound, list, startAt);
}

export function toggle() {
  if (state === 'paused' || state === 'failed') resume();
  else pause();
}

export const position = () => (element.src ? element.currentTime : startAt);

export function seekTo(seconds: number) {
  if (element.src) element.currentTime = seconds;
  else startAt = Math.max(0, seconds);
  dispatchEvent(new Event('player'));
}

export function skip(step: 1 | -1) {
  const other = neighbour(step);
  if (other) void start(other, list);
}

function release() {
  opening.abort();
  opening = new AbortController();
  detach();
  detach = () => {};
}

export function stop() {
  release();
  sound = null;
  localStorage.removeItem('player');
  enter('idle');
}

/** Pauses the other tabs when this one plays. */
const channel = new BroadcastChannel('player');
channel.onmessage = pause;

element.onplay = () => state === 'paused' && enter('loading');
element.onplaying = () => {
  enter('playing');
  channel.postMessage('playing');
  if (!isCounted && sound) void api.plays.record(sound.id);
  isCounted = true;
};
element.onpause = () => (state === 'playing' || state === 'stalled') && enter('paused');
element.onwaiting = element.onerror = () => state === 'playing' && enter('stalled');
element.onended = () => skip(1);
addEventListener('wait', ({ detail }) => {
  if (state === 'loading' || state === 'stalled') enter('stalled', waitText(detail));
});

// Store the sound, its list and the position, so that they survive a reload.
addEventListener('pagehide', () => {
  if (sound) localStorage.setItem('player', JSON.stringify([sound, list.slice(0, 100), position()]));
});

export function restore() {
  const kept = localStorage.getItem('player');
  if (kept === null) return;
  [sound, list, startAt] = JSON.parse(kept);
  enter('paused');
}

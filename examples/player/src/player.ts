import { attachAudio, type CopiedSound, type SoundDetail, SoundsError } from 'sounds-client';
import { api, isLocked, type Preview, positions, savePosition } from './api.ts';
import { textOf, waitText } from './dom.ts';

/**
 * Transitions: idle → loading → playing ⇄ paused; loading and playing ⇄ stalled; any state except idle → failed. In
 * any state, a click on another sound leads to loading, and the end of the session to idle.
 */
export type State = 'idle' | 'loading' | 'playing' | 'paused' | 'stalled' | 'failed';

export const element = new window.Audio();

let state: State = 'idle';
let sound: Preview | null = null;
/** The sound with its loudness and its waveform, which lists do not contain. */
let measured: SoundDetail | CopiedSound | null = null;
/** List that contains the sound, for the next and the previous one. */
let list: readonly Preview[] = [];
/** Reason for a failure or a wait, shown to the user. */
let reason = '';
let isCounted = false;
/** Position in seconds at which the sound starts next time. */
let startAt = 0;
let opening = new AbortController();
let detach = () => {};

export const now = () => ({ state, sound, measured, reason, next: neighbour(1), previous: neighbour(-1) });

function enter(next: State, why = '') {
  state = next;
  reason = why;
  dispatchEvent(new Event('player'));
}

function neighbour(step: 1 | -1): Preview | undefined {
  const open = list.filter((each) => each.id === sound?.id || !isLocked(each));
  const index = open.findIndex(({ id }) => id === sound?.id);
  return index < 0 ? undefined : open[index + step];
}

/** Plays a sound that was clicked in a list. Pauses it if it is playing. Tells about premium if it is locked. */
export function play(wanted: Preview, from: readonly Preview[] = [wanted]) {
  if (isLocked(wanted)) return location.assign('#/premium');
  if (wanted.id !== sound?.id) return start(wanted, from);
  list = from;
  return state === 'loading' ? undefined : toggle();
}

/** Gets loudness and waveform from the copy of the catalogue, or without a copy from the service. */
async function measure({ id }: Preview) {
  measured = null;
  const found = (await api.offline.get(id)) ?? (await api.sounds.get(id).catch(() => null));
  if (id !== sound?.id) return;
  measured = found;
  dispatchEvent(new Event('player'));
}

/** Starts a sound, by default where the user stopped. A newer call aborts an older one. */
async function start(wanted: Preview, from: readonly Preview[], again = 0) {
  release();
  const position = again || (positions.get(wanted.id) ?? 0);
  [sound, list, isCounted, startAt] = [wanted, from, again > 0, position];
  const measuring = measure(wanted);
  const { signal } = opening;
  enter('loading');
  try {
    const audio = await api.sounds.audio(wanted.id, { signal });
    signal.throwIfAborted();
    if (audio.url === null) return enter('failed', 'There is no audio of this sound.');
    await measuring;
    signal.throwIfAborted();
    const onFailure = () => enter('failed', 'This sound cannot be played now.');
    detach = attachAudio(element, audio, { onFailure, progress: { save: savePosition } });
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
  if (sound) void measure(sound);
}

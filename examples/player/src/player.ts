import { attachAudio, type CopiedSound, type SoundDetail, SoundsError } from 'sounds-client';
import { api, type Preview } from './api.ts';
import { canResume, catchUp, positions, savePosition, sendPositions } from './positions.ts';
import { isLocked } from './premium.ts';
import { textOf, waitText } from './texts.ts';

/**
 * Transitions: idle → loading → playing ⇄ paused; loading and playing ⇄ stalled; any state except idle → failed. In
 * any state, a click on another sound leads to loading, and the end of the session to idle.
 */
export type State = 'idle' | 'loading' | 'playing' | 'paused' | 'stalled' | 'failed';

/** Time for which positions of other devices count as known, so that skipping through sounds takes few requests. */
const skippingMs = 3_000;

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
/** Newest position of all devices that this player has saved or followed; 0 if there is none. */
let newest = 0;
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

/** Starts a sound where the user stopped. A newer call aborts an older one. */
async function start(wanted: Preview, from: readonly Preview[]) {
  release();
  newest = positions.get(wanted.id) ?? 0;
  [sound, list, isCounted, startAt] = [wanted, from, false, newest];
  await open(wanted);
}

/** Plays the sound at `startAt`, or at the position that another device has saved meanwhile. */
async function open(wanted: Preview) {
  release();
  const measuring = measure(wanted);
  const { signal } = opening;
  enter('loading');
  try {
    const [audio] = await Promise.all([api.sounds.audio(wanted.id, { signal }), catchUp(skippingMs)]);
    signal.throwIfAborted();
    if (audio.url === null) return enter('failed', 'There is no audio of this sound.');
    await measuring;
    signal.throwIfAborted();
    const onFailure = () => {
      startAt = newest || startAt;
      enter('failed', 'This sound cannot be played now.');
    };
    detach = attachAudio(element, audio, { onFailure, progress: { ...api.progress, save: saver() } });
    if (startAt > 0) element.currentTime = startAt;
    await element.play();
  } catch (error) {
    if (signal.aborted || (error as Error).name === 'AbortError') return; // a newer click, or a pause
    if ((error as Error).name === 'NotAllowedError') return enter('paused'); // some browsers require another click
    enter('failed', error instanceof SoundsError ? textOf(error) : 'This sound cannot be played now.');
  }
}

/** User for whom positions of the sound are saved. */
let listener = api.session.user();

/** Lets the sound of a guest play on when the person has signed up or in. */
export function handOver() {
  listener = api.session.user();
}

/** Returns a function that saves positions, unless another user has signed in meanwhile. */
function saver() {
  listener = api.session.user();
  return async (id: string, seconds: number | null) => {
    if (api.session.user()?.id !== listener?.id) return;
    newest = seconds ?? 0;
    await savePosition(id, seconds);
  };
}

/** Moves to the newest position if the user has listened on another device, unless the sound plays. */
function follow() {
  const position = positions.get(sound?.id ?? '') ?? 0;
  const isSame = Math.abs(position - newest) < 1; // the service rounds positions
  if (sound === null || isSame || !element.paused) return;
  newest = position;
  moveTo(position);
}
addEventListener('positions', follow);

export function pause() {
  if (element.src) {
    abort();
    element.pause();
  } else release(); // the address has not been received yet
  if (sound && state !== 'failed') enter('paused');
}

export async function resume() {
  if (sound === null || (state !== 'paused' && state !== 'failed')) return;
  if (!element.src) return open(sound);
  abort();
  const { signal } = opening;
  enter('loading');
  await catchUp();
  if (signal.aborted) return;
  await element.play().catch(({ name }: Error) => {
    if (name === 'NotAllowedError') enter('paused'); // attachAudio reports other errors
  });
}

export function toggle() {
  if (state === 'paused' || state === 'failed') void resume();
  else pause();
}

export const position = () => (element.src ? element.currentTime : startAt);

/** Moves to a position that the user has chosen. */
export function seekTo(seconds: number) {
  moveTo(seconds);
  // While the sound plays, attachAudio saves it.
  if (sound && element.paused && canResume(seconds, sound.duration_sec))
    saver()(sound.id, seconds).then(sendPositions, () => {});
}

function moveTo(seconds: number) {
  if (element.src) element.currentTime = seconds;
  else startAt = Math.max(0, seconds);
  dispatchEvent(new Event('player'));
}

export function skip(step: 1 | -1) {
  const other = neighbour(step);
  if (other) void start(other, list);
}

/** Cancels requests that were made to open a sound. */
function abort() {
  opening.abort();
  opening = new AbortController();
}

function release() {
  abort();
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
export const channel = new BroadcastChannel('player');
channel.onmessage = pause;

element.onplay = () => state === 'paused' && enter('loading');
element.onplaying = () => {
  enter('playing');
  channel.postMessage('playing');
  if (!isCounted && sound) void api.plays.record(sound.id);
  isCounted = true;
};
element.onpause = () => {
  if (state === 'playing' || state === 'stalled') enter('paused');
  setTimeout(sendPositions); // after attachAudio has saved the last one
};
element.onwaiting = element.onerror = () => state === 'playing' && enter('stalled');
element.onended = () => skip(1);
addEventListener('wait', ({ detail }) => {
  if (state === 'loading' || state === 'stalled') enter('stalled', waitText(detail));
});

// Store the sound, its list and the position, so that they survive a reload.
addEventListener('pagehide', () => {
  if (sound) localStorage.setItem('player', JSON.stringify([sound, list.slice(0, 100), position(), newest]));
});

export function restore() {
  const kept = localStorage.getItem('player');
  if (kept === null) return;
  [sound, list, startAt, newest = 0] = JSON.parse(kept);
  isCounted = startAt > 0;
  enter('paused');
  follow();
  if (sound) void measure(sound);
}

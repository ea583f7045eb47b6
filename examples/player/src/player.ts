import { attachAudio, SoundsError } from 'sounds-client';
import { textOf } from './dom.ts';
import { api, type Preview } from './sounds.ts';

/**
 * idle → loading → playing ⇄ paused, loading and playing ⇄ stalled, and failed from anywhere but idle. A click on another sound
 * leads from each of them to loading, the end of the session to idle.
 */
export type State = 'idle' | 'loading' | 'playing' | 'paused' | 'stalled' | 'failed';

export const element = new window.Audio();

let state: State = 'idle';
let sound: Preview | null = null;
/** What the sound was chosen from: the next and the previous one are there. */
let list: readonly Preview[] = [];
let failure = '';
let isCounted = false;
let opening = new AbortController();
let detach = () => {};

export const now = () => ({ state, sound, failure, next: neighbour(1), previous: neighbour(-1) });

function enter(next: State, why = '') {
  state = next;
  failure = why;
  dispatchEvent(new Event('player'));
}

function neighbour(step: 1 | -1): Preview | undefined {
  const index = list.findIndex(({ id }) => id === sound?.id);
  return index < 0 ? undefined : list[index + step];
}

/** Plays a sound that was clicked in a list. One that plays is paused, one that is loading goes on. */
export function play(wanted: Preview, from: readonly Preview[] = [wanted]) {
  if (wanted.id !== sound?.id) return start(wanted, from);
  list = from;
  return state === 'loading' ? undefined : toggle();
}

/** Plays from the beginning. The newest call wins. */
async function start(wanted: Preview, from: readonly Preview[]) {
  release();
  [sound, list] = [wanted, from];
  isCounted = false;
  const { signal } = opening;
  enter('loading');
  try {
    const audio = await api.sounds.audio(wanted.id, { signal });
    signal.throwIfAborted();
    if (audio.url === null) return enter('failed', 'There is no audio of this sound.');
    detach = attachAudio(element, audio, () => enter('failed', 'This sound cannot be played now.'));
    await element.play();
  } catch (error) {
    if (signal.aborted || (error as Error).name === 'AbortError') return; // by a newer click, or paused
    if ((error as Error).name === 'NotAllowedError') return enter('paused'); // some browsers want another click
    enter('failed', error instanceof SoundsError ? textOf(error) : 'This sound cannot be played now.');
  }
}

export function pause() {
  if (element.src) element.pause();
  else release(); // its address is still being asked for
  if (sound && state !== 'failed') enter('paused');
}

export function resume() {
  if (state === 'paused' && element.src)
    element.play().catch(() => {}); // attachAudio tells
  else if (sound && (state === 'paused' || state === 'failed')) void start(sound, list);
}

export function toggle() {
  if (state === 'paused' || state === 'failed') resume();
  else pause();
}

export function seekTo(seconds: number) {
  element.currentTime = seconds;
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
  enter('idle');
}

/** Only one tab plays. */
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
addEventListener('wait', () => state === 'loading' && enter('stalled'));

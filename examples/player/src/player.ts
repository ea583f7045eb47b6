import { attachAudio, SoundsError } from 'sounds-client';
import { textOf } from './dom.ts';
import { emit, type Preview, sounds } from './sounds.ts';

/**
 * idle → loading → playing ⇄ paused, playing ⇄ stalled, and failed from anywhere but idle; a click on another sound leads from
 * each of them to loading.
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

function enter(next: State) {
  state = next;
  emit('player');
}

function fail(text: string) {
  failure = text;
  enter('failed');
}

function neighbour(step: 1 | -1): Preview | undefined {
  const index = list.findIndex(({ id }) => id === sound?.id);
  return index < 0 ? undefined : list[index + step];
}

/** Plays a sound. The newest click wins; one on the sound that plays pauses it. */
export async function play(wanted: Preview, from: readonly Preview[] = [wanted]) {
  if (wanted.id === sound?.id && state !== 'failed') {
    list = from;
    return state === 'loading' ? undefined : toggle();
  }
  release();
  [sound, list] = [wanted, from];
  isCounted = false;
  const { signal } = opening;
  enter('loading');
  try {
    const audio = await sounds.sounds.audio(wanted.id, { signal });
    if (audio.url === null) return fail('There is no audio of this sound.');
    detach = attachAudio(element, audio, () => fail('This sound cannot be played now.'));
    await element.play();
  } catch (error) {
    if (signal.aborted) return; // by a newer click
    if (error instanceof SoundsError) fail(textOf(error));
    else if ((error as Error).name === 'NotAllowedError')
      enter('paused'); // some browsers want another click
    else if ((error as Error).name === 'NotSupportedError') fail('This sound cannot be played now.');
  }
}

export function toggle() {
  if (state === 'failed' && sound) void play(sound, list);
  else if (state === 'loading') stop();
  else if (state === 'paused') void element.play();
  else element.pause();
}

export function seekTo(seconds: number) {
  element.currentTime = seconds;
}

export function skip(step: 1 | -1) {
  const other = neighbour(step);
  if (other) void play(other, list);
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
channel.onmessage = () => element.pause();

element.onplaying = () => {
  enter('playing');
  channel.postMessage('playing');
  if (!isCounted && sound) void sounds.plays.record(sound.id);
  isCounted = true;
};
element.onpause = () => (state === 'playing' || state === 'stalled') && enter('paused');
element.onwaiting = () => state === 'playing' && enter('stalled');
element.onended = () => skip(1);

let timer: number | undefined;

/** Pauses after so many minutes; 0 does not. */
export function setSleepTimer(minutes: number) {
  clearTimeout(timer);
  if (minutes > 0) timer = window.setTimeout(() => element.pause(), minutes * 60_000);
}

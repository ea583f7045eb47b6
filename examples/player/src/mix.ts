import { attachAudio, gainOf } from 'sounds-client';
import type { SavedList } from 'sounds-client/lists';
import { api } from './api.ts';
import { button, el, find, icon } from './dom.ts';
import * as player from './player.ts';
import { isLocked } from './premium.ts';
import { sleepTimer } from './sleep.ts';

// Plays all sounds of a mix at once, each in a loop, and shows the mix in a bar. A single sound that plays ends the mix.

/** A sound of the mix that plays. */
interface Voice {
  element: HTMLAudioElement;
  /** Factor for the loudness of the recording. */
  gain: number;
  detach: () => void;
}

let mix: SavedList | null = null;
let isPlaying = false;

export const nowMix = () => ({ mix, isPlaying });

const voices = new Map<string, Voice>();

/** Returns the sounds of a list that the user may hear. */
export const openItems = ({ items }: SavedList) => items.filter(({ sounds }) => sounds && !isLocked(sounds));

/** Sets the volume of a sound while the mix plays. A volume of null is the full one. */
export function setVolume(id: string, volume: number | null) {
  const voice = voices.get(id);
  if (voice) voice.element.volume = Math.min(1, (volume ?? 1) * voice.gain);
}

/** Adds a sound to the mix. A sound that cannot be played is left out. */
async function addVoice(id: string, volume: number | null, from: SavedList) {
  const [audio, copied] = await Promise.all([api.sounds.audio(id), api.offline.get(id)]);
  if (mix !== from || audio.url === null) return; // stopped meanwhile
  const element = new window.Audio();
  element.loop = true;
  element.addEventListener('playing', () => void api.plays.record(id), { once: true });
  const detach = attachAudio(element, audio, { onFailure: () => voices.delete(id) });
  voices.set(id, { element, gain: copied ? gainOf(copied) : 1, detach });
  setVolume(id, volume);
  if (isPlaying) await element.play(); // otherwise paused meanwhile
}

export async function startMix(list: SavedList) {
  stopMix();
  player.pause();
  mix = list;
  show(true);
  player.channel.postMessage('playing');
  await Promise.allSettled(openItems(list).map(({ sound_id, volume }) => addVoice(sound_id, volume, list)));
  if (mix === list && voices.size === 0) status.textContent = 'This mix cannot be played now.';
}

export function pauseMix() {
  for (const { element } of voices.values()) element.pause();
  show(false);
}

export async function resumeMix() {
  player.pause();
  show(true);
  player.channel.postMessage('playing');
  await Promise.allSettled([...voices.values()].map(({ element }) => element.play()));
}

export function stopMix() {
  pauseMix();
  for (const { detach } of voices.values()) detach();
  voices.clear();
  mix = null;
  show(false);
}

const bar = find('#mix');
const title = el('a', { dir: 'auto' });
const status = el('span', { role: 'status' });
export const toggleMix = () => (isPlaying ? pauseMix() : resumeMix());
const toggle = button(icon('pause'), toggleMix, { className: 'primary' });
const end = button(icon('close'), stopMix, { ariaLabel: 'Stop the mix' });
bar.append(el('div', { className: 'track' }, title, status), toggle, sleepTimer(pauseMix, 'End the mix after'), end);

function show(plays: boolean) {
  isPlaying = plays;
  bar.hidden = mix === null;
  if (mix) Object.assign(title, { textContent: mix.name, href: `#/list/${mix.id}` });
  status.textContent = '';
  toggle.ariaLabel = isPlaying ? 'Pause the mix' : 'Play the mix';
  toggle.replaceChildren(icon(isPlaying ? 'pause' : 'play'));
  dispatchEvent(new Event('mix'));
}

player.channel.addEventListener('message', pauseMix);
addEventListener('player', () => {
  if (mix !== null && player.now().state === 'playing') stopMix();
});

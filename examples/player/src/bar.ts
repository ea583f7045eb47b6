import type { Preview } from './api.ts';
import { restored } from './copy.ts';
import { picture, showCover } from './covers.ts';
import { button, el, find, icon } from './dom.ts';
import { heart, heartOf } from './hearts.ts';
import { nowMix, toggleMix } from './mix.ts';
import * as player from './player.ts';
import { pageOf } from './rows.ts';
import { sleepTimer } from './sleep.ts';
import { clock } from './texts.ts';
import { evenness, volume } from './volume.ts';
import { waveform } from './waveform.ts';

// Shows the current sound at the bottom of every screen, or `open` on the whole screen. Its elements never change.

const bar = find('#bar');
const cover = picture();
const title = el('strong', { dir: 'auto' });
const state = el('span', { role: 'status' });
const time = el('time');
const seek = el('input', { type: 'range', value: '0', ariaLabel: 'Position' });
const wave = el('div', { className: 'wave more', dir: 'ltr' }, seek);
const favorite = heart({ id: '', title: '' } as Preview);
const middle = button(icon('play'), player.toggle, { ariaLabel: 'Play', className: 'primary middle' });
const previous = button(icon('previous'), () => player.skip(-1), { ariaLabel: 'Previous' });
const next = button(icon('next'), () => player.skip(1), { ariaLabel: 'Next' });
const about = el('a', { className: 'icon', ariaLabel: 'About this sound' }, icon('about'));

const repeat = () => {
  player.element.loop = !player.element.loop;
  loop.ariaPressed = String(player.element.loop);
};
const loop = button(icon('repeat'), repeat, { ariaLabel: 'Repeat', ariaPressed: 'false' });

const sleep = sleepTimer(player.pause, 'Sleep timer');

const expand = button(cover, () => setOpen(true), { className: 'expand', ariaLabel: 'Now playing' });
const shrink = button(icon('close'), () => setOpen(false), { className: 'shrink', ariaLabel: 'Close' });

/** Shows the player on the whole screen or as a bar. */
function setOpen(isOpen: boolean) {
  if (bar.classList.contains('open') === isOpen) return;
  bar.classList.toggle('open', isOpen);
  for (const name of ['header', 'main']) find(name).inert = isOpen;
  (isOpen ? shrink : expand).focus();
}
addEventListener('hashchange', () => setOpen(false));

const track = el('div', { className: 'track' }, title, el('span', {}, time, ' ', state));
const controls = el('div', { className: 'controls' }, previous, middle, next, loop);
const extras = el('div', { className: 'controls more' }, sleep, evenness, volume, about);
bar.append(shrink, expand, track, favorite, controls, wave, extras);
title.onclick = () => setOpen(true);

const labels: { [name in player.State]?: string } = { idle: 'Play', paused: 'Play', failed: 'Try again' };

addEventListener('player', () => {
  const { state: current, sound, measured, reason, ...neighbours } = player.now();
  bar.hidden = sound === null;
  if (sound === null) setOpen(false);
  const wait = navigator.onLine ? 'Loading …' : 'Waiting for the network …';
  state.textContent = reason || (['loading', 'stalled'].includes(current) ? wait : '');
  middle.ariaLabel = labels[current] ?? 'Pause';
  middle.replaceChildren(icon(current === 'failed' ? 'retry' : labels[current] ? 'play' : 'pause'));
  previous.ariaDisabled = neighbours.previous ? null : 'true';
  next.ariaDisabled = neighbours.next ? null : 'true';
  for (const item of document.querySelectorAll<HTMLButtonElement>('.listen'))
    item.ariaCurrent = item.value === sound?.id ? 'true' : null;
  wave.style.setProperty('--wave', waveform(measured?.waveform));
  showTime();
  if (sound === null || favorite.value === sound.id) return;
  Object.assign(favorite, heartOf(sound));
  title.textContent = sound.title;
  showCover(cover, sound);
  about.href = pageOf(sound.id);
});

function showTime() {
  const length = player.element.duration || player.now().sound?.duration_sec || 0; // NaN until the file has loaded
  seek.max = String(length);
  seek.value = String(player.position());
  time.textContent = `${clock(player.position())}\u00a0/\u00a0${clock(length)}`;
  wave.style.setProperty('--played', `${(100 * player.position()) / (length || 1)}%`);
}
player.element.ontimeupdate = player.element.ondurationchange = showTime;

/** Updates the text for screen readers. Not called during playback, because they read each change aloud. */
const tellTime = () => seek.setAttribute('aria-valuetext', time.textContent);
seek.onfocus = tellTime;
seek.oninput = () => {
  player.seekTo(Number(seek.value));
  tellTime();
};

addEventListener('keydown', (event) => {
  const { key, altKey, ctrlKey, metaKey, repeat, target } = event;
  const isOn = (controls: string) => (target as Element).closest(controls) !== null;
  if (key === 'Escape') setOpen(false);
  if (player.now().sound === null || altKey || ctrlKey || metaKey || isOn('input, select')) return;
  if (key === 'ArrowLeft') player.seekTo(player.position() - 10);
  else if (key === 'ArrowRight') player.seekTo(player.position() + 10);
  else if (key !== ' ' || isOn('button, a')) return;
  else if (!repeat) void (nowMix().mix ? toggleMix() : player.toggle()); // a key that is held repeats
  event.preventDefault();
});

void restored.finally(player.restore);

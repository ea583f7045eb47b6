import { button, el, find } from './dom.ts';
import { clock, cover, heart } from './parts.ts';
import { element, now, type State, seekTo, setSleepTimer, skip, toggle } from './player.ts';
import { on } from './sounds.ts';

// What plays: shown at the bottom of every screen, and reached by the keyboard before the lists.

const bar = find('#bar');
const about = el('div', { className: 'track' });
const state = el('span', { role: 'status' });
const time = el('time');
const seek = el('input', { type: 'range', value: '0', ariaLabel: 'Position' });
const middle = button('Play', toggle, { className: 'play' });
const previous = button('«', () => skip(-1), { ariaLabel: 'Previous' });
const next = button('»', () => skip(1), { ariaLabel: 'Next' });

const loop = button('↻', () => {
  element.loop = !element.loop;
  loop.ariaPressed = String(element.loop);
});
Object.assign(loop, { ariaLabel: 'Repeat', ariaPressed: 'false' });

const lengths = [0, 5, 15, 30, 60].map((minutes) =>
  el('option', { value: String(minutes) }, minutes === 0 ? 'No timer' : `${minutes} min`),
);
const sleep = el('select', { ariaLabel: 'Sleep timer' }, ...lengths);
sleep.onchange = () => setSleepTimer(Number(sleep.value));

const volume = el('input', { type: 'range', max: '1', step: '0.05', value: '1', ariaLabel: 'Volume' });
volume.oninput = () => {
  element.volume = Number(volume.value);
};
element.volume = 0.5; // iOS leaves that to its own buttons
volume.hidden = element.volume !== 0.5;
element.volume = 1;

const words: { [name in State]?: string } = { loading: 'Loading …', stalled: 'Waiting for the network …' };
const labels: { [name in State]?: string } = {
  playing: 'Pause',
  stalled: 'Pause',
  loading: 'Pause',
  failed: 'Try again',
};
let shown: string | undefined;

on('player', () => {
  const player = now();
  bar.hidden = player.sound === null;
  state.textContent = player.state === 'failed' ? player.failure : (words[player.state] ?? '');
  middle.textContent = labels[player.state] ?? 'Play';
  previous.disabled = player.previous === undefined;
  next.disabled = player.next === undefined;
  for (const item of document.querySelectorAll<HTMLButtonElement>('.listen'))
    item.ariaCurrent = item.value === player.sound?.id ? 'true' : null;
  if (player.sound === null || player.sound.id === shown) return;
  shown = player.sound.id;
  about.replaceChildren(el('strong', {}, player.sound.title), state, seek);
  const controls = el('div', { className: 'controls' }, previous, middle, next, loop, sleep, volume, time);
  bar.replaceChildren(cover(player.sound), about, heart(player.sound), controls);
});

element.ontimeupdate = element.ondurationchange = () => {
  const length = Number.isFinite(element.duration) ? element.duration : 0;
  seek.max = String(length);
  seek.value = String(element.currentTime);
  time.textContent = `${clock(element.currentTime)} / ${clock(length)}`;
  seek.setAttribute('aria-valuetext', time.textContent);
};

seek.oninput = () => seekTo(Number(seek.value));

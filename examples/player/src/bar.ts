import { button, el, find } from './dom.ts';
import { clock, coverOf, heart, heartOf } from './parts.ts';
import { element, now, pause, type State, seekTo, skip, toggle } from './player.ts';
import type { Preview } from './sounds.ts';

// What plays: at the bottom of every screen, and reached by the keyboard before the lists. Its parts stay, and so does the focus.

const bar = find('#bar');
const cover = el('img', { alt: '' });
const title = el('strong');
const state = el('span', { role: 'status' });
const time = el('time');
const seek = el('input', { type: 'range', value: '0', ariaLabel: 'Position' });
const favorite = heart({ id: '', title: '' } as Preview);
const middle = button('Play', toggle);
middle.style.width = '6.5rem'; // whatever it says
const previous = button('«', () => skip(-1), { ariaLabel: 'Previous' });
const next = button('»', () => skip(1), { ariaLabel: 'Next' });

const repeat = () => {
  element.loop = !element.loop;
  loop.ariaPressed = String(element.loop);
};
const loop = button('↻', repeat, { ariaLabel: 'Repeat', ariaPressed: 'false' });

const lengths = [5, 15, 30, 60].map((minutes) => new Option(`${minutes} min`, `${minutes}`));
const sleep = el('select', { ariaLabel: 'Sleep timer' }, new Option('No timer', '0'), ...lengths);
let timer = 0;
sleep.onchange = () => {
  clearTimeout(timer);
  const end = () => {
    sleep.value = '0';
    pause();
  };
  if (sleep.value !== '0') timer = window.setTimeout(end, Number(sleep.value) * 60_000);
};

const volume = el('input', { type: 'range', max: '1', step: '0.05', value: '1', ariaLabel: 'Volume' });
volume.oninput = () => {
  element.volume = Number(volume.value);
};
element.volume = 0.5; // iOS leaves that to its own buttons
volume.hidden = element.volume !== 0.5;
element.volume = 1;

const controls = el('div', { className: 'controls' }, previous, middle, next, loop, sleep, volume);
const track = el('div', { className: 'track' }, el('span', {}, title, ' ', time), state, seek);
bar.append(cover, track, favorite, controls);

const words: { [name in State]?: string } = { loading: 'Loading …', stalled: 'Waiting for the network …' };
const labels: { [name in State]?: string } = { idle: 'Play', paused: 'Play', failed: 'Try again' };

addEventListener('player', () => {
  const { state: current, sound, failure, ...neighbours } = now();
  bar.hidden = sound === null;
  state.textContent = failure || (words[current] ?? '');
  middle.textContent = labels[current] ?? 'Pause';
  previous.ariaDisabled = neighbours.previous ? null : 'true';
  next.ariaDisabled = neighbours.next ? null : 'true';
  for (const item of document.querySelectorAll<HTMLButtonElement>('.listen'))
    item.ariaCurrent = item.value === sound?.id ? 'true' : null;
  if (sound === null || favorite.value === sound.id) return;
  Object.assign(favorite, heartOf(sound));
  title.textContent = sound.title;
  cover.src = coverOf(sound);
});

element.ontimeupdate = element.ondurationchange = () => {
  const length = element.duration || now().sound?.duration_sec || 0; // not a number until the file tells
  seek.max = String(length);
  seek.value = String(element.currentTime);
  time.textContent = `${clock(element.currentTime)}\u00a0/\u00a0${clock(length)}`;
  seek.setAttribute('aria-valuetext', time.textContent);
};

seek.oninput = () => seekTo(Number(seek.value));

import type { Audio } from 'sounds-client';
import { attempt, button, el, find, notify } from './dom.ts';
import { clock, cover, heart } from './parts.ts';
import { type Preview, sounds } from './sounds.ts';

const audio = new window.Audio();
const bar = find('footer');
const time = el('time');
const seek = el('input', { type: 'range', value: '0', ariaLabel: 'Position' });
const toggle = button('Play', () => (audio.paused ? audio.play() : audio.pause()), { className: 'play' });

let address: Audio | undefined;
/** An address that fails is replaced; where the new one fails before it played, that is the end. */
let mayRenew = false;

export async function play(sound: Preview) {
  const track = el('div', { className: 'track' }, el('strong', {}, sound.title), seek);
  bar.replaceChildren(toggle, cover(sound), track, time, heart(sound));
  bar.hidden = false;
  address = await sounds.sounds.audio(sound.id);
  if (address.url === null) return notify(`There is no audio of ${sound.title}.`);
  await start(address.url, 0);
  await sounds.plays.record(sound.id);
}

export function stop() {
  audio.pause();
  bar.hidden = true;
}

async function start(url: string, position: number) {
  audio.src = url;
  audio.currentTime = position;
  await audio.play();
}

// As when the listener goes on, or seeks, after five minutes: the same sound at the same position, from a new address.
audio.onerror = () => {
  const [old, position] = [address, audio.currentTime];
  if (!mayRenew || !old) return notify('This sound cannot be played.');
  mayRenew = false;
  void attempt(async () => {
    address = await old.renew();
    if (address.url !== null) await start(address.url, position);
  });
};

audio.onplaying = audio.onpause = () => {
  mayRenew ||= !audio.paused;
  toggle.textContent = audio.paused ? 'Play' : 'Pause';
};

audio.ontimeupdate = audio.ondurationchange = () => {
  const length = audio.duration || 0;
  seek.max = String(length);
  seek.value = String(audio.currentTime);
  time.textContent = `${clock(audio.currentTime)} / ${clock(length)}`;
  seek.ariaValueText = time.textContent;
};

seek.oninput = () => {
  audio.currentTime = Number(seek.value);
};

import { gainOf } from 'sounds-client';
import { button, el, icon } from './dom.ts';
import { element, now } from './player.ts';

// Slider for the volume, and a switch that makes all sounds equally loud. Both are hidden on iOS, which does not let
// pages set the volume and stops Web Audio in the background.
element.volume = 0.5;
const isFixed = element.volume !== 0.5;

export const volume = el('input', { type: 'range', max: '1', step: '0.05', ariaLabel: 'Volume', hidden: isFixed });
volume.value = localStorage.getItem('volume') ?? '1';
element.volume = Number(volume.value);
volume.oninput = () => {
  element.volume = Number(volume.value);
  localStorage.setItem('volume', volume.value);
};

const change = () => {
  evenness.ariaPressed = String(evenness.ariaPressed === 'false');
  localStorage.setItem('evenness', evenness.ariaPressed);
  apply();
};
const ariaPressed = localStorage.getItem('evenness') ?? 'true';
const label = 'Even loudness';
export const evenness = button(icon('even'), change, { ariaLabel: label, title: label, ariaPressed, hidden: isFixed });

let gain: GainNode | undefined;

/** Amplifies by Web Audio, because the volume of an element is at most 1. */
function amplifier(): GainNode {
  const context = new AudioContext();
  const node = context.createGain();
  context.createMediaElementSource(element).connect(node).connect(context.destination);
  element.addEventListener('play', () => void context.resume());
  return node;
}

function apply() {
  const { state, measured } = now();
  // Browsers do not start Web Audio before a click.
  if (isFixed || measured === null || !['loading', 'playing'].includes(state)) return;
  gain ??= amplifier();
  gain.gain.value = evenness.ariaPressed === 'true' ? gainOf(measured) : 1;
}
addEventListener('player', apply);

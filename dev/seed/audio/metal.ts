import { between, chances, type Random } from '../random.ts';
import { type Mode, strike } from './modes.ts';
import { noteHz } from './note.ts';
import { room } from './room.ts';
import { type Samples, silence } from './signal.ts';

/** A large gong: dozens of partials in no harmonic order; the high ones bloom late, as a gong's do. */
export function gong(
  sec: number,
  random: Random,
  { hz, strikesSec }: { hz: number; strikesSec: number[] },
): Samples[] {
  const out = silence(sec);
  const modes: Mode[] = [{ ratio: 1, level: 1, ringSec: 30, attackSec: 0.06 }];
  for (let ratio = 1.45; ratio < 24; ratio += between(random, 0.25, 0.3 + ratio * 0.05)) {
    const level = between(random, 0.35, 1) * 0.8 * ratio ** -0.75;
    modes.push({
      ratio,
      level,
      ringSec: 30 / (1 + ratio / 4),
      attackSec: 0.04 + Math.min(1.1, ratio * 0.06),
    });
  }
  for (const atSec of strikesSec) strike(out, { atSec, hz, level: 1, modes });
  return [room(out, { ringSec: 2.5, wet: 0.25 })];
}

/** A metal tube hung near its node: the bending modes of a bar with free ends. */
const TUBE: Mode[] = [
  { ratio: 1, level: 1, ringSec: 7 },
  { ratio: 2.756, level: 0.5, ringSec: 3.2 },
  { ratio: 5.404, level: 0.22, ringSec: 1.2 },
  { ratio: 8.933, level: 0.08, ringSec: 0.4 },
];
const CHIME_NOTES = ['C5', 'D5', 'E5', 'G5', 'A5', 'C6'];

/** Wind chimes in C major pentatonic, hung from left to right; gusts make them ring in flurries. */
export function windChimes(sec: number, random: Random): Samples[] {
  const [left, right] = [silence(sec), silence(sec)];
  for (const gust of [0.3, ...chances(random, 0.28, sec - 4)]) {
    let tube = Math.floor(random() * CHIME_NOTES.length);
    let atSec = gust;
    for (let hits = 1 + Math.floor(random() * 4); hits > 0 && atSec < sec - 2; hits--) {
      const pan = (0.2 + (0.6 * tube) / CHIME_NOTES.length) * (Math.PI / 2);
      const level = between(random, 0.25, 1);
      const sound = { atSec, hz: noteHz(CHIME_NOTES[tube] as string), modes: TUBE };
      strike(left, { ...sound, level: level * Math.cos(pan) });
      strike(right, { ...sound, level: level * Math.sin(pan) });
      tube = (tube + 1 + Math.floor(random() * 2)) % CHIME_NOTES.length;
      atSec += between(random, 0.12, 0.5);
    }
  }
  return [left, right].map((side) => room(side, { ringSec: 1.6, wet: 0.22 }));
}

/** Tingsha: two small thick cymbals that touch, a few hertz apart, so that their ring shimmers. */
export function tingsha(sec: number, { hz, strikesSec }: { hz: number; strikesSec: number[] }): Samples[] {
  const out = silence(sec);
  for (const cymbalHz of [hz, hz + 5.5]) {
    const modes: Mode[] = [
      { ratio: 1, level: 1, ringSec: 11 },
      { ratio: 1.52, level: 0.18, ringSec: 5 },
      { ratio: 2.71, level: 0.3, ringSec: 4 },
      { ratio: 4.1, level: 0.12, ringSec: 1.5 },
    ];
    for (const atSec of strikesSec) strike(out, { atSec, hz: cymbalHz, level: 1, modes });
  }
  return [room(out, { ringSec: 2, wet: 0.2 })];
}

const PAN_SCALE = ['D3', 'A3', 'A#3', 'C4', 'D4', 'E4', 'F4', 'G4', 'A4'].map(noteHz);
const PAN_FIELD: Mode[] = [
  { ratio: 1, level: 1, ringSec: 3.6, attackSec: 0.004 },
  { ratio: 2, level: 0.45, ringSec: 2.6 },
  { ratio: 3, level: 0.24, ringSec: 1.6 },
  { ratio: 5.3, level: 0.06, ringSec: 0.15 },
];

/** A handpan in D minor: eighth notes that wander along the scale, over the low D at the head of each bar. */
export function handpan(sec: number, random: Random): Samples[] {
  const out = silence(sec);
  const eighthSec = 60 / 76 / 2;
  let step = 4;
  for (let beat = 0; beat * eighthSec < sec - 4; beat++) {
    const atSec = 0.2 + beat * eighthSec + between(random, 0, 0.012);
    if (beat % 8 === 0) strike(out, { atSec, hz: PAN_SCALE[0] as number, level: 0.9, modes: PAN_FIELD });
    else if (random() < 0.72) {
      step = Math.min(8, Math.max(1, step + Math.floor(between(random, -2, 3))));
      const level = between(random, 0.35, 0.6) + (beat % 2 === 0 ? 0.2 : 0);
      strike(out, { atSec, hz: PAN_SCALE[step] as number, level, modes: PAN_FIELD });
    }
  }
  return [room(out, { ringSec: 1.8, wet: 0.25 })];
}

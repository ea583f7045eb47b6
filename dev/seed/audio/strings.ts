import { between, type Random } from '../random.ts';
import { type Mode, strike } from './modes.ts';
import { room } from './room.ts';
import { type Samples, shape, silence, wander } from './signal.ts';
import { addTone, waveform } from './tone.ts';

/**
 * A string over a wide, flat bridge: it buzzes against the wood, which wakes the harmonics one after another,
 * so that a shimmer runs up through every pluck.
 */
function buzzingString(): Mode[] {
  return Array.from({ length: 18 }, (_, index) => {
    const harmonic = index + 1;
    const level = harmonic === 1 ? 0.5 : 0.55 / harmonic ** 0.55;
    return { ratio: harmonic, level, ringSec: 8 / harmonic ** 0.35, attackSec: 0.01 + 0.05 * index };
  });
}

/** A tanpura: its four strings (fifth, octave, octave, ground note) are plucked in turn, over and over. */
export function tanpura(sec: number, random: Random, { groundHz }: { groundHz: number }): Samples[] {
  const out = silence(sec);
  const modes = buzzingString();
  const strings = [1.5, 2, 2.002, 1];
  for (let pluck = 0, atSec = 0.1; atSec < sec - 2; pluck++) {
    const string = strings[pluck % strings.length] as number;
    strike(out, { atSec, hz: groundHz * string, level: between(random, 0.8, 1), modes });
    atSec += pluck % strings.length === 3 ? 2 : 1.25;
  }
  return [room(out, { ringSec: 1.2, wet: 0.15 })];
}

/** A monochord: many strings tuned to one note, never quite exactly, stroked one after another without end. */
export function monochord(sec: number, random: Random, { hz }: { hz: number }): Samples[] {
  const out = silence(sec);
  const strings = Array.from({ length: 10 }, () => hz * 2 ** (between(random, -4, 4) / 1200));
  const modes: Mode[] = Array.from({ length: 9 }, (_, index) => ({
    ratio: index + 1,
    level: [1, 0.7, 0.6, 0.42, 0.36, 0.2, 0.16, 0.12, 0.08][index] as number,
    ringSec: 7 / (index + 1) ** 0.4,
    attackSec: 0.02,
  }));
  for (let strokeSec = 0; strokeSec < sec - 3; strokeSec += 2.9) {
    for (const [index, stringHz] of strings.entries()) {
      strike(out, { atSec: strokeSec + index * 0.24, hz: stringHz, level: between(random, 0.6, 1), modes });
    }
  }
  return [room(out, { ringSec: 1.5, wet: 0.2 })];
}

/** Sustained voices of reeds on the given notes, which swell and sink with the bellows. */
export function shrutiBox(sec: number, random: Random, { notesHz }: { notesHz: number[] }): Samples[] {
  const out = silence(sec);
  const reed = waveform([1, 0.8, 0.55, 0.5, 0.3, 0.26, 0.16, 0.14, 0.08, 0.06, 0.04, 0.03]);
  for (const noteHz of notesHz) {
    for (const cents of [-3, 2]) {
      const pressure = wander(random, sec, 2.5, 0.75, 1);
      addTone(out, { wave: reed, hz: noteHz * 2 ** (cents / 1200), gain: pressure });
    }
  }
  shape(out, (at) => 0.85 + 0.15 * Math.sin((2 * Math.PI * at) / 6));
  return [room(out, { ringSec: 1.4, wet: 0.2 })];
}

/** A chord of soft voices that come and go, each in its own time. */
export function softChord(sec: number, random: Random, { notesHz }: { notesHz: number[] }): Samples[] {
  const out = silence(sec);
  const voice = waveform([1, 0.3, 0.1, 0.04]);
  for (const noteHz of notesHz) {
    for (const cents of [-5, 4]) {
      const breath = wander(random, sec, between(random, 3, 5), 0.15, 1);
      addTone(out, {
        wave: voice,
        hz: noteHz * 2 ** (cents / 1200),
        gain: (at) => breath(at) * (200 / noteHz) ** 0.5,
      });
    }
  }
  return [room(out, { ringSec: 3, wet: 0.35 })];
}

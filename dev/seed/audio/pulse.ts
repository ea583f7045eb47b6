import { between, type Random } from '../random.ts';
import { type Mode, strike } from './modes.ts';
import { pink } from './noise.ts';
import { room } from './room.ts';
import { mix, type Samples, shape, silence } from './signal.ts';
import { addTone, SINE, waveform } from './tone.ts';

/** Two tones, one for each ear, `beatHz` apart, over faint pink noise. The beat arises only in headphones. */
export function binaural(
  sec: number,
  random: Random,
  { hz, beatHz }: { hz: number; beatHz: number },
): Samples[] {
  return [hz, hz + beatHz].map((earHz) => {
    const ear = silence(sec);
    addTone(ear, { wave: SINE, hz: earHz, gain: () => 0.5 });
    mix(ear, pink(sec, random), 0.12);
    return ear;
  });
}

/** One tone that swells and falls silent `pulsesPerSec` times a second: it needs no headphones. */
export function pulsedTone(
  sec: number,
  { hz, pulsesPerSec }: { hz: number; pulsesPerSec: number },
): Samples[] {
  const out = silence(sec);
  const gain = (at: number) => (0.5 - 0.5 * Math.cos(2 * Math.PI * pulsesPerSec * at)) ** 1.5;
  addTone(out, { wave: waveform([1, 0.2, 0.08]), hz, gain });
  return [out];
}

/** The modes of a round skin. */
const SKIN: Mode[] = [
  { ratio: 1, level: 1, ringSec: 1.3, attackSec: 0.006 },
  { ratio: 1.593, level: 0.5, ringSec: 0.7, attackSec: 0.004 },
  { ratio: 2.136, level: 0.3, ringSec: 0.45 },
  { ratio: 2.653, level: 0.2, ringSec: 0.3 },
  { ratio: 3.6, level: 0.12, ringSec: 0.15 },
];

/** A frame drum played like a heart at rest: a strong and a weak beat, then a pause. */
export function frameDrum(sec: number, random: Random, { beatsPerMin }: { beatsPerMin: number }): Samples[] {
  const out = silence(sec);
  const beatSec = 60 / beatsPerMin;
  for (let atSec = 0.2; atSec < sec - 1; atSec += beatSec) {
    strike(out, { atSec, hz: 82, level: between(random, 0.85, 1), modes: SKIN });
    strike(out, { atSec: atSec + beatSec * 0.32, hz: 80, level: between(random, 0.4, 0.5), modes: SKIN });
  }
  return [room(out, { ringSec: 1.1, wet: 0.2 })];
}

/** A mantel clock: tick and tock, one a second, in a wooden case. */
export function clock(sec: number, random: Random): Samples[] {
  const out = silence(sec);
  for (let second = 0; second < sec - 0.3; second++) {
    const hz = second % 2 === 0 ? 2_350 : 1_980;
    const works = [1, 1.47, 2.09, 2.93].map((ratio) => ({
      ratio,
      level: 0.6 / ratio,
      ringSec: 0.045 / ratio,
    }));
    const wood = [0.17, 0.29].map((ratio) => ({ ratio, level: 0.5, ringSec: 0.13 }));
    const level = between(random, 0.9, 1);
    strike(out, { atSec: second + 0.1, hz, level, modes: [...works, ...wood] });
    strike(out, { atSec: second + 0.128, hz: hz * 1.08, level: level * 0.3, modes: works });
  }
  const night = shape(pink(sec, random), () => 0.006);
  mix(out, night);
  return [room(out, { ringSec: 0.5, wet: 0.15 })];
}

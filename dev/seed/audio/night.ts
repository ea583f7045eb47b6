import { between, chances, type Random } from '../random.ts';
import { filter } from './filter.ts';
import { strike } from './modes.ts';
import { brown, pink } from './noise.ts';
import { mix, type Samples, shape, silence, wander } from './signal.ts';
import { addTone, SINE } from './tone.ts';

/** A summer night: crickets near and far, each with its own pitch and pace, and hardly any wind. */
export function crickets(sec: number, random: Random): Samples[] {
  const out = filter(pink(sec, random), { pass: 'low', hz: 700 });
  const air = wander(random, sec, 4, 0.1, 0.2);
  shape(out, air);
  for (let cricket = 0; cricket < 6; cricket++) {
    const level = 0.3 / (1 + cricket);
    const carrierHz = between(random, 3_900, 4_900);
    const restSec = between(random, 0.5, 0.95);
    for (
      let chirpSec = between(random, 0, 2);
      chirpSec < sec;
      chirpSec += restSec * between(random, 0.96, 1.04)
    ) {
      // A cricket sings in bouts, with silence between them.
      if (Math.sin(chirpSec * 0.45 + cricket * 2.1) > -0.75) addChirp(out, chirpSec, carrierHz, level);
    }
  }
  return [out];
}

/** One chirp: four strokes of the wing, the first the faintest. */
function addChirp(out: Samples, chirpSec: number, hz: number, level: number): void {
  const strokeSec = 0.022;
  for (let stroke = 0; stroke < 4; stroke++) {
    const fromSec = chirpSec + stroke * 0.034;
    const gain = (at: number) =>
      level * (0.4 + 0.2 * stroke) * Math.sin((Math.PI * (at - fromSec)) / strokeSec) ** 2;
    addTone(out, {
      wave: SINE,
      fromSec,
      toSec: fromSec + strokeSec,
      hz,
      gain: (at) => (at < fromSec + strokeSec ? gain(at) : 0),
    });
  }
}

/** A campfire: the low breath of the flames, a faint hiss, and wood that crackles in bursts. */
export function campfire(sec: number, random: Random): Samples[] {
  const flicker = wander(random, sec, 0.25, 0.5, 1);
  const out = shape(filter(brown(sec, random), { pass: 'low', hz: 320 }), flicker);
  const hiss = filter(pink(sec, random), { pass: 'high', hz: 2_500 });
  mix(out, shape(hiss, wander(random, sec, 0.8, 0.1, 0.5)), 0.3);
  const crackle = silence(sec);
  for (const burstSec of chances(random, 2.4, sec)) {
    const loudness = random() ** 2;
    for (let atSec = burstSec, snaps = 1 + Math.floor(random() * 9); snaps > 0; snaps--) {
      const ringSec = between(random, 0.004, 0.02);
      const modes = [1, 1.63, 2.41].map((ratio) => ({ ratio, level: 1 / ratio, ringSec, attackSec: 0 }));
      strike(crackle, {
        atSec,
        hz: between(random, 700, 3_200),
        level: loudness * between(random, 0.2, 1),
        modes,
      });
      atSec += between(random, 0.006, 0.07);
    }
  }
  mix(out, crackle, 1.1);
  return [out];
}

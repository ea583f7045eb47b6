import type { Random } from '../random.ts';
import { between } from '../random.ts';
import { filter } from './filter.ts';
import { type Mode, strike } from './modes.ts';
import { white } from './noise.ts';
import { type Curve, mix, type Samples, shape, silence } from './signal.ts';
import { addTone, SINE } from './tone.ts';

/**
 * The partials of a bowl. A thin ring would have 1 : 2.83 : 5.42 : 8.77 : 12.86; the curved floor of a real bowl
 * brings them a little closer. A padded mallet hardly wakes the upper ones, and they fade first.
 */
const PARTIALS = [
  { ratio: 1, level: 1, ring: 1 },
  { ratio: 2.77, level: 0.42, ring: 0.62 },
  { ratio: 5.18, level: 0.17, ring: 0.38 },
  { ratio: 8.16, level: 0.06, ring: 0.2 },
  { ratio: 11.66, level: 0.025, ring: 0.11 },
];

export interface Bowl {
  hz: number;
  /** When the mallet falls, and how hard. */
  strikes: { atSec: number; level: number }[];
  /** Seconds until the lowest partial has faded by 60 dB: the larger the bowl, the longer. */
  ringSec: number;
  /** Beats per second of the lowest partial. */
  beatHz: number;
}

/** A singing bowl struck with a padded mallet. */
export function bowl(sec: number, random: Random, { hz, strikes, ringSec, beatHz }: Bowl): Samples[] {
  const out = silence(sec);
  const modes = bowlModes(hz, ringSec, beatHz, random);
  for (const { atSec, level } of strikes) strike(out, { atSec, hz, level, modes });
  return [out];
}

/** No bowl is perfectly round, so each partial is a pair a fraction of a hertz apart: the slow wavering of a bowl. */
function bowlModes(hz: number, ringSec: number, beatHz: number, random: Random): Mode[] {
  return PARTIALS.flatMap(({ ratio, level, ring }, index) => {
    const half = (index === 0 ? beatHz : between(random, 0.6, 1.8) * beatHz) / 2 / hz;
    const common = { ringSec: ringSec * ring, attackSec: 0.03 / (index + 1) };
    return [
      { ...common, ratio: ratio - half, level: level * 0.6 },
      { ...common, ratio: ratio + half, level: level * 0.4 },
    ];
  });
}

/** A bowl rubbed round its rim: it swells, sings while the mallet circles, and is left to fade. */
export function rubbedBowl(
  sec: number,
  random: Random,
  { hz, beatHz }: { hz: number; beatHz: number },
): Samples[] {
  const out = silence(sec);
  const swell: Curve = (at) =>
    Math.min(1, at / (sec * 0.4)) ** 2 * Math.exp(-Math.max(0, at - sec * 0.7) / 3.5);
  for (const { ratio, level } of PARTIALS.slice(0, 3)) {
    const circling: Curve = (at) => 1 + 0.18 * Math.cos(2 * Math.PI * 0.9 * at);
    addTone(out, {
      wave: SINE,
      hz: hz * ratio - beatHz / 2,
      gain: (at) => level ** 1.6 * swell(at) * circling(at),
    });
    addTone(out, { wave: SINE, hz: hz * ratio + beatHz / 2, gain: (at) => 0.5 * level ** 1.6 * swell(at) });
  }
  const friction = filter(white(sec, random), { pass: 'band', hz: 2_400, q: 1.5 });
  mix(
    out,
    shape(friction, (at) => (at < sec * 0.7 ? 0.012 * swell(at) : 0.012 * swell(at) ** 6)),
  );
  return [out];
}

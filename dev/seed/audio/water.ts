import { between, chances, type Random } from '../random.ts';
import { filter } from './filter.ts';
import { strike } from './modes.ts';
import { brown, pink, white } from './noise.ts';
import { type Curve, mix, type Samples, shape, silence, smooth, wander } from './signal.ts';
import { addTone, SINE } from './tone.ts';

export interface Shore {
  /** Seconds from one wave to the next, roughly. */
  periodSec: number;
  /** Rattling stones that each retreating wave drags along. */
  pebbles: boolean;
}

/** Waves on a shore: each rises slowly, breaks, and runs back as a hiss. */
export function waves(sec: number, random: Random, { periodSec, pebbles }: Shore): Samples[] {
  const breaks: number[] = [];
  for (let at = periodSec * 0.55; at < sec + periodSec; at += periodSec * between(random, 0.85, 1.15))
    breaks.push(at);
  const heights = breaks.map(() => between(random, 0.7, 1));
  const sumOver = (one: (sinceBreak: number) => number): Curve => {
    return (at) =>
      breaks.reduce((sum, breakSec, wave) => sum + (heights[wave] as number) * one(at - breakSec), 0);
  };
  const swell = sumOver((since) =>
    since < 0 ? smooth(1 + since / (periodSec * 0.5)) ** 2 : Math.exp(-since / 1.3),
  );
  const hiss = sumOver((since) =>
    since < 0 ? 0 : smooth(since / 0.7) * Math.exp(-since / (periodSec * 0.28)),
  );

  const out = filter(pink(sec, random), {
    pass: 'low',
    hz: (at) => 250 + 1_900 * Math.min(1, swell(at)) ** 2,
  });
  shape(out, (at) => 0.1 + swell(at));
  mix(
    out,
    shape(brown(sec, random), (at) => 0.15 + 0.5 * swell(at)),
    0.35,
  );
  const foam = filter(white(sec, random), {
    pass: 'band',
    hz: (at) => 2_600 + 1_800 * Math.min(1, hiss(at)),
    q: 0.5,
  });
  mix(out, shape(foam, hiss), 0.2);
  if (pebbles) mix(out, rattle(sec, random, hiss), 0.5);
  return [out];
}

function rattle(sec: number, random: Random, amount: Curve): Samples {
  const out = silence(sec);
  for (const atSec of chances(random, 260, sec)) {
    const level = amount(atSec) * random() ** 3;
    const hz = between(random, 1_500, 5_500);
    if (level > 0.01) strike(out, { atSec, hz, level, modes: [{ ratio: 1, level: 1, ringSec: 0.015 }] });
  }
  return out;
}

/** A brook: the sound of running water is that of its bubbles, each a short note that rises as it nears the surface. */
export function brook(sec: number, random: Random, { bubblesPerSec }: { bubblesPerSec: number }): Samples[] {
  const out = filter(pink(sec, random), { pass: 'band', hz: 900, q: 0.4 });
  const flow = wander(random, sec, 1.2, 0.6, 1);
  shape(out, (at) => 0.35 * flow(at));
  for (const fromSec of chances(random, bubblesPerSec, sec)) {
    const startHz = 350 * 6 ** random();
    const lengthSec = between(random, 0.03, 0.11);
    const level = 0.3 * random() ** 2 * flow(fromSec) * (350 / startHz) ** 0.3;
    const rise = between(random, 0.5, 4);
    addTone(out, {
      wave: SINE,
      fromSec,
      toSec: fromSec + lengthSec,
      hz: (at) => startHz * (1 + rise * (at - fromSec)),
      gain: (at) => level * smooth((at - fromSec) / 0.004) * Math.max(0, 1 - (at - fromSec) / lengthSec) ** 2,
    });
  }
  return [out];
}

import type { Random } from '../random.ts';
import { filter } from './filter.ts';
import { pink } from './noise.ts';
import { type Curve, mix, type Samples, shape, silence, smooth } from './signal.ts';
import { addTone, SINE, waveform } from './tone.ts';

/** Seconds of each part of one breath. A part of 0 is left out. */
export interface Breath {
  inSec: number;
  holdSec: number;
  outSec: number;
  restSec: number;
}

const LOW_HZ = 196;
const HIGH_HZ = 293.66;

/**
 * A breath pacer: a tone that rises a fifth, from G3 to D4, while one breathes in and falls while one breathes out, with
 * a soft airy noise. A held breath has a quiet steady tone; the rest after breathing out is silent.
 */
export function breathPacer(sec: number, random: Random, breath: Breath): Samples[] {
  const out = silence(sec);
  const fullness = lungs(breath);
  const loudness = effort(breath);
  const hz: Curve = (at) => LOW_HZ * (HIGH_HZ / LOW_HZ) ** fullness(at);
  addTone(out, { wave: waveform([1, 0.25, 0.12, 0.05]), hz, gain: (at) => 0.5 * loudness(at) });
  addTone(out, { wave: SINE, hz: (at) => hz(at) * 1.004, gain: (at) => 0.25 * loudness(at) });
  const air = filter(pink(sec, random), { pass: 'band', hz: (at) => 500 + 900 * fullness(at), q: 0.7 });
  mix(
    out,
    shape(air, (at) => Math.max(0, loudness(at) - 0.2)),
    0.5,
  );
  return [out];
}

/** How full the lungs are at a time, 0 to 1. */
function lungs({ inSec, holdSec, outSec, restSec }: Breath): Curve {
  return (at) => {
    const since = at % (inSec + holdSec + outSec + restSec);
    return smooth(since / inSec) * (1 - smooth((since - inSec - holdSec) / outSec));
  };
}

/** How loud the pacer is at a time: swelling within each moving part, quiet while the breath is held. */
function effort({ inSec, holdSec, outSec, restSec }: Breath): Curve {
  const arch = (since: number, length: number) =>
    Math.sin(Math.PI * Math.min(1, Math.max(0, since / length))) ** 0.7;
  return (at) => {
    const since = at % (inSec + holdSec + outSec + restSec);
    const outAt = inSec + holdSec;
    const held = 0.2 * arch(since - inSec, holdSec || 1) * (holdSec > 0 ? 1 : 0);
    return since < inSec ? arch(since, inSec) : since < outAt ? held : 0.85 * arch(since - outAt, outSec);
  };
}

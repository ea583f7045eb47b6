import type { Random } from '../random.ts';
import { filter } from './filter.ts';
import { type Samples, silence } from './signal.ts';
import { addTone, SINE } from './tone.ts';

/** White noise: equal power at every frequency. */
export function white(sec: number, random: Random): Samples {
  const out = silence(sec);
  for (let i = 0; i < out.length; i++) out[i] = random() * 2 - 1;
  return out;
}

/** Pink noise: 3 dB less power per octave, by Paul Kellet's sum of six one-pole filters. */
export function pink(sec: number, random: Random): Samples {
  const out = silence(sec);
  let [a, b, c, d, e, f, last] = [0, 0, 0, 0, 0, 0, 0];
  for (let i = 0; i < out.length; i++) {
    const input = random() * 2 - 1;
    a = 0.99886 * a + input * 0.0555179;
    b = 0.99332 * b + input * 0.0750759;
    c = 0.969 * c + input * 0.153852;
    d = 0.8665 * d + input * 0.3104856;
    e = 0.55 * e + input * 0.5329522;
    f = -0.7616 * f - input * 0.016898;
    out[i] = (a + b + c + d + e + f + last + input * 0.5362) * 0.11;
    last = input * 0.115926;
  }
  return out;
}

/** Brown noise: 6 dB less power per octave, a leaky random walk without what loudspeakers cannot play. */
export function brown(sec: number, random: Random): Samples {
  const out = silence(sec);
  let walk = 0;
  for (let i = 0; i < out.length; i++) {
    walk = 0.998 * walk + (random() * 2 - 1) * 0.06;
    out[i] = walk;
  }
  return filter(out, { pass: 'high', hz: 25 });
}

/** A bedroom fan: air noise, the hum of its motor and the beat of its blades. */
export function fan(sec: number, random: Random): Samples[] {
  const out = filter(pink(sec, random), { pass: 'low', hz: 1_800 });
  const blades = filter(brown(sec, random), { pass: 'band', hz: 180, q: 0.8 });
  for (let i = 0; i < out.length; i++) out[i] = (out[i] as number) + 0.5 * (blades[i] as number);
  addTone(out, { wave: SINE, hz: 100, gain: () => 0.02 });
  addTone(out, { wave: SINE, hz: 150, gain: (at) => 0.014 * (1 + 0.3 * Math.sin(2 * Math.PI * 0.7 * at)) });
  return [out];
}

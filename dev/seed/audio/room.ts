import { SAMPLE_RATE, type Samples } from './signal.ts';

/** Echo paths in samples: mutually prime, so that their echoes never pile up. */
const COMBS = [1_009, 1_151, 1_277, 1_423];
const DIFFUSERS = [337, 113];

/** Puts a channel into a room, in place: four damped echoes side by side, then two diffusers (Schroeder's design). */
export function room(samples: Samples, { ringSec, wet }: { ringSec: number; wet: number }): Samples {
  let echo: Samples = new Float32Array(samples.length);
  for (const delay of COMBS) addComb(echo, samples, delay, 0.001 ** (delay / (ringSec * SAMPLE_RATE)));
  for (const delay of DIFFUSERS) echo = diffuse(echo, delay);
  for (let i = 0; i < samples.length; i++) {
    samples[i] = (1 - wet) * (samples[i] as number) + (wet / COMBS.length) * (echo[i] as number);
  }
  return samples;
}

function addComb(out: Samples, input: Samples, delay: number, feedback: number): void {
  const line = new Float32Array(delay);
  let damped = 0;
  for (let i = 0, at = 0; i < input.length; i++) {
    const heard = line[at] as number;
    damped = 0.65 * heard + 0.35 * damped;
    line[at] = (input[i] as number) + feedback * damped;
    out[i] = (out[i] as number) + heard;
    at = at + 1 === delay ? 0 : at + 1;
  }
}

function diffuse(input: Samples, delay: number): Samples {
  const out: Samples = new Float32Array(input.length);
  for (let i = 0; i < input.length; i++) {
    const before = i < delay ? 0 : (input[i - delay] as number) + 0.5 * (out[i - delay] as number);
    out[i] = before - 0.5 * (input[i] as number);
  }
  return out;
}

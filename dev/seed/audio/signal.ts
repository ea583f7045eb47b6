import { between, type Random } from '../random.ts';

/** Samples per second of every sound: 12 kHz of bandwidth is enough for rain, and half a minute stays under 2 MB. */
export const SAMPLE_RATE = 24_000;

/** One channel. */
export type Samples = Float32Array<ArrayBuffer>;

/** A value that changes over time: seconds in, value out. Curves are read once per block of samples. */
export type Curve = (sec: number) => number;

/** How many samples share one reading of a curve: 1.3 ms, too short to be heard as steps. */
export const BLOCK = 32;

/** An empty channel. */
export function silence(sec: number): Samples {
  return new Float32Array(Math.round(sec * SAMPLE_RATE));
}

/** Adds `source` to `target`, sample by sample. */
export function mix(target: Samples, source: Samples, level = 1): void {
  for (let i = 0; i < target.length; i++) target[i] = (target[i] as number) + level * (source[i] as number);
}

/** Multiplies a channel by a curve, in place. */
export function shape(samples: Samples, gain: Curve): Samples {
  let from = gain(0);
  for (let start = 0; start < samples.length; start += BLOCK) {
    const to = gain((start + BLOCK) / SAMPLE_RATE);
    const end = Math.min(start + BLOCK, samples.length);
    for (let i = start; i < end; i++) {
      samples[i] = (samples[i] as number) * (from + ((to - from) * (i - start)) / BLOCK);
    }
    from = to;
  }
  return samples;
}

/** A smooth random curve between `low` and `high`, with a new target every `stepSec`. */
export function wander(random: Random, sec: number, stepSec: number, low: number, high: number): Curve {
  const targets = Array.from({ length: Math.ceil(sec / stepSec) + 2 }, () => between(random, low, high));
  return (at) => {
    const step = Math.min(Math.floor(at / stepSec), targets.length - 2);
    const from = targets[step] as number;
    const to = targets[step + 1] as number;
    return from + (to - from) * smooth(at / stepSec - step);
  };
}

/** An S-shaped ramp: 0 up to x = 0, 1 from x = 1 on, without corners. */
export function smooth(x: number): number {
  const clipped = Math.min(1, Math.max(0, x));
  return clipped * clipped * (3 - 2 * clipped);
}

const PEAK_MAX = 10 ** (-3 / 20);
/** A steady noise as loud in its peaks as a bowl would be far louder to the ear, so its mean level is held too. */
const RMS_MAX = 10 ** (-16 / 20);

/** Fades both ends and sets the level, in place: the loudest sample at -3 dBFS, the mean at -16 dBFS at most. */
export function finish(channels: Samples[], fadeInSec: number, fadeOutSec: number): Samples[] {
  let peak = 0;
  let squares = 0;
  let count = 0;
  for (const samples of channels) {
    const sec = samples.length / SAMPLE_RATE;
    shape(samples, (at) => smooth(at / fadeInSec) * smooth((sec - at) / fadeOutSec));
    for (const sample of samples) {
      peak = Math.max(peak, Math.abs(sample));
      squares += sample * sample;
    }
    count += samples.length;
  }
  const gain = Math.min(PEAK_MAX / peak, RMS_MAX / Math.sqrt(squares / count));
  for (const samples of channels)
    for (let i = 0; i < samples.length; i++) samples[i] = (samples[i] as number) * gain;
  return channels;
}

import { BLOCK, type Curve, SAMPLE_RATE, type Samples } from './signal.ts';

const TABLE_SIZE = 2_048;

/** One period of a sound, made from the levels of its harmonics (the first is the fundamental). */
export function waveform(levels: number[]): Samples {
  const table = new Float32Array(TABLE_SIZE + 1);
  for (const [index, level] of levels.entries()) {
    for (let i = 0; i <= TABLE_SIZE; i++) {
      table[i] = (table[i] as number) + level * Math.sin((2 * Math.PI * (index + 1) * i) / TABLE_SIZE);
    }
  }
  return table;
}

export const SINE = waveform([1]);

/** A sustained tone; times in seconds, by default over the whole channel. */
export interface Tone {
  wave: Samples;
  hz: number | Curve;
  gain: Curve;
  fromSec?: number;
  toSec?: number;
}

/** Adds a tone to a channel. Its curves count from the channel's start. */
export function addTone(
  out: Samples,
  { wave, hz, gain, fromSec = 0, toSec = Number.POSITIVE_INFINITY }: Tone,
): void {
  const last = Math.min(out.length, Math.round(toSec * SAMPLE_RATE));
  const first = Math.round(fromSec * SAMPLE_RATE);
  let phase = 0;
  let level = gain(first / SAMPLE_RATE);
  for (let start = first; start < last; start += BLOCK) {
    const sec = start / SAMPLE_RATE;
    const step = ((typeof hz === 'number' ? hz : hz(sec)) * TABLE_SIZE) / SAMPLE_RATE;
    const change = (gain(sec + BLOCK / SAMPLE_RATE) - level) / BLOCK;
    const end = Math.min(start + BLOCK, last);
    for (let i = start; i < end; i++) {
      const index = phase | 0;
      const left = wave[index] as number;
      out[i] = (out[i] as number) + level * (left + ((wave[index + 1] as number) - left) * (phase - index));
      level += change;
      phase += step;
      if (phase >= TABLE_SIZE) phase -= TABLE_SIZE;
    }
  }
}

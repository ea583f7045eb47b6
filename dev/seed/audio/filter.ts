import { BLOCK, type Curve, SAMPLE_RATE, type Samples } from './signal.ts';

/** The slope is 12 dB per octave; `q` above 0.7 rings. */
export interface Filter {
  pass: 'low' | 'band' | 'high';
  hz: number | Curve;
  q?: number;
}

/**
 * Filters a channel in place. A state-variable filter in its trapezoidal form, because its cutoff may move
 * while it runs without clicks.
 */
export function filter(samples: Samples, { pass, hz, q = Math.SQRT1_2 }: Filter): Samples {
  const damping = 1 / q;
  const [low, band, high] = [pass === 'low' ? 1 : 0, pass === 'band' ? damping : 0, pass === 'high' ? 1 : 0];
  let first = 0;
  let second = 0;
  for (let start = 0; start < samples.length; start += BLOCK) {
    const cutoff = typeof hz === 'number' ? hz : hz(start / SAMPLE_RATE);
    const g = Math.tan((Math.PI * Math.min(cutoff, SAMPLE_RATE * 0.45)) / SAMPLE_RATE);
    const scale = 1 / (1 + g * (g + damping));
    const end = Math.min(start + BLOCK, samples.length);
    for (let i = start; i < end; i++) {
      const input = samples[i] as number;
      const highOut = (input - (g + damping) * first - second) * scale;
      const bandOut = g * highOut + first;
      const lowOut = g * bandOut + second;
      first = g * highOut + bandOut;
      second = g * bandOut + lowOut;
      samples[i] = low * lowOut + band * bandOut + high * highOut;
    }
  }
  return samples;
}

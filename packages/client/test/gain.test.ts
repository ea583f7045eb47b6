import { expect, test } from 'vitest';
import { gainOf } from '../src/index.ts';

const decibels = (loudness_lufs: number | null, true_peak_dbtp: number | null) =>
  20 * Math.log10(gainOf({ loudness_lufs, true_peak_dbtp }));

test('gainOf brings sounds to -18 LUFS, with a peak of at most 0 dBTP and at most 12 dB more', () => {
  for (const [loudness, peak, gain] of [
    [-10, -1, -8],
    [-18, -20, 0],
    [-23, -6, 5],
    [-23, -2, 2],
    [-50, -40, 12],
    [-18, 1.2, -1.2],
    [-30, null, 0],
    [-12, null, -6],
  ] as const)
    expect(decibels(loudness, peak)).toBeCloseTo(gain);
  expect(gainOf({ loudness_lufs: null, true_peak_dbtp: null })).toBe(1);
  expect(gainOf({} as never)).toBe(1);
});

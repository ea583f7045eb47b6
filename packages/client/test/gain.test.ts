import { expect, test } from 'vitest';
import { addSound } from '../../../test/support/catalogue.ts';
import { gainOf } from '../src/index.ts';
import { test as deviceTest } from './device.ts';

const decibels = (loudness_lufs: number | null, true_peak_dbtp: number | null) =>
  20 * Math.log10(gainOf({ loudness_lufs, true_peak_dbtp }));

test('gainOf brings sounds to -18 LUFS, with a peak of at most 0 dBTP and at most 12 dB more', () => {
  expect(decibels(-10, -1)).toBeCloseTo(-8);
  expect(decibels(-18, -20)).toBeCloseTo(0);
  expect(decibels(-23, -6)).toBeCloseTo(5);
  expect(decibels(-23, -2)).toBeCloseTo(2);
  expect(decibels(-50, -40)).toBeCloseTo(12);
  expect(decibels(-18, 1.2)).toBeCloseTo(-1.2);
  expect(decibels(-30, null)).toBeCloseTo(0);
  expect(decibels(-12, null)).toBeCloseTo(-6);
  expect(gainOf({ loudness_lufs: null, true_peak_dbtp: null })).toBe(1);
  expect(gainOf({} as never)).toBe(1);
});

deviceTest('gainOf takes sounds of the service and of the offline copy', async ({ device, sql }) => {
  const [measured, other] = [await addSound(sql), await addSound(sql)];
  await sql`update public.sounds set loudness_lufs = -24, true_peak_dbtp = -10 where id = ${measured}`;
  await device.api.offline.sync();
  for (const get of [device.api.sounds.get, device.api.offline.get]) {
    const [quiet, unknown] = await Promise.all([get(measured), get(other)]);
    expect([quiet && gainOf(quiet), unknown && gainOf(unknown)]).toEqual([10 ** 0.3, 1]);
  }
});

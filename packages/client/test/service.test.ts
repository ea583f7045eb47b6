import { expect, onTestFinished, test, vi } from 'vitest';
import { createService } from '../src/service.ts';

test('later times by the clock of the service are never earlier, although Date has whole seconds', () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const start = Date.UTC(2026, 5, 23);
  const deviceAheadMs = 7_200_000;
  const { follow, aheadMs } = createService();
  const times: number[] = [];
  // Use responses at different fractions of a second, with latencies of up to 3 s.
  for (const [part, latencyMs] of [
    [100, 900],
    [1_999, 10],
    [2_100, 3_000],
    [5_200, 1],
    [5_999, 500],
    [6_500, 0],
  ] as const) {
    vi.setSystemTime(start + part + latencyMs + deviceAheadMs);
    follow(
      new Headers({ Date: new Date(start + part).toUTCString() }),
      false,
      start + part - latencyMs + deviceAheadMs,
    );
    times.push(Date.now() - aheadMs());
    expect(Math.abs(start + part + latencyMs - Number(times.at(-1)))).toBeLessThanOrEqual(1_000);
  }
  expect(times).toEqual(times.toSorted((a, b) => a - b));

  vi.setSystemTime(start + 60_000); // the user has corrected the clock
  follow(new Headers({ Date: new Date(start + 60_000).toUTCString() }), false, start + 60_000);
  expect(aheadMs()).toBe(0);
});

import { expect, onTestFinished, test, vi } from 'vitest';
import { createService } from '../src/service.ts';

const write = new Request('http://service/favorites', { method: 'POST' });

/** Makes a response of the service at this time. */
const answerAt = (ms: number, headers = {}) =>
  new Response(null, { headers: { 'X-Service-Time': String(ms), ...headers } });

test('later times by the clock of the service are never earlier, whatever the latency', () => {
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
    follow(write, answerAt(start + part), start + part - latencyMs + deviceAheadMs);
    times.push(Date.now() - aheadMs());
    expect(Math.abs(start + part + latencyMs - Number(times.at(-1)))).toBeLessThanOrEqual(latencyMs);
  }
  expect(times).toEqual(times.toSorted((a, b) => a - b));

  vi.setSystemTime(start + 60_000); // the user has corrected the clock
  follow(write, answerAt(start + 60_000), start + 60_000);
  expect(aheadMs()).toBe(0);
});

test('the clock believes no answer that may come from a cache', () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const now = Date.UTC(2026, 5, 23, 9, 30, 0, 999);
  const aheadAfter = (method: string, answer: Response) => {
    vi.setSystemTime(now);
    const { follow, aheadMs } = createService();
    follow(new Request('http://service/favorites', { method }), answer, now);
    return aheadMs(7);
  };
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    expect(aheadAfter(method, answerAt(now))).toBe(0);
    expect(aheadAfter(method, answerAt(now, { Age: '0' }))).toBe(7);
  }
  for (const method of ['GET', 'HEAD']) expect(aheadAfter(method, answerAt(now))).toBe(7);
});

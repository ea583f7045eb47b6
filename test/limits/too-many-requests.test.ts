import { expect, test } from 'vitest';
import { tooManyRequests } from '../../src/limits/too-many-requests.ts';

test('Retry-After is in whole seconds, at least one, and never sooner than a request would be taken', () => {
  const secondsFor = (waitMs: number) => tooManyRequests(waitMs, 'limit_requests').headers?.['Retry-After'];
  expect([-5, 0, 1, 1000, 1001, 59_400].map(secondsFor)).toEqual(['1', '1', '1', '1', '2', '60']);
});

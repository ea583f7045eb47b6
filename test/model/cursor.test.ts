import { expect, test } from 'vitest';
import { cursor } from '../../src/model/cursor.ts';

/** Spellings of one time by clients with different date types. */
const spellings = {
  '2024-03-01T12:00:00.120Z': [
    '2024-03-01T12:00:00.120000Z',
    '2024-03-01T12:00:00.119999886Z', // nanoseconds with a rounding error
    '2024-03-01T17:30:00.120+05:30',
    '2024-03-01T12:00:00.12Z',
    '2024-03-01t12:00:00.120z',
    '2024-03-01T12:00:00.120000+0000',
    '2024-03-01T12:00:00.120+00',
    '2024-03-01T12:00:00,120Z',
    '2024-03-01 12:00:00.120+00:00', // format of Python
    '2024-03-01T12:00:00.120 0000', // the plus was decoded as a space
    '2024-03-01T12:00:00.120',
  ],
  '2024-03-01T12:00:00.000Z': ['2024-03-01T12:00:00Z', '2024-03-01T12:00Z'],
};

test("every spelling of a cursor's date-time is the same position", () => {
  for (const [written, others] of Object.entries(spellings))
    for (const other of others) expect([other, cursor.parse(other)]).toEqual([other, written]);
});
